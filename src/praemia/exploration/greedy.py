"""A greedy planner for coverage rewards: the weight of the distinct observations met.

Let C be what has been covered. Coverage is submodular, so what is still to gain is at most the additive reward
Σ_h w(o_h)·1[o_h ∉ C], whose optimum is one backward induction. The planner acts greedily for it and solves it anew
whenever C grows. (It is the modular upper bound that greedy algorithms for submodular rewards maximise; compare
Prajapat et al. 2023.) No constant-factor guarantee is claimed: α = U − Ĵ(π), where

    U = w(start) + min(additive optimum with C = {start}, Σ_{o ≠ start} w(o)·max_π P(o is met), H largest weights)

bounds every policy, provided that Ĵ(π) is exact; NaN otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.errors import ModelError
from praemia.exploration.planners import HistoryPlan, one_hot
from praemia.exploration.trajectories import CoverageReward, KernelView, Trajectory, TrajectoryReward
from praemia.exploration.values import value_of_histories

MAX_HISTORIES = 5_000  # beyond, the value is not computed for α's sake


@dataclass(eq=False)
class GreedyPolicy:
    """Act for the additive gain of what is not covered yet."""

    kernel: Any
    num_actions: int
    weights: NDArray[np.float64]
    horizon: int
    solved: dict[frozenset[int], tuple[NDArray[np.int64], NDArray[np.float64]]] = field(default_factory=dict)

    def solve(self, covered: frozenset[int]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the best actions [H, O] for the uncovered weight collected at every step, and V_0[O]."""
        if covered not in self.solved:
            gain = self.weights.copy()
            gain[list(covered)] = 0.0
            values = np.zeros(len(gain))
            actions = np.empty((self.horizon, len(gain)), dtype=np.int64)
            for h in range(self.horizon - 1, -1, -1):
                table = (self.kernel @ (gain + values)).reshape(-1, self.num_actions)
                actions[h], values = table.argmax(axis=1), table.max(axis=1)
            self.solved[covered] = actions, values
        return self.solved[covered]

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

    def plan(self, view: KernelView, reward: TrajectoryReward, horizon: int) -> HistoryPlan:
        if not isinstance(reward, CoverageReward):
            raise ModelError(f"the greedy planner takes a CoverageReward; {reward.name!r} is another kind of reward")
        if len(reward.weights) != view.num_observations:
            raise ModelError(f"{len(reward.weights)} weights for {view.num_observations} observations")
        policy = GreedyPolicy(_sparse(view), view.num_actions, np.array(reward.weights), horizon)
        value = value_of_histories(view, policy, reward, horizon, samples=1, max_histories=MAX_HISTORIES)
        return HistoryPlan(policy, upper_bound(view, policy) - value.value if value.exact else float("nan"))


def upper_bound(view: KernelView, policy: GreedyPolicy) -> float:
    """Return U, which no policy's coverage in this kernel exceeds."""
    met = chance_of_meeting(policy.kernel, policy.num_actions, policy.horizon)
    total = 0.0
    for o, p in zip(*view.start, strict=True):
        others = policy.weights.copy()
        others[o] = 0.0
        additive = float(policy.solve(frozenset({o}))[1][o])
        most = float(np.sort(others)[::-1][: policy.horizon].sum())
        total += p * (policy.weights[o] + min(additive, float(others @ met[:, o]), most))
    return total


def chance_of_meeting(kernel: Any, num_actions: int, horizon: int) -> NDArray[np.float64]:
    """Return max_π P(o is met within the horizon | start) as [O, start]."""
    size = kernel.shape[1]
    values = np.eye(size)
    for _ in range(horizon):
        values = (kernel @ values).reshape(size, num_actions, size).max(axis=1)
        np.fill_diagonal(values, 1.0)
    return values.T


def _sparse(view: KernelView) -> Any:
    from scipy.sparse import csr_array

    lengths = [len(successors) for successors, _ in view.rows]
    data = np.array([p for _, probs in view.rows for p in probs])
    columns = np.array([z for successors, _ in view.rows for z in successors], dtype=np.int64)
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    return csr_array((data, columns, indptr), shape=(len(lengths), view.num_observations))
