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

from praemia.kernels import arrays
from praemia.kernels.arrays import Floats, LayerArrays, SmallInts
from praemia.kernels.compiling import compiled
from praemia.kernels.simd import gather, load, store, zeros

padded_width = compiled(nogil=True)(arrays.padded_width)


@compiled(nogil=True)
def copied(table: Floats, num_observations: int, num_states: int) -> Floats:
    """Return V alone, [O, M], out of a table. (A loop: assigning slices takes long to compile.)"""
    values = np.empty((num_observations, num_states))
    for o in range(num_observations):
        for m in range(num_states):
            values[o, m] = table[o, m]
    return values


@compiled(nogil=True)
def continuation(zero: Any, layers: LayerArrays, label: int, flat: Floats, start: int, lane: int, width: int) -> Any:
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


@compiled(nogil=True)
def fill_extra_rows(
    table: Floats, num_observations: int, row_labels: SmallInts, row_targets: SmallInts, layers: LayerArrays
) -> None:
    """Fill table[O + x] = φ + Σ τ·table[z_x] for every x; the first O rows hold V."""
    fill_some_rows(table, num_observations, row_labels, row_targets, layers, 0, row_labels.shape[0])


@compiled(nogil=True)
def fill_some_rows(
    table: Floats,
    num_observations: int,
    row_labels: SmallInts,
    row_targets: SmallInts,
    layers: LayerArrays,
    first: int,
    last: int,
) -> None:
    """Fill the extra rows first … last − 1."""
    flat, width = table.reshape(-1), table.shape[1]
    some, many = zeros(4), zeros(16)
    for x in range(first, last):
        label, start, here = row_labels[x], row_targets[x] * width, (num_observations + x) * width
        lane = 0
        while lane + 16 <= width:
            store(flat, here + lane, continuation(many, layers, label, flat, start, lane, width))
            lane += 16
        while lane < width:
            store(flat, here + lane, continuation(some, layers, label, flat, start, lane, width))
            lane += 4
