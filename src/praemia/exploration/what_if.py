"""Plan for several machines from the same data, and compare with the truth where it is known."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations, zip_longest

from praemia.errors import ModelError, ParameterError, SizeError
from praemia.exploration.certificate import Scope
from praemia.exploration.dataset import Dataset
from praemia.exploration.likely_loss import DRAWS, LikelyLoss, OnDraw, require_draws
from praemia.exploration.plan_from import ExploredPlan, plan_from
from praemia.machines.builder import MachineBuilder
from praemia.machines.formula import quoted
from praemia.machines.machine import RewardMachine
from praemia.planning.exact import evaluate, solve
from praemia.tasks.task import Task

MOST = 10


def machine_family(propositions: Sequence[str], most: int = MOST) -> dict[str, RewardMachine]:
    """Return some machines by name; at least six over any propositions.

    For each p: reaching it, every step with it, avoiding it, having it twice or three times, an unreliable p. For each
    ordered pair: p then q, patrolling between them, p then q where the step on p may fail.
    """
    names = sorted(propositions)
    if not names:
        raise ModelError("the labels of this data have no propositions, so no machine can tell anything apart")
    singles = [_single(p) for p in names]
    pairs = [_double(p, q) for p, q in permutations(names, 2)]
    # One of each kind, then the second of each kind, …: few machines are still of many kinds.
    kinds = [*zip(*pairs, strict=True), *zip(*singles, strict=True)]
    kinds = [kind[i % len(kind) :] + kind[: i % len(kind)] for i, kind in enumerate(kinds)]
    rounds = [item for group in zip_longest(*kinds) for item in group if item is not None]
    return {name: builder.build() for name, builder in rounds[:most]}


def _single(name: str) -> list[tuple[str, MachineBuilder]]:
    builder, p = MachineBuilder, quoted(name)
    return [
        (f"reach {name}", builder("seek").edge("seek", p, "done", reward=1)),
        (f"every {name}", builder("go").edge("go", p, "go", reward=1)),
        (f"never {name}", builder("safe").edge("safe", f"!{p}", "safe", reward=0.1).edge("safe", p, "lost")),
        (f"{name} twice", builder("0").edge("0", p, "1").edge("1", p, "2", reward=1)),
        (f"{name}, three times", builder("0").edge("0", p, "1").edge("1", p, "2").edge("2", p, "3", reward=1)),
        (
            f"unreliable {name}",
            builder("try").edge("try", p, "done", probability=0.5, reward=1).edge("try", p, "try", probability=0.5),
        ),
    ]


def _double(first: str, second: str) -> list[tuple[str, MachineBuilder]]:
    builder, p, q = MachineBuilder, quoted(first), quoted(second)
    return [
        (f"{first} then {second}", builder("a").edge("a", p, "b").edge("b", q, "done", reward=1)),
        (f"patrol {first}, {second}", builder("a").edge("a", p, "b", reward=0.5).edge("b", q, "a", reward=0.5)),
        (
            f"{first} (0.7) then {second}",
            builder("a")
            .edge("a", p, "b", probability=0.7)
            .edge("a", p, "a", probability=0.3)
            .edge("b", q, "done", reward=1),
        ),
    ]


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
        return self.plan.horizon * self.plan.reward.reward_range.low  # type: ignore[union-attr]

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
    failure_prob: float = 0.05,
    fixed_in_advance: bool = False,
    draws: int = DRAWS,
    seed: int = 0,
    on_progress: Callable[[str], OnDraw] | None = None,
) -> list[MachineReport]:
    """Plan for each machine; all certificates hold together with probability 1 − ρ.

    Those for any machine and for recorded ones do so as they are; among machines that are vouched for ρ is divided.
    Likely losses hold one by one, from the same seed. ``on_progress`` takes a machine's name and returns a callback for
    its draws.
    """
    require_draws(draws)
    if not 0.0 < failure_prob < 1.0:
        raise ParameterError(f"failure_prob={failure_prob!r}; expected a number between 0 and 1")
    if truth is not None:
        require_same_sizes(dataset, truth)
    rows = []
    each = failure_prob / len(machines) if fixed_in_advance else failure_prob
    for name, machine in machines.items():
        plan = plan_from(dataset, machine, horizon=horizon, failure_prob=each, fixed_in_advance=fixed_in_advance)
        likely = _likely(plan, draws, seed, None if on_progress is None else on_progress(name))
        if truth is None:
            rows.append(MachineReport(name, plan, likely))
            continue
        task = truth.with_machine(machine).with_horizon(plan.horizon)
        own = evaluate(task, plan.policy, keep_values=False).value  # type: ignore[arg-type]
        rows.append(MachineReport(name, plan, likely, solve(task, keep_values=False).value, own))
    return rows


def _likely(plan: ExploredPlan, draws: int, seed: int, on_draw: OnDraw | None) -> LikelyLoss | None:
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


def require_same_sizes(dataset: Dataset, task: Task) -> None:
    """Refuse to compare data with another task than its own."""
    sizes = (dataset.num_observations, dataset.num_actions)
    if sizes != (task.num_observations, task.num_actions):
        raise ModelError(
            f"data of {sizes[0]} observations and {sizes[1]} actions; the task {task.name!r} has "
            f"{task.num_observations} and {task.num_actions}"
        )
