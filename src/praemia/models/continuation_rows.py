"""Continuation rows: which ones a task needs, and the machine in the form from which they are filled.

See ``praemia.kernels`` for what they are and ``praemia.kernels.continuation_rows`` for how they are filled.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from praemia.kernels.arrays import LayerArrays

# A layer in which every machine state has its own target takes about so many times as long as one with a common target.
COST_OF_OWN_TARGETS = 3


def continuation_rows(
    labels: NDArray[np.int32], successors: NDArray[np.int32], plain: NDArray[np.bool_], num_observations: int
) -> tuple[NDArray[np.uint32], NDArray[np.int32], NDArray[np.int32]]:
    """Number the distinct (label, successor) whose label is not plain, from ``num_observations`` on.

    An edge with a plain label continues with its successor's own row.
    """
    active = ~plain[labels]
    # In the order of the successors: what neighbours lead to is then near in memory.
    keys = successors[active].astype(np.int64) * len(plain) + labels[active]
    distinct, numbers = np.unique(keys, return_inverse=True)
    rows = successors.astype(np.uint32)
    rows[active] = num_observations + numbers
    row_targets, row_labels = np.divmod(distinct, len(plain))
    return rows, row_labels.astype(np.int32), row_targets.astype(np.int32)


def build_layers(
    indptr: NDArray[np.int64], targets: NDArray[np.int32], probs: NDArray[np.float64], num_states: int, width: int
) -> LayerArrays:
    """Lay out τ, whose row label · M + m holds the edges indptr[row] : indptr[row + 1]; nothing is paid.

    A label gets as many layers as one of its machine states has outcomes, or one for each target if that is less work.
    """
    lengths = np.diff(indptr)
    num_labels = len(lengths) // num_states
    row = np.repeat(np.arange(len(lengths)), lengths)
    label, m = np.divmod(row, num_states)
    own_count = lengths.reshape(num_labels, num_states).max(axis=1)
    reached, number = np.unique(label * num_states + targets, return_inverse=True)
    common_count = np.bincount(reached // num_states, minlength=num_labels)
    shares = common_count < COST_OF_OWN_TARGETS * own_count

    starts = _offsets(np.where(shares, common_count, own_count))
    place = np.where(shares[label], number - _offsets(common_count)[label], np.arange(len(row)) - indptr[row])
    layer = starts[label] + place
    common = np.full(starts[-1], -1, dtype=np.int32)
    common[layer[shares[label]]] = targets[shares[label]]
    layer_targets = np.zeros(starts[-1] * width, dtype=np.uint32)
    layer_targets[layer * width + m] = targets
    layer_probs = np.zeros(starts[-1] * width)
    np.add.at(layer_probs, layer * width + m, probs)
    return LayerArrays(starts, common, layer_targets, layer_probs, np.zeros(num_labels * width))


def paying(layers: LayerArrays, mean_rewards: NDArray[np.float64], width: int) -> LayerArrays:
    """Return the same layers with what is paid, φ[L, M]."""
    num_labels, num_states = mean_rewards.shape
    paid = np.zeros((num_labels, width))
    paid[:, :num_states] = mean_rewards
    return layers._replace(paid=paid.ravel())


def _offsets(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts, dtype=np.int64)))
