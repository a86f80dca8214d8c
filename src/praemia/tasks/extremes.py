"""The largest and smallest mean return of a machine from each step on, over all that can happen in the environment."""

from __future__ import annotations

from math import fsum

import numpy as np
from numpy.typing import NDArray

from praemia.kernels.records import END
from praemia.machines.machine import RewardMachine
from praemia.machines.rules import Outcomes
from praemia.tasks.machine_table import MachineTable
from praemia.tasks.spec import TaskSpec


def extremes(spec: TaskSpec, table: MachineTable | None = None, *, sign: float = 1.0) -> NDArray[np.float64]:
    """Return the largest mean return of the machine from step h on, [H + 1, M]; the smallest for a ``sign`` of −1.

    Each step may have any label, or with a ``table`` any of its labels. Where an episode can end, idle rewards may
    follow for the steps left.
    """
    best = np.zeros((spec.horizon + 1, spec.num_machine_states))
    for h in range(spec.horizon - 1, -1, -1):
        ended, later = sign * spec.exits[h + 1, END], spec.discount * best[h + 1]
        later = np.where(spec.is_done, ended, np.maximum(later, ended) if spec.can_end else later)
        if table is None:
            best[h] = _on_any_label(spec.machine, later, sign)
        else:
            followed = np.bincount(table.rows, table.probs * later[table.targets], len(table.indptr) - 1)
            best[h] = (sign * table.mean_rewards + followed.reshape(table.mean_rewards.shape)).max(axis=0)
    return sign * best


def _on_any_label(machine: RewardMachine, later: NDArray[np.float64], sign: float) -> list[float]:
    """Return the largest mean reward and value that follows over all labels, too many perhaps for a table."""
    after = dict(zip(machine.states, later.tolist(), strict=True))

    def gain(outcomes: Outcomes) -> float:
        return fsum(out.probability * (sign * out.reward.mean + after[out.target]) for out in outcomes)

    return machine.diagrams.highest(gain)
