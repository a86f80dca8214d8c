"""Rewards on whole trajectories, F(η), policies over histories, and all that can happen in a kernel.

η = (o_1, a_1, …, o_H, a_H, o_{H+1}), or shorter where the episode ended. A reward declares its largest value G; what it
gives must lie in [0, G]. In an estimate, a trajectory that meets the unknown (a pair never visited) is worth 0,
whatever F says.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from praemia.errors import ModelError
from praemia.tasks.mdp import LabeledMDP

if TYPE_CHECKING:
    from praemia.exploration.dataset import Dataset

SLACK = 1e-9
MAX_HISTORIES = 50_000
SAMPLES = 2_000

Item = TypeVar("Item")


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


@runtime_checkable
class HistoryPolicy(Protocol):
    """A policy that may depend on everything so far.

    Examples
    --------
    >>> import numpy as np
    >>> from praemia.exploration import HistoryPolicy, Trajectory
    >>> class Alternate:
    ...     def action_probs(self, history):
    ...         return np.eye(2)[len(history.actions) % 2]
    >>> isinstance(Alternate(), HistoryPolicy)
    True
    >>> Alternate().action_probs(Trajectory((0, 1), (0,))).tolist()
    [0.0, 1.0]
    """

    def action_probs(self, history: Trajectory) -> NDArray[np.float64]:
        """Return the probability of each action, float64[A]."""


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

    def range_after(self, history: Trajectory, horizon: int) -> tuple[float, float]:
        """Return bounds on F over all ways in which a history can go on."""
        if history.is_over(horizon):
            value = self(history)
            return value, value
        return 0.0, self.bound


@dataclass(frozen=True, init=False)
class CoverageReward(TrajectoryReward):
    """The weight of the distinct observations visited in an episode: monotone and submodular.

    Examples
    --------
    >>> import praemia
    >>> from praemia.exploration import Trajectory
    >>> reward = praemia.CoverageReward([1, 1, 5])
    >>> reward(Trajectory(observations=(0, 2, 0), actions=(0, 0)))  # 0 counts once
    6.0
    """

    weights: tuple[float, ...] = ()

    def __init__(self, weights: NDArray[np.float64] | tuple[float, ...] | list[float], name: str = "coverage") -> None:
        values = tuple(float(weight) for weight in weights)
        if not values or not all(math.isfinite(weight) and weight >= 0.0 for weight in values):
            raise ModelError(f"the weights of {name!r} must be numbers ≥ 0, one for each observation")
        object.__setattr__(self, "weights", values)
        object.__setattr__(self, "function", self._covered)
        object.__setattr__(self, "bound", math.fsum(values))
        object.__setattr__(self, "name", name)
        self.__post_init__()

    def _covered(self, trajectory: Trajectory) -> float:
        return math.fsum(self.weights[o] for o in set(trajectory.observations))

    def range_after(self, history: Trajectory, horizon: int) -> tuple[float, float]:
        if history.is_over(horizon):
            return super().range_after(history, horizon)
        distinct = set(history.observations)
        rest = sorted((w for o, w in enumerate(self.weights) if o not in distinct), reverse=True)
        high = self._covered(history) + math.fsum(rest[: horizon - len(history.actions)])
        return 0.0, high  # going on may meet the unknown, where even what was covered is lost


@dataclass(frozen=True)
class Value:
    """A value, or the mean of sampled returns with a two-sided Hoeffding interval.

    Attributes
    ----------
    low, high : the interval; equal to ``value`` when it is exact.
    confidence : the probability that the interval holds.
    """

    value: float
    low: float
    high: float
    exact: bool
    confidence: float = 1.0

    @classmethod
    def exactly(cls, value: float) -> Value:
        return cls(value, value, value, True)

    def __str__(self) -> str:
        if self.exact:
            return f"{self.value:.6g} (exact)"
        return f"{self.value:.4g} (estimate; {self.low:.4g} … {self.high:.4g} with probability {self.confidence:g})"


class Histories:
    """All that can happen in H steps of a kernel, to enumerate or to sample from.

    Attributes
    ----------
    starts : the histories of no steps yet, each with its probability.
    """

    def __init__(self, kernel: Dataset | LabeledMDP, horizon: int) -> None:
        self.kernel, self.horizon, self.num_actions = kernel, horizon, kernel.num_actions
        size, probs, bounds = kernel.num_observations, kernel.probs.tolist(), pairwise(kernel.indptr.tolist())
        steps = [(target % size, target >= size, p) for target, p in zip(kernel.targets.tolist(), probs, strict=True)]
        self._rows = [steps[first:last] for first, last in bounds]
        first_probs = enumerate(kernel.start_probs.tolist())
        self.starts = [(Trajectory((o,), ()), p) for o, p in first_probs if p > 0.0]

    def after(self, history: Trajectory, a: int) -> list[tuple[Trajectory, float]]:
        """Return the histories that can follow an action, with their probabilities; none if the unknown follows."""
        row = self._rows[history.last * self.num_actions + a]
        return [(history.then(a, z, ended=ended), p) for z, ended, p in row]

    @property
    def most(self) -> float:
        """A bound on the number of histories of H steps, every action counted; ∞ beyond what a float can hold."""
        widest = max(map(len, self._rows))
        try:
            return len(self.starts) * float(self.num_actions * widest) ** self.horizon
        except OverflowError:
            return math.inf

    def walk(self, policy: HistoryPolicy) -> Iterator[tuple[Trajectory, float]]:
        """Enumerate the histories of all lengths 0 … H that can occur, each with its probability.

        Histories that meet the unknown are left out.
        """
        stack = list(self.starts)
        while stack:
            history, mass = stack.pop()
            yield history, mass
            if history.is_over(self.horizon):
                continue
            for a, share in enumerate(policy.action_probs(history)):
                if share > 0.0:
                    stack += [(longer, mass * float(share) * p) for longer, p in self.after(history, a)]

    def value(
        self,
        policy: HistoryPolicy,
        reward: TrajectoryReward,
        *,
        samples: int = SAMPLES,
        failure_prob: float = 0.05,
        seed: int = 0,
        max_histories: int = MAX_HISTORIES,
    ) -> Value:
        """Return J(π) = E[F(η)]; trajectories that meet the unknown are worth 0.

        All histories are enumerated when the policy makes at most ``max_histories`` of them, else episodes are sampled.
        """
        total = 0.0
        for seen, (history, mass) in enumerate(self.walk(policy)):
            if seen >= max_histories:
                break
            if history.is_over(self.horizon):
                total += mass * reward(history)
        else:
            return Value.exactly(total)
        rng = np.random.default_rng([seed, 17])
        mean = math.fsum(self._sampled_return(policy, reward, rng) for _ in range(samples)) / samples
        half = reward.bound * math.sqrt(math.log(2.0 / failure_prob) / (2.0 * samples))
        return Value(mean, max(0.0, mean - half), min(reward.bound, mean + half), False, 1.0 - failure_prob)

    def _sampled_return(self, policy: HistoryPolicy, reward: TrajectoryReward, rng: np.random.Generator) -> float:
        history = pick(self.starts, rng.random())
        while not history.is_over(self.horizon):
            a = pick(enumerate(policy.action_probs(history).tolist()), rng.random())
            following = self.after(history, a)
            if not following:
                return 0.0
            history = pick(following, rng.random())
        return reward(history)


def pick(weighted: Iterable[tuple[Item, float]], uniform: float) -> Item:
    """Return the item at which the running sum of probabilities exceeds a uniform number, or else the last."""
    for item, p in weighted:
        last, uniform = item, uniform - p
        if uniform < 0.0:
            break
    return last
