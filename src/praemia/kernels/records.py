"""The bundles of arrays that kernels take: a model, a machine, what was counted.

Observations are those of the task that a learner sees. A pair is o · A + a. A continuation row (``praemia.kernels``) is
an observation's own, O + e for an exit, or O + NUM_EXITS + x for the x-th of a list of ``ROW``.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
SmallInts: TypeAlias = NDArray[np.int32]
Bools: TypeAlias = NDArray[np.bool_]
Unsigned: TypeAlias = NDArray[np.uint32]
Records: TypeAlias = NDArray[np.void]
Whole: TypeAlias = Any  # an integer, of Python or of NumPy
Actions: TypeAlias = NDArray[Any]  # of the type that ``action_type`` returns


def action_type(num_actions: int) -> type[np.int8] | type[np.int16]:
    """Return the smallest type that holds every action: policies are the largest arrays there are."""
    return np.int8 if num_actions <= 128 else np.int16


LANES = 4  # machine states that kernels compute at a time; tables have a multiple of so many columns


def padded_width(num_machine_states: int) -> int:
    """Return the number of columns of a table: the next multiple of the lanes."""
    return (num_machine_states + LANES - 1) // LANES * LANES


# Exits, whose rows follow those of the observations: the episode has ended; what follows is not known.
END, UNKNOWN = 0, 1
NUM_EXITS = 2
SMALLEST = 1e-300  # no weight that is sampled is 0, so that rows can be divided by their sums


def _record(**fields: str) -> np.dtype[np.void]:
    return np.dtype(list(fields.items()), align=True)


# The continuation row of (label, target). A target from O on stands for the end of the episode.
ROW = _record(label="i4", target="i4")


def rows_of(labels: Any, targets: Any) -> Records:
    """Return continuation rows as records."""
    rows = np.zeros(len(labels), dtype=ROW)
    rows["label"], rows["target"] = labels, targets
    return rows


# A piece of a reward's distribution: a number, or an interval from ``value`` on. ``sum`` is the running sum of
# probabilities.
REWARD = _record(sum="f8", value="f8", width="f8")


class ModelArrays(NamedTuple):
    """p with its labels. Row o · A + a holds the edges indptr[row] : indptr[row + 1].

    A successor from O on is an exit. ``rows`` is each edge's continuation row; row O + NUM_EXITS + x is that of
    extra_rows[x].
    """

    indptr: Ints
    successors: SmallInts
    probs: Floats
    labels: SmallInts
    rows: Unsigned  # unsigned: a signed index costs a test for "from the end" at every edge
    extra_rows: Records


class LayerArrays(NamedTuple):
    """τ and φ of a machine by layers (``praemia.kernels.rows``), a number for each column of a table."""

    indptr: Ints  # [L + 1], the layers of each label
    common: SmallInts  # [N], the target that all machine states share, or −1
    targets: Unsigned  # [N·W], flat
    probs: Floats  # [N·W], flat
    paid: Floats  # [L·W], flat: φ, or zeros where only τ is needed


class EveryRow(NamedTuple):
    """The continuation row of every successor of every pair, seen or not."""

    own: Unsigned  # [O·A, O], or [O·A, 2·O] where episodes may end: O + o' is the end in o'
    rows: Records  # [O + NUM_EXITS + X], also those of the first ones, whose label means nothing

    @classmethod
    def of(cls, own: Unsigned, extra_rows: Records, num_observations: int) -> EveryRow:
        """Return the rows, those of the observations themselves and of the exits before the extra ones."""
        firsts = np.append(np.arange(num_observations), np.zeros(NUM_EXITS, dtype=np.int64))
        return cls(own, np.concatenate((rows_of(np.zeros(len(firsts)), firsts), extra_rows)))


class LabelSupport(NamedTuple):
    """Which (label, next observation) can follow which pair, as far as the labelling alone tells.

    The pairs that allow the same labels form a group. Label l can lead to targets[indptr[l] : indptr[l + 1]]; O is
    the end of the episode.
    """

    groups: SmallInts  # [O·A]
    group_indptr: Ints  # [G + 1]
    group_labels: SmallInts
    indptr: Ints  # [L + 1]
    targets: SmallInts
    layers: LayerArrays  # the machine on these labels
