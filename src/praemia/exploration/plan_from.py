"""Plan from data (Algorithm 4): p̂, an α-approximate planner, and a certificate for the true environment.

``machine_reports`` plans for several machines from the same data, and compares with the truth where it is known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.activity import OnProgress
from praemia.displayed import Displayed
from praemia.errors import ModelError, SizeError, require_fraction, require_whole
from praemia.exploration.certificate import Certificate, Scope, certify_history, certify_machine
from praemia.exploration.dataset import Dataset
from praemia.exploration.estimate import Estimate
from praemia.exploration.likely_loss import DRAWS, LEVEL, LikelyLoss, likely_loss, require_draws
from praemia.exploration.planners import ExpectimaxPlanner, GreedyPlanner, TrajectoryPlanner
from praemia.exploration.search import SearchPlanner
from praemia.exploration.trajectories import CoverageReward, Histories, HistoryPolicy, TrajectoryReward, Value
from praemia.machines.labels import Labels
from praemia.machines.machine import RewardMachine
from praemia.planning.exact import solve
from praemia.tasks.task import MAX_HORIZON, Task
from praemia.text_tables import plural


@dataclass(frozen=True, eq=False)
class TrajectoryProblem:
    """Explored data with the reward on trajectories that is planned for in it."""

    dataset: Dataset
    reward: TrajectoryReward
    horizon: int

    def optimum(self, task: Task) -> float:
        """Return V* of the reward in a task that is known, by enumeration."""
        return ExpectimaxPlanner().optimum(Histories(task.mdp, self.horizon), self.reward)

    def true_value(self, task: Task, policy: Any, **sampling: Any) -> Value:
        """Return the value of a policy over histories in a task that is known."""
        return Histories(task.mdp, self.horizon).value(policy, self.reward, **sampling)


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
    problem : what was planned for, and from which data: an ``Estimate`` for a machine.

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
    problem: Estimate | TrajectoryProblem

    @property
    def dataset(self) -> Dataset:
        return self.problem.dataset

    @property
    def horizon(self) -> int:
        return self.problem.horizon

    @property
    def reward(self) -> RewardMachine | TrajectoryReward:
        return self.problem.machine if isinstance(self.problem, Estimate) else self.problem.reward

    @cached_property
    def likely_loss(self) -> float | None:
        """Bayesian: with probability 0.95 under the posterior the loss is at most this.

        None for a reward on trajectories. Computed when first used.
        """
        likely = self.likely()
        return None if likely is None else likely.loss

    def likely(
        self, *, draws: int = DRAWS, level: float = LEVEL, seed: int = 0, on_draw: OnProgress | None = None
    ) -> LikelyLoss | None:
        """Return the likely loss with its details: draws, seed, Monte-Carlo error; None for rewards on trajectories.

        Parameters
        ----------
        draws : environments drawn from the posterior. level : the probability under the posterior.
        on_draw : called with the number of draws so far and in total.
        """
        if not isinstance(self.problem, Estimate):
            return None
        policy: NDArray[Any] = self.policy  # type: ignore[assignment]
        after = None if on_draw is None else lambda number, *_: on_draw(number + 1, draws)
        return likely_loss(self.problem, policy, draws=draws, level=level, seed=seed, after=after)

    def gap(self, task: Task, **sampling: Any) -> Value:
        """Return the true loss in a known task: the optimum there less the plan's value."""
        best, own = self.optimum(task), self.true_value(task, **sampling)
        return Value(best - own.value, best - own.high, best - own.low, own.exact, own.confidence)

    def optimum(self, task: Task) -> float:
        """Return V* of the reward in a task that is known.

        For a reward on trajectories it is found by enumeration, which small tasks allow.
        """
        return self.problem.optimum(task)

    def true_value(self, task: Task, **sampling: Any) -> Value:
        """Return the plan's value in a task that is known; exact for a machine."""
        return self.problem.true_value(task, self.policy, **sampling)

    def __repr__(self) -> str:
        sure = self.certificate
        return (
            f"ExploredPlan(value {self.value} from {plural(self.dataset.num_episodes, 'episode')}, "
            f"planner {self.planner!r}; "
            f"loses at most {sure.bound:.4g} with probability {1.0 - sure.failure_prob:g})"
        )


def plan_from(
    dataset: Dataset,
    reward: RewardMachine | TrajectoryReward,
    *,
    horizon: int | None = None,
    discount: float | None = None,
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
    discount : γ, for a machine: a reward at step h counts γ^h times; the data's own by default. A reward on
        trajectories is taken as it is.
    planner : for a reward on trajectories; by default exact for few histories, else greedy for coverage, and search for
        other rewards. For machines, plans are exact.
    failure_prob : ρ, the probability that the certificate fails.
    labels : other labels than the data's: rules or a function, known on all transitions.
    fixed_in_advance : you vouch that the machine, its labels, the horizon and the discount were fixed before the data
        was looked at; the certificate is usually tighter and says so. Not needed for machines that the data records.

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
    if isinstance(reward, RewardMachine):
        if planner is not None:
            raise ModelError(f"planner={planner!r} is for rewards on trajectories; plans for machines are exact")
        estimate = Estimate.of(dataset, reward, horizon, discount, labels)
        return _for_machine(estimate, failure_prob, fixed_in_advance)
    if not isinstance(reward, TrajectoryReward):
        raise ModelError(f"cannot plan for {type(reward).__name__}; expected a RewardMachine or a TrajectoryReward")
    if discount is not None:
        raise ModelError(f"discount={discount!r} is for machines; a reward on trajectories is taken as it is")
    if labels is not None:
        raise ModelError("labels= is for machines; a reward on trajectories reads observations and actions")
    if fixed_in_advance:
        raise ModelError("fixed_in_advance= is for machines; a certificate for trajectories holds for any reward")
    if isinstance(reward, CoverageReward) and len(reward.weights) != dataset.num_observations:
        raise ModelError(f"{len(reward.weights)} weights for {dataset.num_observations} observations")
    steps = require_whole("horizon", dataset.horizon if horizon is None else horizon, 1, MAX_HORIZON)
    return _for_trajectories(TrajectoryProblem(dataset, reward, steps), planner, failure_prob, seed)


def _for_machine(estimate: Estimate, failure_prob: float, fixed_in_advance: bool) -> ExploredPlan:
    plan = solve(estimate.model, keep_values=False)
    policy: NDArray[Any] = np.ascontiguousarray(plan.policy)
    return ExploredPlan(
        policy,
        value=Value.exactly(estimate.values_from_unit(plan.value)),
        alpha=0.0,
        planner="product",
        certificate=certify_machine(estimate, plan.policy, failure_prob, fixed_in_advance),
        problem=estimate,
    )


def _for_trajectories(
    problem: TrajectoryProblem, planner: TrajectoryPlanner | None, failure_prob: float, seed: int
) -> ExploredPlan:
    histories, reward = Histories(problem.dataset, problem.horizon), problem.reward
    planner = planner or _default_planner(histories, reward, seed)
    policy, alpha = planner.plan(histories, reward)
    value = histories.value(policy, reward, failure_prob=failure_prob, seed=seed)
    certificate = certify_history(problem.dataset, reward.bound, alpha, problem.horizon, failure_prob)
    return ExploredPlan(policy, value, alpha, planner.name, certificate, problem)


def _default_planner(histories: Histories, reward: TrajectoryReward, seed: int) -> TrajectoryPlanner:
    exact = ExpectimaxPlanner()
    if exact.fits(histories):
        return exact
    return GreedyPlanner() if isinstance(reward, CoverageReward) else SearchPlanner(seed=seed)


SAYS_LITTLE = "it says little about this plan"


@dataclass(frozen=True, eq=False)
class MachineReport:
    """A machine: its plan, its likely loss (None if memory is too small for it), and the truth where it is known."""

    name: str
    plan: ExploredPlan
    likely: LikelyLoss | None
    optimum: float | None = None
    true_value: float | None = None

    def exceeds_value(self, bound: float) -> bool:
        """Tell whether a bound on the loss is more than the plan's own value in p̂, above the least that can be paid."""
        return bound > self.plan.value.value - self.least

    @property
    def least(self) -> float:
        """The least that an episode can pay."""
        return float(self.plan.problem.values_from_unit(0.0))  # type: ignore[union-attr]

    def text(self) -> str:
        """Describe in a few lines what is proven, what is likely, and whether either says much."""
        lines = [self.plan.certificate.text(self.plan.dataset)]
        if self.exceeds_value(self.plan.certificate.bound):
            lines.append(f"the proven bound exceeds the plan's own value, {self.plan.value.value:.4g}: {SAYS_LITTLE}")
        if self.likely is None:
            lines.append("no likely loss: there is not enough memory for a label of every (o, a, o')")
            return "\n".join(lines)
        lines.append(self.likely.text())
        if self.exceeds_value(self.likely.loss):
            lines.append(f"the likely loss exceeds the plan's own value, {self.plan.value.value:.4g}: {SAYS_LITTLE}")
        return "\n".join(lines)


def machine_reports(
    dataset: Dataset,
    machines: Mapping[str, RewardMachine],
    truth: Task | None,
    *,
    horizon: int | None = None,
    discount: float | None = None,
    failure_prob: float = 0.05,
    fixed_in_advance: bool = False,
    draws: int = DRAWS,
    seed: int = 0,
    on_progress: Callable[[str], OnProgress] | None = None,
) -> list[MachineReport]:
    """Plan for each machine; all certificates hold together with probability 1 − ρ.

    Those for any machine and for recorded ones do so as they are; among machines that are vouched for ρ is divided.
    Likely losses hold one by one, from the same seed. ``on_progress`` takes a machine's name and returns a callback for
    its draws.
    """
    require_draws(draws)
    require_fraction("failure_prob", failure_prob)
    if truth is not None:
        dataset.require_sizes_of(truth)
    rows = []
    each = failure_prob / len(machines) if fixed_in_advance else failure_prob
    for name, machine in machines.items():
        length: Any = {"horizon": horizon, "discount": discount}
        plan = plan_from(dataset, machine, **length, failure_prob=each, fixed_in_advance=fixed_in_advance)
        likely = _likely(plan, draws, seed, None if on_progress is None else on_progress(name))
        if truth is None:
            rows.append(MachineReport(name, plan, likely))
            continue
        rows.append(MachineReport(name, plan, likely, plan.optimum(truth), plan.true_value(truth).value))
    return rows


def _likely(plan: ExploredPlan, draws: int, seed: int, on_draw: OnProgress | None) -> LikelyLoss | None:
    try:
        return plan.likely(draws=draws, seed=seed, on_draw=on_draw)
    except SizeError:  # the plan and its certificate need far less memory, and are there
        return None


def joint_failure_prob(rows: list[MachineReport]) -> float:
    """Return a bound on the probability that any of the certificates fails.

    All but those vouched for share one event.
    """
    certificates = [row.plan.certificate for row in rows]
    vouched = math.fsum(item.failure_prob for item in certificates if item.scope is Scope.VOUCHED)
    return vouched + max((item.failure_prob for item in certificates if item.scope is not Scope.VOUCHED), default=0.0)
