"""Continuation rows: the value of each (label, next observation), in every machine state (see the package).

Filling them is the one place where the machine moves, and with many labels it is most of the work. A label's τ is kept
as *layers*, each with one target for every machine state: the row is the mean reward of the label, plus layer after
layer of probability · V(z, target). Layers are of two kinds. In one, every machine state has its own target, and as
many layers are needed as a machine state has outcomes: good for sparse τ. In the other, all machine states share a
target: good for dense τ, where a target is read once for all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from praemia.kernels.compiling import inlined, part
from praemia.kernels.lanes import gather, load, num_lanes, store
from praemia.kernels.records import NUM_EXITS, Floats, LabelSupport, LayerArrays, Records, Whole


@inlined
def continuation(
    zero: Any, layers: LayerArrays, paid: Floats, label: Whole, values: Floats, start: Whole, lane: Whole, width: int
) -> Any:
    """Return φ(m, label) + Σ_m' τ(m'|m, label)·V(m') from m = ``lane`` on; V begins at values[start]."""
    total = load(zero, paid, label * width + lane)
    for layer in range(layers.indptr[label], layers.indptr[label + 1]):
        at = layer * width + lane
        common = layers.common[layer]
        if common >= 0:
            total = total + load(zero, layers.probs, at) * values[start + common]
        else:
            total = total + load(zero, layers.probs, at) * gather(zero, values, start, layers.targets, at)
    return total


@inlined
def fill_rows(
    zero: Any,
    table: Floats,
    width: int,
    num_observations: int,
    extra_rows: Records,
    layers: LayerArrays,
    paid: Floats,
    rows: tuple[int, int],
    columns: tuple[int, int],
) -> None:
    """Fill a range of the extra rows with φ + Σ τ·table[z_x], in a range of columns m.

    The table is flat. Its first O rows hold V, the next ones the exits. ``paid`` is φ, usually that of the layers. As
    many machine states are computed at a time as ``zero`` has lanes.
    """
    for x in range(rows[0], rows[1]):
        label, here = np.int64(extra_rows[x]["label"]), (num_observations + NUM_EXITS + x) * width
        target = np.int64(extra_rows[x]["target"])
        start = (target if target < num_observations else np.int64(num_observations)) * width  # END is the first exit
        for lane in range(columns[0], columns[1], num_lanes(zero)):
            store(table, here + lane, continuation(zero, layers, paid, label, table, start, lane, width))


@part
def fill_tops(
    zero: Any, support: LabelSupport, paid: Floats, values: Floats, width: int, by_label: Floats, tops: Floats
) -> None:
    """Fill tops (flat [G·W]), the largest φ + W that can follow a pair of each group; values[o · W + m] is V_{h+1}.

    ``paid`` is φ on the labels of the support, usually that of its layers.
    """
    for lane in range(0, width, num_lanes(zero)):
        for label in range(support.indptr.shape[0] - 1):
            best = zero - np.inf
            for i in range(support.indptr[label], support.indptr[label + 1]):
                start = np.int64(support.targets[i]) * width
                best = np.maximum(best, continuation(zero, support.layers, paid, label, values, start, lane, width))
            store(by_label, label * width + lane, best)
        for group in range(support.group_indptr.shape[0] - 1):
            best = zero - np.inf
            for i in range(support.group_indptr[group], support.group_indptr[group + 1]):
                best = np.maximum(best, load(zero, by_label, np.int64(support.group_labels[i]) * width + lane))
            store(tops, group * width + lane, best)
