"""Plan from data (Algorithm 4): p̂, an α-approximate planner, and a certificate for the true environment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.errors import ModelError, ParameterError
from praemia.exploration.certificate import Certificate, certify_history, certify_machine
from praemia.exploration.dataset import Dataset
from praemia.exploration.estimate import estimated_task
from praemia.exploration.greedy import GreedyPlanner
from praemia.exploration.planners import ExpectimaxPlanner, ProductPlanner, TrajectoryPlanner
from praemia.exploration.search import SearchPlanner
from praemia.exploration.trajectories import CoverageReward, HistoryPolicy, KernelView, TrajectoryReward
from praemia.exploration.values import Value, value_of_histories
from praemia.models.machine import RewardMachine
from praemia.models.mdp import Labels
from praemia.models.task import MAX_HORIZON, Task
from praemia.planning.exact import evaluate, solve


@dataclass(frozen=True, eq=False)
class ExploredPlan:
    """A plan made from data.

    Attributes
    ----------
    policy : whole numbers [H, M, O] for a machine, else a policy over histories.
    value : its value in p̂, exact or an estimate with an interval.
    alpha : how far it may be from the best plan in p̂; NaN if that is not known.
    certificate : how far it may be from the optimum of the true environment.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.riverswim()
    >>> data = praemia.explore(task, episodes=500, method="uncertainty", seed=0)
    >>> plan = praemia.plan_from(data, task.machine)
    >>> plan.policy.shape, plan.alpha
    ((10, 2, 5), 0.0)
    """

    policy: NDArray[Any] | HistoryPolicy
    value: Value
    alpha: float
    planner: str
    certificate: Certificate
    horizon: int
    reward: RewardMachine | TrajectoryReward

    def gap(self, task: Task, **sampling: Any) -> Value:
        """Return the true loss, when the truth is known: V* of the reward in ``task`` less the plan's value there.

        For a machine both are exact. For a reward on trajectories V* is found by enumeration, which small tasks allow.
        """
        if isinstance(self.reward, RewardMachine):
            truth = task.with_machine(self.reward).with_horizon(self.horizon)
            best = solve(truth, keep_values=False).value
            return Value.exactly(best - evaluate(truth, self.policy, keep_values=False).value)  # type: ignore[arg-type]
        best = _history_optimum(task, self.reward, self.horizon)
        own = self.true_value(task, **sampling)
        return Value(best - own.value, best - own.high, best - own.low, own.exact, own.confidence)

    def true_value(self, task: Task, **sampling: Any) -> Value:
        """Return the plan's value in a task that is known."""
        if isinstance(self.reward, RewardMachine):
            truth = task.with_machine(self.reward).with_horizon(self.horizon)
            return Value.exactly(evaluate(truth, self.policy, keep_values=False).value)  # type: ignore[arg-type]
        view = KernelView.of_mdp(task.mdp)
        policy: HistoryPolicy = self.policy  # type: ignore[assignment]
        return value_of_histories(view, policy, self.reward, self.horizon, **sampling)


def plan_from(
    dataset: Dataset,
    reward: RewardMachine | TrajectoryReward,
    *,
    horizon: int | None = None,
    planner: ProductPlanner | TrajectoryPlanner | None = None,
    failure_prob: float = 0.05,
    labels: Labels | None = None,
    fixed_in_advance: bool = False,
    seed: int = 0,
) -> ExploredPlan:
    """Plan for a machine, or for any reward on trajectories, from explored data.

    Parameters
    ----------
    reward : a machine over the propositions of the data's labels, or a ``TrajectoryReward``.
    horizon : steps of an episode; the data's own by default.
    planner : by default exact for a machine, and for few histories; else greedy for coverage, search for other rewards.
    failure_prob : ρ, the probability with which the certificate may fail.
    labels : other labels than the data's: rules or a function, known on all transitions.
    fixed_in_advance : you vouch that the machine, its labels and the horizon were fixed before the data was looked at;
        the certificate is tighter and says so. Machines that the data records need no voucher.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.riverswim()
    >>> data = praemia.explore(task, episodes=500, method="uncertainty", seed=0)
    >>> machine = praemia.MachineBuilder("out").edge("out", "right-end", "done", reward=1).build()
    >>> plan = praemia.plan_from(data, machine)
    >>> bool(plan.gap(task.with_machine(machine)).value <= plan.certificate.bound)
    True
    """
    steps = dataset.horizon if horizon is None else horizon
    if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or not 1 <= steps <= MAX_HORIZON:
        raise ParameterError(f"horizon={horizon!r}; expected a whole number from 1 to {MAX_HORIZON:,}")
    if isinstance(reward, RewardMachine):
        return _for_machine(dataset, reward, int(steps), planner, failure_prob, labels, fixed_in_advance)
    if not isinstance(reward, TrajectoryReward):
        raise ModelError(f"cannot plan for {type(reward).__name__}; expected a RewardMachine or a TrajectoryReward")
    if isinstance(planner, ProductPlanner):
        raise ModelError(f"the product planner takes machines; {reward.name!r} is a reward on trajectories")
    return _for_trajectories(dataset, reward, int(steps), planner, failure_prob, seed)


def _for_machine(
    dataset: Dataset,
    machine: RewardMachine,
    horizon: int,
    planner: ProductPlanner | TrajectoryPlanner | None,
    failure_prob: float,
    labels: Labels | None,
    fixed_in_advance: bool,
) -> ExploredPlan:
    if planner is not None and not isinstance(planner, ProductPlanner):
        raise ModelError(f"the planner {planner.name!r} takes rewards on trajectories; machines have ProductPlanner")
    chosen = planner or ProductPlanner()
    task = estimated_task(dataset, machine, horizon, labels)
    plan = chosen.plan(task)
    certificate = certify_machine(dataset, task, machine, plan.policy, failure_prob, labels, fixed_in_advance)
    policy: NDArray[Any] = np.ascontiguousarray(plan.policy[:, :, :-1])
    return ExploredPlan(policy, Value.exactly(plan.value), chosen.alpha, chosen.name, certificate, horizon, machine)


def _for_trajectories(
    dataset: Dataset,
    reward: TrajectoryReward,
    horizon: int,
    planner: TrajectoryPlanner | None,
    failure_prob: float,
    seed: int,
) -> ExploredPlan:
    if isinstance(reward, CoverageReward) and len(reward.weights) != dataset.num_observations:
        raise ModelError(f"{len(reward.weights)} weights for {dataset.num_observations} observations")
    view = KernelView.of_dataset(dataset)
    chosen = planner or _default_planner(view, reward, horizon, seed)
    plan = chosen.plan(view, reward, horizon)
    value = value_of_histories(view, plan.policy, reward, horizon, failure_prob=failure_prob, seed=seed)
    certificate = certify_history(dataset, reward.bound, plan.alpha, horizon, failure_prob)
    return ExploredPlan(plan.policy, value, plan.alpha, chosen.name, certificate, horizon, reward)


def _default_planner(view: KernelView, reward: TrajectoryReward, horizon: int, seed: int) -> TrajectoryPlanner:
    exact = ExpectimaxPlanner()
    if exact.fits(view, horizon):
        return exact
    return GreedyPlanner() if isinstance(reward, CoverageReward) else SearchPlanner(seed=seed)


def _history_optimum(task: Task, reward: TrajectoryReward, horizon: int) -> float:
    """Return the best value of any policy in a known task, by enumerating all histories."""
    view = KernelView.of_mdp(task.mdp)
    policy = ExpectimaxPlanner().plan(view, reward, horizon).policy
    limit = int(view.histories(horizon)) + 1
    return value_of_histories(view, policy, reward, horizon, max_histories=max(limit, 1) * 2).value
