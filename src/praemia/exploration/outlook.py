"""What several machines would get from the same data, beside the truth where it is known."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from praemia.errors import ModelError, ParameterError
from praemia.exploration.certificate import VOUCHED
from praemia.exploration.dataset import Dataset
from praemia.exploration.plan_from import ExploredPlan, plan_from
from praemia.models.machine import RewardMachine
from praemia.models.task import Task
from praemia.planning.exact import evaluate, solve


@dataclass(frozen=True, eq=False)
class Row:
    """A machine: its plan, and what is true of it where the truth is known."""

    name: str
    plan: ExploredPlan
    optimum: float | None = None
    true_value: float | None = None


def plan_rows(
    dataset: Dataset,
    machines: Mapping[str, RewardMachine],
    truth: Task | None,
    *,
    horizon: int | None = None,
    failure_prob: float = 0.05,
    fixed_in_advance: bool = False,
) -> list[Row]:
    """Plan for each machine; all certificates hold together with probability 1 − ρ.

    Those for any machine and for recorded ones do so as they are; among machines that are vouched for ρ is divided.
    """
    if not 0.0 < failure_prob < 1.0:
        raise ParameterError(f"failure_prob={failure_prob!r}; expected a number between 0 and 1")
    if truth is not None:
        require_same_sizes(dataset, truth)
    rows = []
    each = failure_prob / len(machines) if fixed_in_advance else failure_prob
    for name, machine in machines.items():
        plan = plan_from(dataset, machine, horizon=horizon, failure_prob=each, fixed_in_advance=fixed_in_advance)
        if truth is None:
            rows.append(Row(name, plan))
            continue
        task = truth.with_machine(machine).with_horizon(plan.horizon)
        own = evaluate(task, plan.policy, keep_values=False).value  # type: ignore[arg-type]
        rows.append(Row(name, plan, solve(task, keep_values=False).value, own))
    return rows


def joint_failure_prob(rows: list[Row]) -> float:
    """Return the probability with which any of the certificates may fail.

    All but those vouched for share one event.
    """
    certificates = [row.plan.certificate for row in rows]
    vouched = math.fsum(item.failure_prob for item in certificates if item.holds_for == VOUCHED)
    return vouched + max((item.failure_prob for item in certificates if item.holds_for != VOUCHED), default=0.0)


def require_same_sizes(dataset: Dataset, task: Task) -> None:
    """Refuse to compare data with another task than its own."""
    sizes = (dataset.num_observations, dataset.num_actions)
    if sizes != (task.num_observations, task.num_actions):
        raise ModelError(
            f"data of {sizes[0]} observations and {sizes[1]} actions; the task {task.name!r} has "
            f"{task.num_observations} and {task.num_actions}"
        )
