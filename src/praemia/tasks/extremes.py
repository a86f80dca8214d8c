"""The largest and smallest mean return of a machine from each step on, over all that can happen in the environment."""

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
    """Return the largest mean return of the machine from step h on, [H + 1, M]; the smallest for a ``sign`` of −1.

    Each step may have any label, or with a ``table`` any of its labels. Where an episode can end, idle rewards may
    follow for the steps left.
    """
    best = np.zeros((spec.horizon + 1, spec.num_machine_states))
    for h in range(spec.horizon - 1, -1, -1):
        ended, later = sign * spec.exits[h + 1, END], spec.discount * best[h + 1]
        later = np.where(spec.is_done, ended, np.maximum(later, ended) if spec.can_end else later)
        best[h] = _on_any_label(spec.machine, later, sign) if table is None else _on_labels(table, later, sign)
    return sign * best


def _on_labels(table: MachineTable, later: NDArray[np.float64], sign: float) -> NDArray[np.float64]:
    """Return the maximum over the labels of a table of the mean reward and the value that follows, float64[M]."""
    followed = np.bincount(table.rows, table.probs * later[table.targets], len(table.indptr) - 1)
    gains = sign * table.mean_rewards + followed.reshape(table.mean_rewards.shape)
    best: NDArray[np.float64] = gains.max(axis=0)
    return best


def _on_any_label(machine: RewardMachine, later: NDArray[np.float64], sign: float) -> list[float]:
    """Return the same over all labels, of which there may be too many for a table."""
    after = dict(zip(machine.states, later.tolist(), strict=True))
    return machine.diagrams.highest(partial(_gain, after, sign))


def _gain(after: dict[str, float], sign: float, outcomes: tuple[Outcome, ...]) -> float:
    """Return the mean of the reward, with the sign, and the value that follows."""
    return fsum(out.probability * (sign * out.reward.mean + after[out.target]) for out in outcomes)
