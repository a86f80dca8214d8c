"""The most and the least that a machine can pay from each step on, whatever happens in the environment."""

from __future__ import annotations

from functools import partial
from math import fsum

import numpy as np
from numpy.typing import NDArray

from praemia.arithmetic import steps_left
from praemia.kernels.records import END
from praemia.machines.machine import RewardMachine
from praemia.machines.rules import Outcome
from praemia.tasks.machine_table import MachineTable
from praemia.tasks.spec import TaskSpec


def extremes(
    machine: RewardMachine, horizon: int, discount: float, *, can_end: bool, sign: float = 1.0
) -> NDArray[np.float64]:
    """Return the most that a machine can pay on average from step h on, whatever the labels: [H + 1, M].

    The least for a ``sign`` of −1. Where an episode can end, an idle machine may pay for all that is left of it.
    """
    idle = sign * machine.idle_reward.mean * steps_left(horizon, discount)
    table = np.zeros((horizon + 1, machine.num_states))
    for h in range(horizon - 1, -1, -1):
        later = np.maximum(table[h + 1], idle[h + 1]) if can_end else table[h + 1]
        after = dict(zip(machine.states, (discount * later).tolist(), strict=True))
        table[h] = machine.diagrams.highest(partial(_gain, after, sign))
    return sign * table


def _gain(after: dict[str, float], sign: float, outcomes: tuple[Outcome, ...]) -> float:
    """Return what outcomes pay on average, with the sign, and what follows them."""
    return fsum(out.probability * (sign * out.reward.mean + after[out.target]) for out in outcomes)


def least_to_earn(spec: TaskSpec, table: MachineTable) -> NDArray[np.float64]:
    """Return the least that the machine can pay on average from each step on, whatever of its labels occur: [H, M]."""
    rows = np.repeat(np.arange(len(table.indptr) - 1), np.diff(table.indptr))
    paid = np.bincount(rows, table.probs * table.rewards, len(table.indptr) - 1)
    least = np.zeros((spec.horizon + 1, spec.num_machine_states))
    for h in range(spec.horizon - 1, -1, -1):
        ended, later = spec.exits[h + 1, END], spec.discount * least[h + 1]
        later = np.where(spec.is_done, ended, np.minimum(later, ended) if spec.can_end else later)
        by_label = paid + np.bincount(rows, table.probs * later[table.targets], len(paid))
        least[h] = by_label.reshape(-1, spec.num_machine_states).min(axis=0)
    return least[:-1]
