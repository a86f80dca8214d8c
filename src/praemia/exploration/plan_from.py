"""Plan from data (Algorithm 4): p̂, an α-approximate planner, and a certificate for the true environment."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.displayed import Displayed
from praemia.errors import ModelError, require_whole
from praemia.exploration.certificate import Certificate, certify_history, certify_machine
from praemia.exploration.dataset import Dataset
from praemia.exploration.likely_loss import DRAWS, LEVEL, LikelyLoss, OnDraw, likely_loss
from praemia.exploration.planners import ExpectimaxPlanner, GreedyPlanner, TrajectoryPlanner
from praemia.exploration.search import SearchPlanner
from praemia.exploration.trajectories import (
    CoverageReward,
    HistoryPolicy,
    KernelView,
    TrajectoryReward,
    Value,
    value_of_histories,
)
from praemia.machines.labels import Labels
from praemia.machines.machine import RewardMachine
from praemia.planning.exact import evaluate, solve
from praemia.tasks.task import MAX_HORIZON, Task


@dataclass(frozen=True, eq=False)
class ExploredPlan(Displayed):
    """A plan made from data.

    Attributes
    ----------
    policy : whole numbers [H, M, O] for a machine, else a policy over histories.
    value : its value in p̂, exact or an estimate with an interval; a pair never visited pays the least that it can from
        then on.
    alpha : how far it may be from the best plan in p̂; NaN if unknown.
    certificate : how far it may be from the optimum of the true environment: proven.
    dataset, labels : what it was planned from; labels that took the place of the data's own, if any.

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
    dataset: Dataset
    labels: Labels | None = None

    @property
    def likely_loss(self) -> float | None:
        """Bayesian: with probability 0.95 under the posterior the loss is at most this.

        None for a reward on trajectories. Computed when first used.
        """
        return None if self._likely is None else self._likely.loss

    @cached_property
    def _likely(self) -> LikelyLoss | None:
        return self.likely()

    def likely(
        self, *, draws: int = DRAWS, level: float = LEVEL, seed: int = 0, on_draw: OnDraw | None = None
    ) -> LikelyLoss | None:
        """Return the likely loss with its details: draws, seed, Monte-Carlo error; None for rewards on trajectories.

        Parameters
        ----------
        draws : environments drawn from the posterior. level : the probability under the posterior.
        on_draw : called with the number of draws so far and in total.
        """
        if not isinstance(self.reward, RewardMachine):
            return None
        policy: NDArray[Any] = self.policy  # type: ignore[assignment]
        settings: dict[str, Any] = {"draws": draws, "level": level, "seed": seed, "on_draw": on_draw}
        return likely_loss(self.dataset, self.reward, policy, labels=self.labels, **settings)

    def gap(self, task: Task, **sampling: Any) -> Value:
        """Return the true loss in a known task: V* of the reward in ``task`` less the plan's value there.

        For a machine both are exact. For a reward on trajectories V* is found by enumeration, which small tasks allow.
        """
        if isinstance(self.reward, RewardMachine):
            best = solve(task.with_machine(self.reward).with_horizon(self.horizon), keep_values=False).value
        else:
            best = ExpectimaxPlanner().optimum(KernelView(task.mdp), self.reward, self.horizon)
        own = self.true_value(task, **sampling)
        return Value(best - own.value, best - own.high, best - own.low, own.exact, own.confidence)

    def true_value(self, task: Task, **sampling: Any) -> Value:
        """Return the plan's value in a task that is known."""
        if isinstance(self.reward, RewardMachine):
            truth = task.with_machine(self.reward).with_horizon(self.horizon)
            return Value.exactly(evaluate(truth, self.policy, keep_values=False).value)  # type: ignore[arg-type]
        view = KernelView(task.mdp)
        policy: HistoryPolicy = self.policy  # type: ignore[assignment]
        return value_of_histories(view, policy, self.reward, self.horizon, **sampling)

    def __repr__(self) -> str:
        sure = self.certificate
        return (
            f"ExploredPlan(value {self.value} from {self.dataset.num_episodes:,} episodes, planner {self.planner!r}; "
            f"loses at most {sure.bound:.4g} with probability {1.0 - sure.failure_prob:g})"
        )


def plan_from(
    dataset: Dataset,
    reward: RewardMachine | TrajectoryReward,
    *,
    horizon: int | None = None,
    planner: TrajectoryPlanner | None = None,
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
    planner : for a reward on trajectories; by default exact for few histories, else greedy for coverage, and search for
        other rewards. For machines, plans are exact.
    failure_prob : ρ, the probability that the certificate fails.
    labels : other labels than the data's: rules or a function, known on all transitions.
    fixed_in_advance : you vouch that the machine, its labels and the horizon were fixed before the data was looked at;
        the certificate is tighter and says so. Not needed for machines that the data records.

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
    steps = require_whole("horizon", dataset.horizon if horizon is None else horizon, 1, MAX_HORIZON)
    if isinstance(reward, RewardMachine):
        if planner is not None:
            raise ModelError(f"planner={planner!r} is for rewards on trajectories; plans for machines are exact")
        return _for_machine(dataset, reward, steps, failure_prob, labels, fixed_in_advance)
    if not isinstance(reward, TrajectoryReward):
        raise ModelError(f"cannot plan for {type(reward).__name__}; expected a RewardMachine or a TrajectoryReward")
    return _for_trajectories(dataset, reward, steps, planner, failure_prob, seed)


def _for_machine(
    dataset: Dataset,
    machine: RewardMachine,
    horizon: int,
    failure_prob: float,
    labels: Labels | None,
    fixed_in_advance: bool,
) -> ExploredPlan:
    model = dataset.model(machine, horizon, labels)
    plan = solve(model, keep_values=False)
    certificate = certify_machine(dataset, model, machine, plan.policy, failure_prob, labels, fixed_in_advance)
    policy: NDArray[Any] = np.ascontiguousarray(plan.policy)
    value = Value.exactly(machine.reward_range.values_from_unit(plan.value, horizon))
    return ExploredPlan(policy, value, 0.0, "product", certificate, horizon, machine, dataset, labels)


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
    view = KernelView(dataset)
    planner = planner or _default_planner(view, reward, horizon, seed)
    plan = planner.plan(view, reward, horizon)
    value = value_of_histories(view, plan.policy, reward, horizon, failure_prob=failure_prob, seed=seed)
    certificate = certify_history(dataset, reward.bound, plan.alpha, horizon, failure_prob)
    return ExploredPlan(plan.policy, value, plan.alpha, planner.name, certificate, horizon, reward, dataset)


def _default_planner(view: KernelView, reward: TrajectoryReward, horizon: int, seed: int) -> TrajectoryPlanner:
    exact = ExpectimaxPlanner()
    if exact.fits(view, horizon):
        return exact
    return GreedyPlanner() if isinstance(reward, CoverageReward) else SearchPlanner(seed=seed)
