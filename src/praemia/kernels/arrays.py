"""The bundles of arrays that kernels take: a sparse model with its labels, and a machine on those labels."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
SmallInts: TypeAlias = NDArray[np.int32]
Unsigned: TypeAlias = NDArray[np.uint32]
Whole: TypeAlias = int | np.signedinteger[Any]
Actions: TypeAlias = NDArray[Any]  # of the type that ``action_type`` returns


def action_type(num_actions: int) -> type[np.int8] | type[np.int16]:
    """Return the smallest type that holds every action: policies are the largest arrays there are."""
    return np.int8 if num_actions <= 128 else np.int16


EXACT_LANES = 4  # exact planning works on multiples of this many machine states


def lanes_for(num_states: int) -> int:
    """Return how many machine states a learner's plan works on at a time."""
    return 1 if num_states == 1 else 4 if num_states <= 4 else 8


def padded_width(num_states: int, lanes: int = EXACT_LANES) -> int:
    """Return the number of columns of a table: the next multiple of the lanes."""
    return (num_states + lanes - 1) // lanes * lanes


class MachineArrays(NamedTuple):
    """τ and the mean rewards ν̄. Row label · M + m holds the edges indptr[row] : indptr[row + 1]."""

    indptr: Ints
    targets: SmallInts
    probs: Floats
    rewards: Floats


class ModelArrays(NamedTuple):
    """p with its labels. Row o · A + a holds the edges indptr[row] : indptr[row + 1].

    ``rows`` is each edge's continuation row; row O + x belongs to (row_labels[x], row_targets[x]).
    """

    indptr: Ints
    successors: SmallInts
    probs: Floats
    labels: SmallInts
    rows: Unsigned  # unsigned: a signed index costs a test for "from the end" at every edge
    row_labels: SmallInts
    row_targets: SmallInts


class LayerArrays(NamedTuple):
    """τ and φ of a machine by layers (``praemia.kernels.continuation_rows``), a number for each column of a table."""

    indptr: Ints  # [L + 1], the layers of each label
    common: SmallInts  # [N], the target that all machine states share, or −1
    targets: Unsigned  # [N·W], flat
    probs: Floats  # [N·W], flat
    paid: Floats  # [L·W], flat: φ, or zeros where only τ is needed


class EveryRow(NamedTuple):
    """The continuation row of every (o, a, o'), whether or not it was seen; empty for learners that do not need it."""

    own: Unsigned  # [O·A, O]
    row_labels: SmallInts  # [X]
    row_targets: SmallInts  # [O + X], also those of the first O rows


class Outlook(NamedTuple):
    """Which (label, next observation) can follow which pair, as far as the labelling alone tells.

    The pairs that allow the same labels form a group. Label l can lead to targets[indptr[l] : indptr[l + 1]].
    """

    groups: SmallInts  # [O·A]
    group_indptr: Ints  # [G + 1]
    group_labels: SmallInts
    indptr: Ints  # [L + 1]
    targets: SmallInts
    layers: LayerArrays  # the machine on these labels
