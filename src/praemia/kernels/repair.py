"""Headroom's plan, made or repaired: compute again only what changed.

The tables of all steps are kept, and with them what the plan was made from: the counts of each pair then,
its coefficients, tops and spread. A repair takes over the counts of the pair of the last step, and computes again the
values of its observation, and step by step of the observations that were seen to lead to one whose values changed. All
others would come out as they are, bit for bit. In a full plan the same holds from step to step: where tops, spread and
ends of a step are those of the step after it, only observations that lead to a changed one are computed.
"""

from __future__ import annotations

import numpy as np

from praemia.kernels.compiling import part
from praemia.kernels.counts import IS_REPAIR, RECENT, ROWS, TRANSITIONS, Counts, copy
from praemia.kernels.headroom import fill_step, find_spread, find_tops, take_over_state, value_state
from praemia.kernels.headroom_memory import HeadroomMemory, KnownArrays, LinkArrays, TableArrays
from praemia.kernels.records import Actions, Floats, Ints, Whole


@part
def link_new(links: LinkArrays, used: Ints, counts: Counts) -> None:
    """Add the transitions and rows that were seen since the last plan to the lists."""
    size = counts.is_met.shape[0]
    num_actions = counts.visits.shape[0] // size
    for i in range(used[1], counts.totals[TRANSITIONS]):
        target = np.int64(counts.transitions[i]["target"])
        if target < size:
            links.link_from[i] = np.int64(counts.transitions[i]["pair"]) // num_actions
            links.link_next[i], links.into[target] = links.into[target], i + 1
    for x in range(used[2], counts.totals[ROWS]):
        target = np.int64(counts.rows[x]["target"])
        if target < size:
            links.row_next[x], links.first_row[target] = links.first_row[target], x + 1
    used[1], used[2] = counts.totals[TRANSITIONS], counts.totals[ROWS]


@part
def list_states(links: LinkArrays, seed: Whole, num_changed: Whole) -> Whole:
    """List the observations to be computed at a step: the seed, and what leads to one that changed a step later."""
    count = np.int64(0)
    if seed >= 0:
        links.todo[0], links.is_listed[seed], count = seed, True, np.int64(1)
    for i in range(num_changed):
        place = np.int64(links.into[links.changed[i]])
        while place > 0:
            o = links.link_from[place - 1]
            if not links.is_listed[o]:
                links.is_listed[o], links.todo[count] = True, o
                count += 1
            place = np.int64(links.link_next[place - 1])
    return count


@part
def begin_repair(
    known: KnownArrays,
    tables: TableArrays,
    links: LinkArrays,
    counts: Counts,
    h: int,
    seed: Whole,
    num_changed: Whole,
    new_rows: Whole,
) -> Whole:
    """Begin a step of a repair; return how many observations are to be computed."""
    size, num_rows = counts.is_met.shape[0], counts.totals[ROWS]
    if new_rows < num_rows:
        fill_step(known, tables, counts.rows, size, h, new_rows, num_rows)
    for i in range(num_changed):
        place = np.int64(links.first_row[links.changed[i]])
        while place > 0:
            fill_step(known, tables, counts.rows, size, h, place - 1, place)
            place = np.int64(links.row_next[place - 1])
    return list_states(links, seed, num_changed)


@part
def begin_again(memory: HeadroomMemory, counts: Counts, h: int, policy: Actions, num_changed: Whole) -> Whole:
    """Begin a step of a full plan; return how many observations are to be computed. The others are as a step later."""
    known, links, tables, spread, options = memory.known, memory.links, memory.tables, memory.spread, memory.options
    (horizon, size, _), width = policy.shape, known.is_done.shape[0]
    fill_step(known, tables, counts.rows, size, h, 0, counts.totals[ROWS])
    if not known.is_theory:
        find_spread(spread, known.caps, counts.visits, options, h, horizon)
    is_new = tables.upper.shape[0] == 2 or not known.is_ordered or h == horizon - 1
    is_new = is_new or known.ends[h + 1] != known.ends[h + 2] or differ(known.least[h + 1], known.least[h + 2])
    if is_new or num_changed > 0:
        find_tops(known.support, known.top_paid, tables, h, width)
    else:
        copy(tables.tops[h + 1], tables.tops[h])
    # The first step is not discounted, and an episode cannot be over there.
    is_new = is_new or h == 0 or differ(spread.shares[h], spread.shares[h + 1])
    is_new = is_new or differ(tables.tops[h], tables.tops[h + 1])
    if is_new:
        for o in range(size):
            links.todo[o] = o
        return np.int64(size)
    copy(tables.upper[h + 1], tables.upper[h])
    copy(tables.lower[h + 1], tables.lower[h])
    copy(tables.soon[h + 1], tables.soon[h])
    copy(policy[h + 1].reshape(-1), policy[h].reshape(-1))
    return list_states(links, -1, num_changed)


@part
def differ(first: Floats, second: Floats) -> bool:
    """Return whether two rows of numbers differ anywhere."""
    i = 0
    while i < first.shape[0] and first[i] == second[i]:
        i += 1
    return bool(i < first.shape[0])


@part
def begin_plan(memory: HeadroomMemory, counts: Counts, is_repair: bool) -> Whole:
    """Take over the counts that the plan goes by; return the observation that a repair begins with, or −1."""
    known, planned, tables = memory.known, memory.planned, memory.tables
    link_new(memory.links, planned.used, counts)
    if is_repair:
        seed = np.int64(counts.recent[counts.totals[RECENT] - 1, 0])
        take_over_state(planned, known.constants, known.is_theory, counts, seed, True)
        return seed
    for o in range(counts.is_met.shape[0]):
        if counts.is_met[o]:
            take_over_state(planned, known.constants, known.is_theory, counts, o, False)
    last = (known.caps.shape[0] - 1) % tables.upper.shape[0]
    for i in range(memory.values.size):  # V_H = 0
        tables.upper[last, i] = 0.0
        if known.is_ordered:
            tables.lower[last, i], tables.soon[last, i] = 0.0, 0.0
    return np.int64(-1)


@part
def plan_headroom(memory: HeadroomMemory, counts: Counts, stream: Ints, policy: Actions) -> int:
    """Make a plan or repair the last one: change policy[H, O, M] and the tables; return the work done."""
    horizon, links, work = policy.shape[0], memory.links, np.int64(0)
    is_repair, new_rows, num_changed = counts.totals[IS_REPAIR] > 0, memory.planned.used[2], np.int64(0)
    seed = begin_plan(memory, counts, is_repair)
    for h in range(horizon - 1, -1, -1):
        if is_repair:
            num_todo = begin_repair(memory.known, memory.tables, links, counts, h, seed, num_changed, new_rows)
        else:
            num_todo = begin_again(memory, counts, h, policy, num_changed)
        num_changed = np.int64(0)
        for i in range(num_todo):
            o = np.int64(links.todo[i])
            has_changed = value_state(memory, h, o, policy, stream, is_repair)
            links.is_listed[o] = False
            if has_changed:
                links.changed[num_changed] = o
                num_changed += 1
        work += num_todo
    copy(memory.tables.upper[0, : memory.values.size], memory.values.reshape(-1))
    return int(16 * policy.shape[2] * work)
