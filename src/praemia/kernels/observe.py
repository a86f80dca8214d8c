"""From counts on everything that can happen to the sparse counts of what did: all that a learner is shown."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from praemia.kernels.arrays import Floats, Ints, SmallInts, Unsigned
from praemia.kernels.compiling import compiled


class SeenArrays(NamedTuple):
    """The observed successors of the visited pairs. Slot v holds the entries indptr[v] : indptr[v + 1].

    ``rows`` is each entry's continuation row: its successor's own, or S + x for (row_labels[x], row_targets[x]) when
    its label moves the machine.
    """

    visits: Floats  # [V]
    indptr: Ints  # [V + 1]
    successors: SmallInts
    labels: SmallInts
    counts: Floats
    rows: Unsigned
    row_labels: SmallInts
    row_targets: SmallInts
    pairs: Ints  # [V]
    slots: SmallInts  # [S·A], −1 for a pair never visited
    active: SmallInts  # the states with a visited pair


@compiled()
def observe(
    visits: Ints,
    pairs: Ints,
    slots: SmallInts,
    active: SmallInts,
    entry_counts: Ints,
    entry_indptr: Ints,
    entry_successors: SmallInts,
    entry_labels: SmallInts,
    entry_rows: Unsigned,
    row_labels: SmallInts,
    row_targets: SmallInts,
    num_states: int,
) -> SeenArrays:
    """Gather the entries with a positive count, for the visited pairs; number the extra rows that they need.

    entry_rows[i] is the continuation row of entry i among all that can happen, with (row_labels, row_targets).
    """
    num_slots = pairs.shape[0]
    indptr = np.zeros(num_slots + 1, dtype=np.int64)
    seen_visits = np.empty(num_slots)
    for v in range(num_slots):
        found = 0
        for i in range(entry_indptr[pairs[v]], entry_indptr[pairs[v] + 1]):
            if entry_counts[i] > 0:
                found += 1
        indptr[v + 1] = indptr[v] + found
        seen_visits[v] = visits[pairs[v]]
    size = indptr[num_slots]
    successors = np.empty(size, dtype=np.int32)
    labels = np.empty(size, dtype=np.int32)
    counts = np.empty(size)
    rows = np.empty(size, dtype=np.uint32)
    number = np.full(row_labels.shape[0], -1, dtype=np.int32)
    chosen = np.empty(row_labels.shape[0], dtype=np.int32)
    extra = 0
    k = 0
    for v in range(num_slots):
        for i in range(entry_indptr[pairs[v]], entry_indptr[pairs[v] + 1]):
            if entry_counts[i] > 0:
                successors[k] = entry_successors[i]
                labels[k] = entry_labels[i]
                counts[k] = entry_counts[i]
                row = entry_rows[i]
                if row >= num_states:
                    x = row - num_states
                    if number[x] < 0:
                        number[x] = extra
                        chosen[extra] = x
                        extra += 1
                    row = num_states + number[x]
                rows[k] = row
                k += 1
    used = chosen[:extra]
    return SeenArrays(
        seen_visits, indptr, successors, labels, counts, rows, row_labels[used], row_targets[used], pairs, slots, active
    )  # fmt: skip
