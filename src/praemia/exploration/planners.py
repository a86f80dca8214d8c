"""Planners: from a model and a reward to a policy, with a stated α — how far it may be from the best, in the model.

| planner | for | α |
|---|---|---|
| ``ProductPlanner`` | machines | 0: backward induction over (h, machine state, observation) |
| ``ExpectimaxPlanner`` | any F(η), few histories | 0: backward induction over histories |
| ``SearchPlanner`` (``praemia.exploration.search``) | any F(η) | certified while it searches; 0 once all is searched |
| ``GreedyPlanner`` (``praemia.exploration.greedy``) | coverage | certified, where the value is exact |

α is NaN where nothing can be said.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from praemia.errors import SizeError
from praemia.exploration.trajectories import HistoryPolicy, KernelView, Trajectory, TrajectoryReward
from praemia.models.task import Task
from praemia.planning.exact import Plan, solve

MAX_EXACT = 200_000


class TrajectoryPlanner(Protocol):
    """Something that plans for a reward on trajectories.

    Examples
    --------
    >>> from praemia.exploration import SearchPlanner, TrajectoryPlanner
    >>> planner: TrajectoryPlanner = SearchPlanner(simulations=100)
    >>> planner.name
    'search'
    """

    @property
    def name(self) -> str:
        """What the planner is called."""

    def plan(self, view: KernelView, reward: TrajectoryReward, horizon: int) -> HistoryPlan:
        """Return a policy and its α in this model."""


@dataclass(frozen=True, eq=False)
class HistoryPlan:
    """A policy over histories; α = the most by which it may fall short of the optimum in its model, or NaN."""

    policy: HistoryPolicy
    alpha: float


@dataclass(frozen=True)
class ProductPlanner:
    """Plan exactly for a machine: α = 0.

    Examples
    --------
    >>> import praemia
    >>> from praemia.exploration import ProductPlanner
    >>> task = praemia.envs.riverswim()
    >>> ProductPlanner().plan(task).value == praemia.solve(task).value
    True
    """

    name: str = "product"
    alpha: float = 0.0

    def plan(self, task: Task) -> Plan:
        return solve(task, keep_values=False)


@dataclass(eq=False)
class TablePolicy:
    """A deterministic policy over the histories in a table; those that are not there get the first action."""

    num_actions: int
    actions: dict[Trajectory, int] = field(default_factory=dict)

    def action_probs(self, history: Trajectory) -> NDArray[np.float64]:
        return one_hot(self.actions.get(history, 0), self.num_actions)


def one_hot(action: int, num_actions: int) -> NDArray[np.float64]:
    """Return the probabilities of a sure action, float64[A]."""
    probs = np.zeros(num_actions)
    probs[action] = 1.0
    return probs


@dataclass(frozen=True)
class ExpectimaxPlanner:
    """Plan exactly over all histories: V(η) = max_a Σ_z p̂(z)·V(η a z), and F at the end.

    Examples
    --------
    >>> import praemia
    >>> from praemia.exploration import ExpectimaxPlanner
    >>> task = praemia.envs.riverswim(size=3, horizon=3)
    >>> data = praemia.explore(task, episodes=200, method="uncertainty", seed=0)
    >>> plan = praemia.plan_from(data, praemia.CoverageReward([1, 1, 1]), planner=ExpectimaxPlanner())
    >>> plan.alpha
    0.0
    """

    max_histories: int = MAX_EXACT
    name: str = "expectimax"

    def plan(self, view: KernelView, reward: TrajectoryReward, horizon: int) -> HistoryPlan:
        policy = TablePolicy(view.num_actions)
        self._solve(view, reward, horizon, policy.actions)
        return HistoryPlan(policy, 0.0)

    def optimum(self, view: KernelView, reward: TrajectoryReward, horizon: int) -> float:
        """Return the best value of any policy."""
        return self._solve(view, reward, horizon, {})

    def _solve(self, view: KernelView, reward: TrajectoryReward, horizon: int, actions: dict[Trajectory, int]) -> float:
        """Return the optimum, and keep the best action of every history."""
        if not self.fits(view, horizon):
            raise SizeError(
                f"up to {view.histories(horizon):.3g} histories of {horizon} steps; {self.name} takes at most "
                f"{self.max_histories:,}: use SearchPlanner"
            )
        return math.fsum(
            p * _best(view, reward, horizon, Trajectory((o,), ()), actions) for o, p in zip(*view.start, strict=True)
        )

    def fits(self, view: KernelView, horizon: int) -> bool:
        """Tell whether all histories can be enumerated."""
        return view.histories(horizon) <= self.max_histories


def _best(
    view: KernelView, reward: TrajectoryReward, horizon: int, history: Trajectory, actions: dict[Trajectory, int]
) -> float:
    """Return V(history), and keep the best action of it and of all that can follow."""
    if len(history.actions) == horizon:
        return reward(history)
    best = -math.inf
    for a in range(view.num_actions):
        value = math.fsum(
            p * _best(view, reward, horizon, history.then(a, z), actions)
            for z, p in zip(*view.row(history.last, a), strict=True)
        )
        if value > best:
            best = value
            actions[history] = a
    return best
