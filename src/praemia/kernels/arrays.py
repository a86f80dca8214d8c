"""The bundles of arrays that kernels take: a sparse model with its labels, and a machine on those labels."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
SmallInts: TypeAlias = NDArray[np.int32]
Unsigned: TypeAlias = NDArray[np.uint32]
Actions: TypeAlias = NDArray[Any]  # of the type that ``action_type`` says


def action_type(num_actions: int) -> type[np.int8] | type[np.int16]:
    """Return the smallest type that holds every action: policies are the largest arrays there are."""
    return np.int8 if num_actions <= 128 else np.int16


LANES = 4  # vector instructions work on so many machine states at once


def padded_width(num_states: int) -> int:
    """Return the number of columns of a table: the next multiple of four."""
    return (num_states + LANES - 1) // LANES * LANES


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
    """τ and φ of a machine by layers (``praemia.kernels.rows``), with a number for each of the W columns of a table."""

    indptr: Ints  # [L + 1], the layers of each label
    common: SmallInts  # [N], the target that all machine states share, or −1
    targets: Unsigned  # [N·W], flat
    probs: Floats  # [N·W], flat
    paid: Floats  # [L·W], flat: φ, or zeros where only τ is wanted
