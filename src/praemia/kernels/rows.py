"""Continuation rows: the worth of each (label, next observation), in every machine state (see the package)."""

from __future__ import annotations

from numba import njit

from praemia.kernels.arrays import Floats, MachineArrays, SmallInts


@njit(cache=True)
def fill_extra_rows(
    table: Floats,
    num_observations: int,
    row_labels: SmallInts,
    row_targets: SmallInts,
    machine: MachineArrays,
) -> None:
    """Fill table[O + x, m] = Σ_m' τ(m'|m, label_x)(ν̄ + table[z_x, m']); the first O rows hold V."""
    num_states = table.shape[1]
    indptr, targets, probs, rewards = machine.indptr, machine.targets, machine.probs, machine.rewards
    for x in range(row_labels.shape[0]):
        first = row_labels[x] * num_states
        z = row_targets[x]
        for m in range(num_states):
            total = 0.0
            for j in range(indptr[first + m], indptr[first + m + 1]):
                total += probs[j] * (rewards[j] + table[z, targets[j]])
            table[num_observations + x, m] = total
