"""Continuation rows: the worth of each (label, next observation), in every machine state (see the package).

Filling them is the one place where the machine moves, and with many labels it is most of the work. A label's τ is kept
as *layers*, each with one target for every machine state: the row is what the label pays, plus layer after layer of
probability · V(z, target). Layers are of two kinds. In one, every machine state has its own target, and as many layers
are needed as a machine state has outcomes: good for sparse τ. In the other, all machine states share a target: good
for dense τ, where a target is read once for all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from praemia.kernels.arrays import Floats, LayerArrays, Outlook, SmallInts, Whole
from praemia.kernels.compiling import INTERNAL, compiled
from praemia.kernels.simd import gather, load, num_lanes, store


@compiled(nogil=True, **INTERNAL)
def copied(table: Floats, num_observations: int, num_states: int) -> Floats:
    """Return V alone, [O, M], out of a table. (A loop: assigning slices takes long to compile.)"""
    values = np.empty((num_observations, num_states))
    for o in range(num_observations):
        for m in range(num_states):
            values[o, m] = table[o, m]
    return values


@compiled(nogil=True, forceinline=True, **INTERNAL)
def continuation(
    zero: Any, layers: LayerArrays, label: Whole, flat: Floats, start: Whole, lane: int, width: int
) -> Any:
    """Return φ(m, label) + Σ_m' τ(m'|m, label)·V(m') from m = ``lane`` on; V begins at flat[start]."""
    total = load(zero, layers.paid, label * width + lane)
    for layer in range(layers.indptr[label], layers.indptr[label + 1]):
        at = layer * width + lane
        common = layers.common[layer]
        if common >= 0:
            total = total + load(zero, layers.probs, at) * flat[start + common]
        else:
            total = total + load(zero, layers.probs, at) * gather(zero, flat, start, layers.targets, at)
    return total


@compiled(nogil=True, forceinline=True, **INTERNAL)
def fill_rows(
    zero: Any,
    table: Floats,
    num_observations: int,
    row_labels: SmallInts,
    row_targets: SmallInts,
    layers: LayerArrays,
    rows: tuple[int, int],
    columns: tuple[int, int],
) -> None:
    """Fill table[O + x, m] = φ + Σ τ·table[z_x] for the rows x and the columns m in the ranges given.

    The first O rows hold V. As many machine states are done at a time as ``zero`` has lanes.
    """
    flat, width = table.reshape(-1), table.shape[1]
    for x in range(rows[0], rows[1]):
        label, start, here = row_labels[x], np.int64(row_targets[x]) * width, (num_observations + x) * width
        for lane in range(columns[0], columns[1], num_lanes(zero)):
            store(flat, here + lane, continuation(zero, layers, label, flat, start, lane, width))


@compiled(**INTERNAL)
def fill_tops(zero: Any, outlook: Outlook, worth: Floats, width: int, by_label: Floats, tops: Floats) -> None:
    """Fill tops (flat [G·W]), the largest φ + W that can follow a pair of each group; worth[o · W + m] is V_{h+1}."""
    for lane in range(0, width, num_lanes(zero)):
        for label in range(outlook.indptr.shape[0] - 1):
            first = outlook.indptr[label]
            best = zero - np.inf
            for i in range(first, outlook.indptr[label + 1]):
                start = np.int64(outlook.targets[i]) * width
                value = continuation(zero, outlook.layers, label, worth, start, lane, width)
                best = np.maximum(best, value)
            store(by_label, label * width + lane, best)
        for group in range(outlook.group_indptr.shape[0] - 1):
            best = zero - np.inf
            for i in range(outlook.group_indptr[group], outlook.group_indptr[group + 1]):
                value = load(zero, by_label, np.int64(outlook.group_labels[i]) * width + lane)
                best = np.maximum(best, value)
            store(tops, group * width + lane, best)
