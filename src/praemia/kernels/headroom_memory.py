"""What headroom's plan works in: what is known of the task, the counts that the plan goes by, lists, and tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.kernels.bundles import Bundle
from praemia.kernels.counts import Counts, Edges
from praemia.kernels.records import (
    LANES,
    NUM_EXITS,
    Bools,
    Floats,
    Ints,
    LabelSupport,
    LayerArrays,
    SmallInts,
)


class KnownArrays(Bundle):
    """What is known of the task, and the learner's parameters."""

    layers: LayerArrays
    paid: Floats  # [H or 1, L·W], φ at each step; it depends on the step where the machine is learned
    nothing: Floats  # [L·W], zeros
    support: LabelSupport
    top_paid: Floats  # [H or 1, ·], φ on the labels of the support
    ends: Floats  # [H + 1], γ times the value of an ended episode
    least: Floats  # [H + 1, W], the least that can follow a step that nobody knows
    is_done: Floats  # [W]
    caps: Floats  # [H + 1]
    constants: Floats  # c₁, c₂, c₃ of the practical bonus; 8ℓ of the theoretical one
    discount: float
    is_theory: bool
    is_ordered: bool
    has_caps: bool  # whether tops are limited by caps: a bonus for the machine may exceed what can be earned


class PlannedArrays(Bundle):
    """The counts that a plan goes by, and the room that each pair has for them."""

    edges: Edges
    room: SmallInts  # [O·A]
    coefficients: Floats  # [O·A, 2], the bonus per deviation and per headroom
    used: Ints  # [3]: places, transitions and rows that are linked


class LinkArrays(Bundle):
    """Which observations were seen to lead to each, and the extra rows of each, as lists: 1 + a place, or 0."""

    into: SmallInts  # [O], the first link
    link_from: SmallInts  # of each transition, the observation it comes from
    link_next: SmallInts
    first_row: SmallInts  # [O]
    row_next: SmallInts
    todo: SmallInts  # [O], the observations to be computed at a step
    changed: SmallInts  # [O], those that changed at the step after
    is_listed: Bools  # [O]


class TableArrays(Bundle):
    """Values of all steps [H + 1, rows·W] where plans are repaired, of two steps else: V_h is at h % their number."""

    upper: Floats
    lower: Floats  # L, or empty
    soon: Floats  # E, or empty
    tops: Floats  # [H or 1, G·W]
    tops_by_label: Floats


class SpreadArrays(Bundle):
    """How far the outcomes of pairs differ."""

    kept: Floats  # [O·A·3·lanes]: deviations, and what tops and local tops leave open
    sums: Floats  # [3], over the steps done
    shares: Floats  # [H, 2], S and S' of each step
    exists: Floats  # [W], 1 for a column that is a machine state


class HeadroomMemory(Bundle):
    """All that a plan works in."""

    known: KnownArrays
    planned: PlannedArrays
    links: LinkArrays
    tables: TableArrays
    spread: SpreadArrays
    options: Floats  # [3·A·lanes], U, L and E of one observation's actions
    values: Floats  # [O, W], V_0


def new_memory(known: KnownArrays, counts: Counts, num_machine_states: int, *, repairs: bool) -> HeadroomMemory:
    """Return the memory of a run before its first plan."""
    pairs, size, width, horizon = len(counts.visits), len(counts.is_met), len(known.is_done), len(known.caps) - 1
    num_tables = horizon + 1 if repairs else 2
    ordered = num_tables if known.is_ordered else 0
    no_tables = (np.zeros((num_tables, 0)), np.zeros((ordered, 0)), np.zeros((ordered, 0)))
    exists = (np.arange(width) < num_machine_states).astype(np.float64)
    memory = HeadroomMemory(
        known=known,
        planned=_no_counts(pairs),
        links=_no_links(size),
        tables=TableArrays(*no_tables, np.zeros((horizon if repairs else 1, 0)), np.zeros(0)),
        spread=SpreadArrays(np.zeros(3 * pairs * LANES), np.zeros(3), np.zeros((horizon, 2)), exists),
        options=np.zeros(3 * (pairs // size) * LANES),
        values=np.zeros((size, width)),
    )
    return with_room(memory, counts)


def table_bytes(memory: HeadroomMemory, counts: Counts) -> int:
    """Return the bytes of the tables that there must be room for."""
    rows = len(memory.values) + NUM_EXITS + len(counts.rows)
    groups = len(memory.known.support.group_indptr) - 1
    return 8 * len(memory.known.is_done) * len(memory.tables.upper) * (3 * rows + groups)


def with_room(memory: HeadroomMemory, counts: Counts) -> HeadroomMemory:
    """Return the memory with room for what was counted, and for the labels that are known."""
    width = len(memory.known.is_done)
    row_numbers = (len(memory.values) + NUM_EXITS + len(counts.rows)) * width
    groups, by_label = (len(memory.known.support.group_indptr) - 1) * width, len(memory.known.top_paid[0])
    sizes = (row_numbers, row_numbers, row_numbers, groups, by_label)
    tables = TableArrays(*(_wider(table, size) for table, size in zip(memory.tables, sizes, strict=True)))
    planned, links = _more_counts(memory.planned, counts), _more_links(memory.links, counts)
    return memory._replace(planned=planned, links=links, tables=tables)


def _no_counts(pairs: int) -> PlannedArrays:
    """Return the counts of a plan before the first one."""
    start, stop = np.zeros((2, pairs), dtype=np.int64)
    edges = Edges(start, stop, np.zeros(0), np.zeros(0, dtype=np.uint32), np.zeros(pairs))
    return PlannedArrays(edges, np.zeros(pairs, dtype=np.int32), np.zeros((pairs, 2)), np.zeros(3, dtype=np.int64))


def _more_counts(planned: PlannedArrays, counts: Counts) -> PlannedArrays:
    """Return the counts of a plan with room for all that was counted.

    Rooms are 4, 8, 16 …; those that a pair has outgrown take less than the last one.
    """
    edges, most = planned.edges, 8 * len(counts.transitions) + 4 * len(planned.room)
    weights, rows = _wider(edges.weights, most), _wider(edges.rows, most)
    return planned._replace(edges=edges._replace(weights=weights, rows=rows))


def _no_links(size: int) -> LinkArrays:
    into, first_row, todo, changed = np.zeros((4, size), dtype=np.int32)
    none = np.zeros(0, dtype=np.int32)
    return LinkArrays(into, none, none, first_row, none, todo, changed, np.zeros(size, dtype=bool))


def _more_links(links: LinkArrays, counts: Counts) -> LinkArrays:
    """Return the lists with room for all that was counted."""
    sizes = {"link_from": counts.transitions, "link_next": counts.transitions, "row_next": counts.rows}
    return links._replace(**{name: _wider(getattr(links, name), len(like)) for name, like in sizes.items()})


def _wider(table: NDArray[Any], size: int) -> NDArray[Any]:
    """Return a table whose last axis has so many numbers, or more."""
    more = size - table.shape[-1]
    return table if more <= 0 else np.pad(table, [(0, 0)] * (table.ndim - 1) + [(0, more)])
