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

from praemia.kernels.compiling import INLINED, INTERNAL, called, compiled
from praemia.kernels.lanes import gather, load, num_lanes, store
from praemia.kernels.numbers import row
from praemia.kernels.plan_data import PlanData
from praemia.kernels.records import (
    FIRST,
    NUM_EXITS,
    Floats,
    LabelSupport,
    LayerArrays,
    Records,
    Whole,
)
from praemia.kernels.switches import HAS_LOWER, ORDERED


@compiled(**INLINED)
def continuation(
    zero: Any, layers: LayerArrays, label: Whole, values: Floats, start: Whole, lane: int, width: int
) -> Any:
    """Return φ(m, label) + Σ_m' τ(m'|m, label)·V(m') from m = ``lane`` on; V begins at values[start]."""
    total = load(zero, layers.paid, label * width + lane)
    for layer in range(layers.indptr[label], layers.indptr[label + 1]):
        at = layer * width + lane
        common = layers.common[layer]
        if common >= 0:
            total = total + load(zero, layers.probs, at) * values[start + common]
        else:
            total = total + load(zero, layers.probs, at) * gather(zero, values, start, layers.targets, at)
    return total


@compiled(**INLINED)
def fill_exits(table: Floats, width: int, num_observations: int, terminal: Floats) -> None:
    """Write the terminal values of the exits, [NUM_EXITS, W], into their rows of a table. Both are flat."""
    for i in range(NUM_EXITS * width):
        table[num_observations * width + i] = terminal[i]


@compiled(**INLINED)
def fill_rows(
    zero: Any,
    table: Floats,
    width: int,
    num_observations: int,
    extra_rows: Records,
    layers: LayerArrays,
    first: Whole,
    last: Whole,
    first_column: Whole,
    last_column: Whole,
) -> None:
    """Fill the extra rows x = first … last − 1 with φ + Σ τ·table[z_x], in the columns m in a range.

    The table is flat. Its first O rows hold V, the next ones the exits. As many machine states are done at a time as
    ``zero`` has lanes.
    """
    for x in range(first, last):
        label, here = np.int64(extra_rows[x]["label"]), (num_observations + NUM_EXITS + x) * width
        target = np.int64(extra_rows[x]["target"])
        start = (target if target < num_observations else np.int64(num_observations)) * width  # END is the first exit
        for lane in range(first_column, last_column, num_lanes(zero)):
            store(table, here + lane, continuation(zero, layers, label, table, start, lane, width))


@compiled(**INTERNAL)
def fill_tops(zero: Any, support: LabelSupport, values: Floats, width: int, by_label: Floats, tops: Floats) -> None:
    """Fill tops (flat [G·W]), the largest φ + W that can follow a pair of each group; values[o · W + m] is V_{h+1}."""
    for lane in range(0, width, num_lanes(zero)):
        for label in range(support.indptr.shape[0] - 1):
            first = support.indptr[label]
            best = zero - np.inf
            for i in range(first, support.indptr[label + 1]):
                start = np.int64(support.targets[i]) * width
                value = continuation(zero, support.layers, label, values, start, lane, width)
                best = np.maximum(best, value)
            store(by_label, label * width + lane, best)
        for group in range(support.group_indptr.shape[0] - 1):
            best = zero - np.inf
            for i in range(support.group_indptr[group], support.group_indptr[group + 1]):
                value = load(zero, by_label, np.int64(support.group_labels[i]) * width + lane)
                best = np.maximum(best, value)
            store(tops, group * width + lane, best)


@called
def fill_after(zero: Any, data: PlanData, step: int, first: Whole, last: Whole) -> None:
    """Fill the exits and the extra rows first … last − 1 in the tables of the step after this one."""
    spec, memory, rows = data.spec, data.memory, data.counts.rows
    after, width = (step + 1) % memory.tables.shape[0], memory.tables.shape[2]
    num_observations = data.counts.states.shape[0]
    table, exits = row(memory.tables, after), row(spec.exits, step + 1)
    fill_exits(table, width, num_observations, exits)
    fill_rows(zero, table, width, num_observations, rows, spec.layers, first, last, FIRST, width)
    if HAS_LOWER or ORDERED:
        table = row(memory.least_tables, after)
        fill_exits(table, width, num_observations, exits)
        fill_rows(zero, table, width, num_observations, rows, spec.layers, first, last, FIRST, width)
    if ORDERED:  # nothing new comes after an end: E is 0 in the rows of exits
        soon = row(memory.soon_tables, after)
        fill_rows(zero, soon, width, num_observations, rows, spec.moves, first, last, FIRST, width)
