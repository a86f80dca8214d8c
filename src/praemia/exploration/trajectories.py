"""Rewards on whole trajectories, F(η), and all that can happen in a model.

η = (o_1, a_1, …, o_H, a_H, o_{H+1}), or shorter where the episode ended. A reward declares its largest value G; what it
gives must lie in [0, G]. In an estimate, a trajectory that meets the unknown (a pair never visited) is worth 0,
whatever F says.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from praemia.errors import ModelError
from praemia.tasks.mdp import LabeledMDP

if TYPE_CHECKING:
    from praemia.exploration.dataset import Dataset

SLACK = 1e-9


class Trajectory(NamedTuple):
    """What was seen and done: one observation more than actions; ``ended`` if the environment ended the episode then.

    Examples
    --------
    >>> from praemia.exploration import Trajectory
    >>> Trajectory(observations=(0,), actions=()).then(action=1, observation=4)
    Trajectory(observations=(0, 4), actions=(1,), ended=False)
    """

    observations: tuple[int, ...]
    actions: tuple[int, ...]
    ended: bool = False

    @property
    def last(self) -> int:
        return self.observations[-1]

    def is_over(self, horizon: int) -> bool:
        """Tell whether nothing can follow."""
        return self.ended or len(self.actions) == horizon

    def then(self, action: int, observation: int, *, ended: bool = False) -> Trajectory:
        """Return the trajectory one step longer."""
        return Trajectory((*self.observations, observation), (*self.actions, action), ended)


@dataclass(frozen=True)
class TrajectoryReward:
    """A reward F on trajectories with a declared bound G: 0 ≤ F ≤ G.

    Examples
    --------
    >>> import praemia
    >>> from praemia.exploration import Trajectory
    >>> back_home = praemia.TrajectoryReward(lambda seen: float(seen.last == seen.observations[0]), bound=1.0)
    >>> back_home(Trajectory(observations=(0, 1, 0), actions=(1, 0)))
    1.0
    """

    function: Callable[[Trajectory], float]
    bound: float
    name: str = "reward"

    def __post_init__(self) -> None:
        if not (math.isfinite(self.bound) and self.bound > 0.0):
            raise ModelError(f"the bound of {self.name!r} is {self.bound!r}; expected a positive number")

    def __call__(self, trajectory: Trajectory) -> float:
        value = float(self.function(trajectory))
        if not -SLACK <= value <= self.bound + SLACK:
            raise ModelError(
                f"{self.name!r} gives {value:g} on the trajectory {trajectory.observations} with actions "
                f"{trajectory.actions}; it declared 0 … {self.bound:g}"
            )
        return value


class Histories:
    """All that can happen in H steps of a model, to search through.

    Attributes
    ----------
    starts : the histories of no steps yet, each with its probability.
    rows : for each pair, the (o', whether the episode ends there, probability) that can follow; none for the unknown.
    """

    def __init__(self, model: Dataset | LabeledMDP, horizon: int) -> None:
        self.horizon, self.num_actions = horizon, model.num_actions
        size, probs = model.num_observations, model.probs.tolist()
        steps = [(target % size, target >= size, p) for target, p in zip(model.targets.tolist(), probs, strict=True)]
        self.rows = [steps[first:last] for first, last in pairwise(model.indptr.tolist())]
        self.starts = [(Trajectory((o,), ()), p) for o, p in enumerate(model.start_probs.tolist()) if p > 0.0]

    def after(self, history: Trajectory, a: int) -> list[tuple[Trajectory, float]]:
        """Return the histories that can follow an action, with their probabilities; none if the unknown follows."""
        row = self.rows[history.last * self.num_actions + a]
        return [(history.then(a, z, ended=ended), p) for z, ended, p in row]
