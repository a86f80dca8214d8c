"""The most and the least that a machine can pay from each step on, whatever happens in the environment."""

from __future__ import annotations

from functools import partial
from math import fsum

import numpy as np
from numpy.typing import NDArray

from praemia.kernels.records import END
from praemia.machines.machine import RewardMachine
from praemia.machines.rules import Outcome
from praemia.tasks.machine_table import MachineTable
from praemia.tasks.spec import TaskSpec


def extremes(spec: TaskSpec, table: MachineTable | None = None, *, sign: float = 1.0) -> NDArray[np.float64]:
    """Return the most that the machine can pay on average from step h on: [H + 1, M]; the least for a ``sign`` of −1.

    It may be any label that comes at each step, or with a ``table`` any of its labels. Where an episode can end, an
    idle machine may pay for all that is left of it.
    """
    best = np.zeros((spec.horizon + 1, spec.num_machine_states))
    for h in range(spec.horizon - 1, -1, -1):
        ended, later = sign * spec.exits[h + 1, END], spec.discount * best[h + 1]
        later = np.where(spec.is_done, ended, np.maximum(later, ended) if spec.can_end else later)
        best[h] = _on_any_label(spec.machine, later, sign) if table is None else _on_labels(table, later, sign)
    return sign * best


def _on_labels(table: MachineTable, later: NDArray[np.float64], sign: float) -> NDArray[np.float64]:
    """Return the most that a step pays in each machine state, with what follows it, on the labels of a table."""
    followed = np.bincount(table.rows, table.probs * later[table.targets], len(table.indptr) - 1)
    gains = sign * table.mean_rewards + followed.reshape(table.mean_rewards.shape)
    best: NDArray[np.float64] = gains.max(axis=0)
    return best


def _on_any_label(machine: RewardMachine, later: NDArray[np.float64], sign: float) -> list[float]:
    """Return the same over all labels, without a table of them: there may be very many."""
    after = dict(zip(machine.states, later.tolist(), strict=True))
    return machine.diagrams.highest(partial(_gain, after, sign))


def _gain(after: dict[str, float], sign: float, outcomes: tuple[Outcome, ...]) -> float:
    """Return what outcomes pay on average, with the sign, and what follows them."""
    return fsum(out.probability * (sign * out.reward.mean + after[out.target]) for out in outcomes)
