"""Headroom's plan: limits by labels, a bonus measured against them, an order among equals, and repair.

``praemia.learners.headroom`` has the formulas of the bonus. Q_h = min{T, p̂Y + bonus}, V_h = max_a Q_h, where T, the
*top* of a pair, is the largest Y = φ + γW that its labels allow; a pair never visited has T.

**Spread.** How far the outcomes of a pair differ in this task, as a share of what its top leaves open: S_h is measured
on the later steps, over the pairs visited at least twice and all machine states,

    S_h = (0.1·c + Σ √(n/(n − 1)·Var_p̂(Y))) / (c + Σ (T − p̂Y)),   c = 0.2·Σ_h cap_h.

The *local top* T' of a pair is the largest Y that was seen to follow its observation, whatever the action; S' is the
same share for T'.

**Order.** Among actions of equal value U two more values decide, of what was counted alone (p̂, without any bonus):

    never visited:   L = the least that can follow,        E = 1
    visited:         L = Σ p̂ Στ (φ + γL_{h+1}),            E = β·Σ p̂ Στ E_{h+1},   β = 1 − 1/(H + 1)

L is the return if all that is unknown turns out worst. E is the mean of β^d, d the steps until the first pair never
visited, 0 if there is none on the way. Among the actions of the largest U those with L = U, which are certain, are
taken if there are any; of these the ones with the largest E; and of these one is sampled, or a repair keeps the action
of the plan. Stored are the largest U, the largest L among the actions with that U, and the largest E among those left:
no value depends on a random number. Equal means equal up to rounding, relative to the values.

``praemia.kernels.repair`` makes a plan of these values, or repairs the last one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from praemia.kernels.compiling import inlined, part
from praemia.kernels.counts import EPISODES, Counts, Edges, copy_pair, has_grown
from praemia.kernels.headroom_memory import (
    HeadroomMemory,
    KnownArrays,
    PlannedArrays,
    SpreadArrays,
    TableArrays,
)
from praemia.kernels.lanes import any_lane, following, load, num_lanes, select, store, store_integers, zeros
from praemia.kernels.linear import moments
from praemia.kernels.records import LANES, UNKNOWN, Actions, Floats, Ints, LabelSupport, Records, Whole
from praemia.kernels.rows import fill_rows, fill_tops
from praemia.kernels.ties import sample_best, take_best

EQUAL, AS_SOON = 1e-9, 1e-7  # up to these shares of a value, others count as equal to it
FIRST_SPREAD, FIRST_WEIGHT = 0.1, 0.2


ROOTS, TERMS = 6, 17  # enough for x up to 2⁶³, more than anything can be counted


@part
def natural_log(x: float) -> float:
    """Return ln x of a number from 1 to 2⁶³, to about 14 digits.

    By + − × ÷ √ alone: the same bits compiled or not, and on every processor. (``np.log`` differs in the last bit.)
    With y = x^(1/64) and z = (y − 1)/(y + 1), ln x = 128·(z + z³/3 + z⁵/5 + …).
    """
    root = x
    for _ in range(ROOTS):
        root = np.sqrt(root)
    z = (root - 1.0) / (root + 1.0)
    square, total = z * z, 0.0 * z
    for i in range(TERMS - 1, -1, -1):
        total = total * square + 1.0 / (2.0 * i + 1.0)
    return 2.0**ROOTS * 2.0 * z * total


@part
def take_over(
    planned: PlannedArrays, constants: Floats, is_theory: bool, counts: Counts, pair: Whole, visits_of_state: float
) -> None:
    """Let plans go by what is counted of a pair now, and compute its coefficients."""
    number = 0
    place = np.int64(counts.first[pair])
    while place > 0:
        number, place = number + 1, np.int64(counts.transitions[place - 1]["next"])
    if number > planned.room[pair]:
        room = 4
        while room < number:
            room *= 2
        planned.edges.start[pair], planned.room[pair] = planned.used[0], room
        planned.used[0] += room
    copy_pair(counts, planned.edges, pair)
    n = float(counts.visits[pair])
    if is_theory:
        planned.coefficients[pair, 0], planned.coefficients[pair, 1] = np.sqrt(constants[3] / n), constants[3] / n
    else:
        neglect = 1.0 + 0.5 * natural_log(visits_of_state / n)
        episodes = float(counts.totals[EPISODES])
        forgotten = max(neglect, np.sqrt(constants[2] * natural_log(1.0 + episodes) / n))
        planned.coefficients[pair, 0] = constants[0] * np.sqrt(neglect / n)
        planned.coefficients[pair, 1] = constants[1] * forgotten / n


@part
def take_over_state(
    planned: PlannedArrays, constants: Floats, is_theory: bool, counts: Counts, o: Whole, only_grown: bool
) -> None:
    """Let plans go by what is counted of an observation's pairs now, or only of those that have grown."""
    num_actions, total = counts.visits.shape[0] // counts.is_met.shape[0], 0
    for pair in range(o * num_actions, (o + 1) * num_actions):
        total += counts.visits[pair]
    for pair in range(o * num_actions, (o + 1) * num_actions):
        visits = counts.visits[pair]
        if visits > 0 and (not only_grown or has_grown(visits, np.int64(planned.edges.totals[pair]))):
            take_over(planned, constants, is_theory, counts, pair, float(total))
            counts.at_plan[pair] = visits


@part
def fill_step(
    known: KnownArrays, tables: TableArrays, extra_rows: Records, size: int, h: int, first: Whole, last: Whole
) -> None:
    """Fill the ends and a range of the extra rows in the tables of the step after this one."""
    zero, width, after = zeros(4), known.is_done.shape[0], (h + 1) % tables.upper.shape[0]
    upper, paid, columns = tables.upper[after], known.paid[min(h, known.paid.shape[0] - 1)], (0, width)
    for m in range(width):
        upper[size * width + m] = known.ends[h + 1]
    fill_rows(zero, upper, width, size, extra_rows, known.layers, paid, (first, last), columns)
    if known.is_ordered:
        lower, soon = tables.lower[after], tables.soon[after]
        for m in range(width):
            lower[size * width + m] = known.ends[h + 1]
            lower[(size + UNKNOWN) * width + m] = known.least[h + 1, m]
        fill_rows(zero, lower, width, size, extra_rows, known.layers, paid, (first, last), columns)
        fill_rows(zero, soon, width, size, extra_rows, known.layers, known.nothing, (first, last), columns)


@part
def find_tops(support: LabelSupport, top_paid: Floats, tables: TableArrays, h: int, width: int) -> None:
    """Find the tops of a step from the upper values of the step after it."""
    after, tops = tables.upper[(h + 1) % tables.upper.shape[0]], tables.tops[h % tables.tops.shape[0]]
    paid = top_paid[min(h, top_paid.shape[0] - 1)]
    fill_tops(zeros(4), support, paid, after, width, tables.tops_by_label, tops)


@part
def find_spread(spread: SpreadArrays, caps: Floats, visits: Ints, parts: Floats, h: int, horizon: int) -> None:
    """Compute the spreads of a step from the steps after it; at the last step they are what is assumed at first."""
    sums, zero = spread.sums, zeros(4)
    if h == horizon - 1:
        weight = 0.0
        for step in range(horizon + 1):
            weight += FIRST_WEIGHT * caps[step]
        sums[0], sums[1], sums[2] = FIRST_SPREAD * weight, weight, weight
    else:
        differences, room, local_room = zero, zero, zero
        for pair in range(visits.shape[0]):
            if visits[pair] > 1:
                differences = differences + load(zero, spread.kept, 3 * pair * LANES)
                room = room + load(zero, spread.kept, (3 * pair + 1) * LANES)
                local_room = local_room + load(zero, spread.kept, (3 * pair + 2) * LANES)
        store(parts, 0, differences)
        store(parts, LANES, room)
        store(parts, 2 * LANES, local_room)
        for i in range(3):
            for k in range(LANES):
                sums[i] += parts[i * LANES + k]
    for i in range(2):
        spread.shares[h, i] = sums[0] / sums[1 + i] if sums[1 + i] > 0.0 else FIRST_SPREAD


@inlined
def local_top(zero: Any, edges: Edges, o: Whole, num_actions: int, after: Floats, width: int, lane: Whole) -> Any:
    """Return the largest Y that was seen to follow an observation, whatever the action."""
    best = zero
    for pair in range(o * num_actions, (o + 1) * num_actions):
        e, stop = np.uint64(edges.start[pair]), np.uint64(edges.stop[pair])
        while e < stop:
            best = np.maximum(best, load(zero, after, np.int64(edges.rows[e]) * width + lane))
            e = following(e)
    return best


@inlined
def keep_spread(zero: Any, spread: Floats, at: Whole, lane: Whole, share: Any) -> None:
    """Keep a part of the spread: that of the first machine states, or the sum with that of those before."""
    store(spread, at, share if lane == 0 else load(zero, spread, at) + share)


@inlined
def pair_values(
    zero: Any,
    planned: PlannedArrays,
    spread: SpreadArrays,
    is_theory: bool,
    h: Whole,
    pair: Whole,
    lane: Whole,
    after: Floats,
    top: Any,
    local: Any,
) -> Any:
    """Return the optimistic value of a pair that was visited, before its top is applied."""
    visits, width = planned.edges.totals[pair], spread.exists.shape[0]
    mean, deviation = moments(zero, planned.edges, np.uint64(pair), after, width, lane)
    per_deviation, per_headroom = planned.coefficients[pair, 0], planned.coefficients[pair, 1]
    if is_theory:
        return mean + np.maximum(per_deviation * deviation, per_headroom * top)
    if visits > 1.0:
        at, exists = 3 * pair * LANES, load(zero, spread.exists, lane)
        keep_spread(zero, spread.kept, at, lane, np.sqrt(visits / (visits - 1.0)) * deviation)
        keep_spread(zero, spread.kept, at + LANES, lane, (top - mean) * exists)
        keep_spread(zero, spread.kept, at + 2 * LANES, lane, (local - mean) * exists)
    headroom = np.maximum(spread.shares[h, 0] * (top - mean), spread.shares[h, 1] * (local - mean))
    return mean + (per_deviation * deviation + per_headroom * headroom)


@inlined
def two_means(zero: Any, edges: Edges, pair: Any, first: Floats, second: Floats, width: int, lane: Whole) -> Any:
    """Return the means of two tables under p̂ of a pair with transitions, as ``moments`` does of one."""
    e, stop = np.uint64(edges.start[pair]), np.uint64(edges.stop[pair])
    at = np.int64(edges.rows[e]) * width + lane
    base, other_base, mean, other_mean = load(zero, first, at), load(zero, second, at), zero, zero
    e += np.uint64(1)
    while e < stop:
        at, weight = np.int64(edges.rows[e]) * width + lane, edges.weights[e]
        mean = mean + weight * (load(zero, first, at) - base)
        other_mean = other_mean + weight * (load(zero, second, at) - other_base)
        e = following(e)
    inverse = 1.0 / edges.totals[pair]
    return base + mean * inverse, other_base + other_mean * inverse


@inlined
def take_in_order(
    zero: Any, options: Floats, num_actions: int, policy: Actions, place: Whole, count: int, stream: Ints, keeps: bool
) -> Any:
    """Choose among options[a · lanes + k], U of each action, followed by L and by E of each; return all three.

    The actions go to policy[place + k], flat, for ``count`` or fewer machine states k. With ``keeps`` those that are
    there stay if they are among the best.
    """
    lanes = num_lanes(zero)
    best, low = load(zero, options, 0), zero - np.inf
    for a in range(1, num_actions):
        best = np.maximum(best, load(zero, options, a * lanes))
    least = np.minimum(best * (1.0 - EQUAL), best * (1.0 + EQUAL))
    for a in range(num_actions):
        counted = load(zero, options, (num_actions + a) * lanes)
        low = np.maximum(low, select(least > load(zero, options, a * lanes), zero - np.inf, counted))
    wanted = select(least > low, zero - np.inf, least)
    soon, choice, ties = zero - 1.0, zero, zero
    for a in range(num_actions):
        at = (2 * num_actions + a) * lanes
        left = select(wanted > load(zero, options, (num_actions + a) * lanes), -1.0, load(zero, options, at))
        left = select(least > load(zero, options, a * lanes), -1.0, left)
        store(options, at, left)
        soon = np.maximum(soon, left)
    enough = soon * (1.0 - AS_SOON)
    for a in range(num_actions - 1, -1, -1):
        among = select(enough > load(zero, options, (2 * num_actions + a) * lanes), 0.0, 1.0 + zero)
        choice, ties = select(among > 0.0, float(a), choice), ties + among
    if any_lane(ties > 1.0, count):
        for k in range(lanes if count > lanes else count):
            old = np.int64(policy[place + k]) if keeps else np.int64(-1)
            first = 2 * num_actions * lanes + k
            policy[place + k] = sample_best(options, first, lanes, num_actions, stream, old, AS_SOON)
    else:
        store_integers(policy, place, choice, count)
    return best, low, soon


@part
def value_state(memory: HeadroomMemory, h: int, o: Whole, policy: Actions, stream: Ints, is_repair: bool) -> bool:
    """Find the best actions of an observation at a step and keep their values; tell whether these have changed.

    A repair compares with what this step had, a full plan with what the step after has.
    """
    known, planned, tables, spread, options = memory.known, memory.planned, memory.tables, memory.spread, memory.options
    zero, actions, (horizon, size, num_machine_states) = zeros(4), policy.reshape(-1), policy.shape
    width, num_tables, groups = known.is_done.shape[0], tables.upper.shape[0], known.support.groups
    here, before, step = h % num_tables, (h if is_repair else h + 1) % num_tables, (h + 1) % num_tables
    after, tops, delay = tables.upper[step], tables.tops[h % tables.tops.shape[0]], 1.0 - 1.0 / (horizon + 1)
    num_actions, has_changed, discount = groups.shape[0] // size, False, 1.0 if h == 0 else known.discount
    lower, later = (tables.lower[step], tables.soon[step]) if known.is_ordered else (after, after)
    for lane in range(0, width, LANES):
        is_done, local = load(zero, known.is_done, lane) > (1.0 if h == 0 else 0.0), zero  # at first nothing is done
        if not known.is_theory:
            local = local_top(zero, planned.edges, o, num_actions, after, width, lane)
        for a in range(num_actions):
            pair = o * num_actions + a
            top = load(zero, tops, np.int64(groups[pair]) * width + lane)
            if known.has_caps:
                top = np.minimum(top, zero + known.caps[h])
            value, is_known = top, planned.edges.totals[pair] > 0.0
            if is_known:
                found = pair_values(zero, planned, spread, known.is_theory, h, pair, lane, after, top, local)
                value = np.minimum(value, found)
            store(options, a * LANES, value)
            if known.is_ordered:
                low, soon = load(zero, lower, (size + UNKNOWN) * width + lane), zero + 1.0
                if is_known:
                    low, soon = two_means(zero, planned.edges, np.uint64(pair), lower, later, width, lane)
                    soon = delay * np.maximum(soon, zero)
                store(options, (num_actions + a) * LANES, low)
                store(options, (2 * num_actions + a) * LANES, soon)
        place, count, at = (h * size + o) * num_machine_states + lane, num_machine_states - lane, o * width + lane
        end = zero + known.ends[h]
        if known.is_ordered:
            best, low, soon = take_in_order(zero, options, num_actions, actions, place, count, stream, is_repair)
            best, low = select(is_done, end, discount * best), select(is_done, end, discount * low)
            soon = select(is_done, 0.0, soon)  # nothing new comes after an end
            moved = select(best == load(zero, tables.upper[before], at), zero, 1.0)
            moved = select(low == load(zero, tables.lower[before], at), moved, 1.0)
            moved = select(soon == load(zero, tables.soon[before], at), moved, 1.0)
            has_changed = has_changed or any_lane(moved > 0.0, count)
            store(tables.lower[here], at, low)
            store(tables.soon[here], at, soon)
        else:
            best = take_best(zero, options, num_actions, actions, place, count, stream)
            best = select(is_done, end, discount * best)
        store(tables.upper[here], at, best)
    return has_changed
