"""Planners for rewards on trajectories: a policy with a stated α, how far it may be from the best in its model.

| planner | for | α |
|---|---|---|
| ``ExpectimaxPlanner`` | any F(η), few histories | 0: backward induction over histories |
| ``SearchPlanner`` (``praemia.exploration.search``) | any F(η) | certified while it searches; 0 once all is searched |
| ``GreedyPlanner`` | coverage | certified, where the value is exact |

α is NaN where it is unknown.

**The greedy planner.** Let C be what has been covered. Coverage is submodular, so what is still to gain is at most the
additive reward Σ_h w(o_h)·1[o_h ∉ C], whose optimum is one backward induction. The planner acts greedily for it and
solves it anew whenever C grows. (It is the modular upper bound that greedy algorithms for submodular rewards maximise;
compare Prajapat et al. 2023.) No constant-factor guarantee is claimed: α = U − Ĵ(π), where

    U = w(start) + min(additive optimum with C = {start}, Σ_{o ≠ start} w(o)·max_π P(o is met), H largest weights)

bounds every policy, provided that Ĵ(π) is exact; NaN otherwise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from praemia.arithmetic import ordered_sum
from praemia.errors import ModelError, SizeError
from praemia.exploration.coverage import best_values
from praemia.exploration.trajectories import (
    CoverageReward,
    HistoryPolicy,
    KernelView,
    Trajectory,
    TrajectoryReward,
    value_of_histories,
)

MAX_EXACT = 200_000


class TrajectoryPlanner(Protocol):
    """A planner for rewards on trajectories.

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

    def plan(self, view: KernelView, reward: TrajectoryReward, horizon: int) -> tuple[HistoryPolicy, float]:
        """Return a policy and its α: the most by which it may fall short of the optimum in this model, or NaN."""


@dataclass(eq=False)
class TablePolicy:
    """A deterministic policy over the histories in a table; all others get the first action."""

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

    def plan(self, view: KernelView, reward: TrajectoryReward, horizon: int) -> tuple[HistoryPolicy, float]:
        policy = TablePolicy(view.num_actions)
        self._solve(view, reward, horizon, policy.actions)
        return policy, 0.0

    def optimum(self, view: KernelView, reward: TrajectoryReward, horizon: int) -> float:
        """Return the best value of any policy."""
        return self._solve(view, reward, horizon, {})

    def _solve(self, view: KernelView, reward: TrajectoryReward, horizon: int, actions: dict[Trajectory, int]) -> float:
        """Return the optimum, and keep the best action of every history."""
        if not self.fits(view, horizon):
            raise SizeError(
                f"there may be more than {self.max_histories:,} histories of {horizon} steps, the most that "
                f"{self.name} takes: use SearchPlanner"
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
    if history.is_over(horizon):
        return reward(history)
    best = -math.inf
    for a in range(view.num_actions):
        value = math.fsum(
            p * _best(view, reward, horizon, view.after(history, a, z), actions)
            for z, p in zip(*view.row(history.last, a), strict=True)
        )
        if value > best:
            best = value
            actions[history] = a
    return best


MAX_FOR_ALPHA = 5_000  # with more, the value that α needs is not computed
MAX_REMEMBERED = 1 << 24  # actions that a greedy policy remembers


@dataclass(eq=False)
class GreedyPolicy:
    """Act for the additive gain of what is not covered yet."""

    kernel: Any
    num_actions: int
    weights: NDArray[np.float64]
    horizon: int
    solutions: dict[frozenset[int], tuple[NDArray[np.int64], NDArray[np.float64]]] = field(default_factory=dict)

    def solve(self, covered: frozenset[int]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the best actions [H, O] for collecting uncovered weight, and the most of it from each o on [O]."""
        if covered not in self.solutions:
            gain = self.weights.copy()
            gain[list(covered)] = 0.0
            everywhere = np.repeat(gain[:, None], self.num_actions, axis=1)
            values, actions = best_values(self.kernel, everywhere, self.horizon, last=gain, ended=gain)
            if (len(self.solutions) + 1) * actions.size > MAX_REMEMBERED:
                self.solutions.clear()  # covered sets are many, and those of one episode follow each other
            self.solutions[covered] = actions, values
        return self.solutions[covered]

    def action_probs(self, history: Trajectory) -> NDArray[np.float64]:
        actions, _ = self.solve(frozenset(history.observations))
        return one_hot(int(actions[len(history.actions), history.last]), self.num_actions)


@dataclass(frozen=True)
class GreedyPlanner:
    """Plan greedily for a ``CoverageReward``.

    Examples
    --------
    >>> import praemia
    >>> from praemia.exploration import GreedyPlanner
    >>> task = praemia.envs.riverswim(size=3, horizon=3)
    >>> data = praemia.explore(task, episodes=200, method="uncertainty", seed=0)
    >>> plan = praemia.plan_from(data, praemia.CoverageReward([1, 1, 1]), planner=GreedyPlanner())
    >>> bool(0 <= plan.alpha <= 3)
    True
    """

    name: str = "greedy"

    def plan(self, view: KernelView, reward: TrajectoryReward, horizon: int) -> tuple[HistoryPolicy, float]:
        if not isinstance(reward, CoverageReward):
            raise ModelError(f"the greedy planner takes a CoverageReward; {reward.name!r} is not one")
        policy = GreedyPolicy(view.sparse, view.num_actions, np.array(reward.weights), horizon)
        value = value_of_histories(view, policy, reward, horizon, samples=1, max_histories=MAX_FOR_ALPHA)
        return policy, upper_bound(view, policy) - value.value if value.exact else float("nan")


def upper_bound(view: KernelView, policy: GreedyPolicy) -> float:
    """Return U, which no policy's coverage in this kernel exceeds."""
    meeting_probs = best_meeting_probs(policy.kernel, policy.num_actions, policy.horizon)
    total = 0.0
    for o, p in zip(*view.start, strict=True):
        others = policy.weights.copy()
        others[o] = 0.0
        additive = float(policy.solve(frozenset({o}))[1][o])
        most = float(ordered_sum(np.sort(others)[::-1][: policy.horizon]))
        total += p * (policy.weights[o] + min(additive, float(ordered_sum(others * meeting_probs[:, o])), most))
    return total


def best_meeting_probs(kernel: Any, num_actions: int, horizon: int) -> NDArray[np.float64]:
    """Return max_π P(o is met within the horizon | start) as [O, start]."""
    is_target = np.eye(kernel.shape[0] // num_actions)
    gain = np.repeat(is_target[:, None], num_actions, axis=1)
    return best_values(kernel, gain, horizon, last=is_target, ended=is_target, most=1.0)[0].T
