"""Continuation rows: the worth of each (label, next observation), in every machine state (see the package)."""

from __future__ import annotations

from numba import njit

from praemia.kernels.arrays import Floats, MachineArrays, SmallInts


@njit(cache=True, nogil=True)
def fill_extra_rows(
    table: Floats, num_observations: int, row_labels: SmallInts, row_targets: SmallInts, machine: MachineArrays
) -> None:
    """Fill table[O + x, m] = Σ_m' τ(m'|m, label_x)(ν̄ + table[z_x, m']); the first O rows hold V."""
    fill_some_rows(table, num_observations, row_labels, row_targets, machine, table.shape[1], 0, row_labels.shape[0])


@njit(cache=True, nogil=True)
def fill_some_rows(
    table: Floats,
    num_observations: int,
    row_labels: SmallInts,
    row_targets: SmallInts,
    machine: MachineArrays,
    num_states: int,
    first: int,
    last: int,
) -> None:
    """Fill the extra rows first … last − 1, in a table whose columns beyond the machine states are not looked at."""
    indptr, targets, probs, rewards = machine.indptr, machine.targets, machine.probs, machine.rewards
    for x in range(first, last):
        start = row_labels[x] * num_states
        z = row_targets[x]
        for m in range(num_states):
            total = 0.0
            for j in range(indptr[start + m], indptr[start + m + 1]):
                total += probs[j] * (rewards[j] + table[z, targets[j]])
            table[num_observations + x, m] = total
