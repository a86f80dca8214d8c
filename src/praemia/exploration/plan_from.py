"""Plan from data (Algorithm 4): p̂, an α-approximate planner, and a certificate for the true environment."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia._support.activity import OnProgress
from praemia._support.text_tables import plural
from praemia.errors import ModelError, PraemiaWarning, require_whole
from praemia.exploration.certificate import Certificate, certify_history, certify_machine
from praemia.exploration.dataset import Dataset
from praemia.exploration.estimate import Estimate
from praemia.exploration.likely_loss import DRAWS, LEVEL, LikelyLoss, likely_loss
from praemia.exploration.trajectories import SIMULATIONS, SearchPolicy, TrajectoryReward
from praemia.machines.machine import RewardMachine
from praemia.planning.exact import evaluate, solve
from praemia.tasks.base import MAX_HORIZON
from praemia.tasks.task import Task

MAX_SIMULATIONS = 10**9


@dataclass(frozen=True, eq=False)
class ExploredPlan:
    """A plan made from data.

    Attributes
    ----------
    policy : integers [H, M, O] for a machine; for a reward on trajectories a policy over histories, whose
        ``action_probs(history)`` are float64[A].
    value : its value in p̂: exact for a machine, else an estimate within ``alpha``. A pair never visited has the
        smallest return of the machine from then on.
    alpha : an upper bound on the gap to the best plan in p̂.
    certificate : the proven upper bound on the gap to the optimum of the true environment.
    dataset : what it was made from.
    estimate : p̂ with the machine; None for a reward on trajectories.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.riverswim()
    >>> data = praemia.explore(task, num_episodes=500, seed=0)
    >>> plan = praemia.plan_from(data, task.machine)
    >>> plan.policy.shape, plan.alpha
    ((10, 2, 5), 0.0)
    """

    policy: NDArray[Any] | SearchPolicy
    value: float
    alpha: float
    certificate: Certificate
    dataset: Dataset
    estimate: Estimate | None = None

    @property
    def never_seen(self) -> tuple[str, ...]:
        """The propositions that the machine reads and no transition of the data has."""
        return self.estimate.never_seen if self.estimate else ()

    @cached_property
    def likely_loss(self) -> float | None:
        """Bayesian: with probability 0.95 under the posterior the loss is at most this.

        None for a reward on trajectories. Computed when first used.
        """
        likely = self.likely()
        return None if likely is None else likely.loss

    def likely(
        self, *, draws: int = DRAWS, level: float = LEVEL, seed: int = 0, on_progress: OnProgress | None = None
    ) -> LikelyLoss | None:
        """Return the likely loss with its details: draws, seed, Monte-Carlo error; None for rewards on trajectories.

        Parameters
        ----------
        draws : environments sampled from the posterior. level : the probability under the posterior.
        on_progress : called with the number of draws so far and in total.
        """
        if self.estimate is None:
            return None
        policy: NDArray[Any] = self.policy  # type: ignore[assignment]
        return likely_loss(self.estimate, policy, draws=draws, level=level, seed=seed, on_progress=on_progress)

    def gap(self, task: Task) -> float:
        """Return the true loss in a known task, for a machine: the optimum there less the plan's value."""
        return self.optimum(task) - self.true_value(task)

    def optimum(self, task: Task) -> float:
        """Return V* of the machine in a known task."""
        return solve(self._in_task(task), keep_values=False).value

    def true_value(self, task: Task) -> float:
        """Return the plan's exact value in a known task."""
        return evaluate(self._in_task(task), self.policy, keep_values=False).value

    def _in_task(self, task: Task) -> Task:
        """Return a known task with the machine, the labels, the horizon and the discount of the plan."""
        estimate, labelling = self.estimate, self.dataset.labelling
        if estimate is None:
            raise ModelError("plans for machines are compared with a known task; this one is for trajectories")
        self.dataset.require_sizes_of(task)
        mdp = task.mdp if labelling is None else replace(task.mdp, labelling=labelling)
        machine = estimate.machine.over(sorted(frozenset().union(*mdp.label_sets)))
        return replace(task, mdp=mdp, machine=machine, horizon=estimate.horizon, discount=estimate.discount)

    def __repr__(self) -> str:
        sure, never = self.certificate, ""
        if self.never_seen:
            never = f"; the data never saw {', '.join(self.never_seen)}"
        return (
            f"ExploredPlan(value {self.value:.4g} from {plural(self.dataset.num_episodes, 'episode')}{never}; "
            f"loses at most {sure.bound:.4g} with probability {1.0 - sure.failure_prob:g})"
        )


def plan_from(
    dataset: Dataset,
    reward: RewardMachine | TrajectoryReward,
    *,
    horizon: int | None = None,
    discount: float | None = None,
    failure_prob: float = 0.05,
    simulations: int = SIMULATIONS,
    seed: int = 0,
) -> ExploredPlan:
    """Plan for a machine, or for any reward on trajectories, from explored data.

    The certificate holds for a machine, and for labels (``Dataset.with_labels``), chosen after looking at the data, and
    all certificates of one dataset hold together.

    Parameters
    ----------
    reward : a machine over the propositions of the data's labels, or a ``TrajectoryReward``.
    horizon : steps of an episode; that of the data by default.
    discount : γ, for a machine: a reward at step h counts γ^h times; that of the data by default. A reward on
        trajectories is not discounted.
    failure_prob : ρ, the probability that the certificate fails.
    simulations, seed : how many histories the search rolls out, for a reward on trajectories; plans for machines are
        exact.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.riverswim()
    >>> data = praemia.explore(task, num_episodes=500, seed=0)
    >>> machine = praemia.MachineBuilder("out").edge("out", "right-end", "done", reward=1).build()
    >>> plan = praemia.plan_from(data, machine)
    >>> bool(plan.gap(task) <= plan.certificate.bound)
    True
    """
    if isinstance(reward, RewardMachine):
        return _for_machine(Estimate.of(dataset, reward, horizon, discount), failure_prob)
    if not isinstance(reward, TrajectoryReward):
        raise ModelError(f"cannot plan for {type(reward).__name__}; expected a RewardMachine or a TrajectoryReward")
    if discount is not None:
        raise ModelError(f"discount={discount!r} is for machines; a reward on trajectories is taken as it is")
    steps = require_whole("horizon", dataset.horizon if horizon is None else horizon, 1, MAX_HORIZON)
    count = require_whole("simulations", simulations, 1, MAX_SIMULATIONS)
    policy = SearchPolicy(dataset, steps, reward, count, require_whole("seed", seed, 0))
    value = policy.value()
    alpha = value.upper - value.lower
    certificate = certify_history(dataset, reward.bound, alpha, steps, failure_prob)
    return ExploredPlan(policy, value.estimate, alpha, certificate, dataset)


def _for_machine(estimate: Estimate, failure_prob: float) -> ExploredPlan:
    plan = solve(estimate.model, keep_values=False)
    value = float(estimate.values_from_unit(plan.value))
    certificate = certify_machine(estimate, plan.policy, failure_prob)
    if estimate.never_seen and estimate.dataset.labelling is None:
        names = ", ".join(estimate.never_seen)
        warnings.warn(
            f"the data never saw {names}, which the machine reads: the plan and its likely loss take it to be "
            "impossible; explore more",
            PraemiaWarning,
            stacklevel=3,
        )
    return ExploredPlan(np.ascontiguousarray(plan.policy), value, 0.0, certificate, estimate.dataset, estimate)
