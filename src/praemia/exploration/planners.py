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
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from praemia.arithmetic import ordered_sum
from praemia.errors import ModelError, SizeError
from praemia.exploration.coverage import best_values
from praemia.exploration.trajectories import CoverageReward, Histories, HistoryPolicy, Trajectory, TrajectoryReward

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

    def plan(self, histories: Histories, reward: TrajectoryReward) -> tuple[HistoryPolicy, float]:
        """Return a policy and its α: the most by which it may fall short of the optimum in this model, or NaN."""


@dataclass(frozen=True, eq=False)
class SureActions:
    """The policy that takes one action for sure after each history."""

    choose: Callable[[Trajectory], int]
    num_actions: int

    def action_probs(self, history: Trajectory) -> NDArray[np.float64]:
        probs = np.zeros(self.num_actions)
        probs[self.choose(history)] = 1.0
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

    def plan(self, histories: Histories, reward: TrajectoryReward) -> tuple[HistoryPolicy, float]:
        actions = self._solve(histories, reward)[1]
        return SureActions(lambda history: actions.get(history, 0), histories.num_actions), 0.0

    def optimum(self, histories: Histories, reward: TrajectoryReward) -> float:
        """Return the best value of any policy."""
        return self._solve(histories, reward)[0]

    def _solve(self, histories: Histories, reward: TrajectoryReward) -> tuple[float, dict[Trajectory, int]]:
        """Return the optimum, and the best action of every history."""
        if not self.fits(histories):
            raise SizeError(
                f"there may be more than {self.max_histories:,} histories of {histories.horizon} steps, the most that "
                f"{self.name} takes: use SearchPlanner"
            )
        actions: dict[Trajectory, int] = {}

        def best(history: Trajectory) -> float:
            if history.is_over(histories.horizon):
                return reward(history)
            values = [
                math.fsum(p * best(longer) for longer, p in histories.after(history, a))
                for a in range(histories.num_actions)
            ]
            actions[history] = max(range(len(values)), key=values.__getitem__)
            return values[actions[history]]

        return math.fsum(p * best(history) for history, p in histories.starts), actions

    def fits(self, histories: Histories) -> bool:
        """Tell whether all histories can be enumerated."""
        return histories.most <= self.max_histories


MAX_FOR_ALPHA = 5_000  # with more, the value that α needs is not computed
MAX_REMEMBERED = 1 << 24  # actions that a greedy policy remembers

Solve = Callable[[frozenset[int]], tuple[NDArray[np.float64], NDArray[np.int64]]]


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

    def plan(self, histories: Histories, reward: TrajectoryReward) -> tuple[HistoryPolicy, float]:
        if not isinstance(reward, CoverageReward):
            raise ModelError(f"the greedy planner takes a CoverageReward; {reward.name!r} is not one")
        weights = np.array(reward.weights)
        solve = _additive_solver(histories, weights)

        def choose(history: Trajectory) -> int:
            _, actions = solve(frozenset(history.observations))
            return int(actions[len(history.actions), history.last])

        policy = SureActions(choose, histories.num_actions)
        value = histories.value(policy, reward, samples=1, max_histories=MAX_FOR_ALPHA)
        return policy, upper_bound(histories, weights, solve) - value.value if value.exact else float("nan")


def _additive_solver(histories: Histories, weights: NDArray[np.float64]) -> Solve:
    """Return what solves for uncovered weight: from what is covered, the most of it from each o on, and the actions."""
    shape = (len(weights), histories.num_actions)

    # Covered sets are many, and those of one episode follow each other.
    @lru_cache(maxsize=max(1, MAX_REMEMBERED // (histories.horizon * len(weights))))
    def solve(covered: frozenset[int]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        gain = weights.copy()
        gain[list(covered)] = 0.0
        everywhere = np.broadcast_to(gain[:, None], shape)
        return best_values(histories.kernel.kernel, everywhere, histories.horizon, last=gain, ended=gain)

    return solve


def upper_bound(histories: Histories, weights: NDArray[np.float64], solve: Solve) -> float:
    """Return U, which no policy's coverage in this kernel exceeds."""
    horizon, is_target = histories.horizon, np.eye(len(weights))
    gain = np.repeat(is_target[:, None], histories.num_actions, axis=1)
    meeting_probs, _ = best_values(  # max_π P(o is met | start), as [start, o]
        histories.kernel.kernel, gain, horizon, last=is_target, ended=is_target, most=1.0
    )
    total = 0.0
    for history, p in histories.starts:
        o, others = history.last, weights.copy()
        others[o] = 0.0
        additive = float(solve(frozenset({o}))[0][o])
        most = float(ordered_sum(np.sort(others)[::-1][:horizon]))
        total += p * (weights[o] + min(additive, float(ordered_sum(others * meeting_probs[o])), most))
    return total
