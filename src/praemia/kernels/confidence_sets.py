"""Confidence sets around p̂: L1 balls, Bernstein intervals, and the best distribution of a set.

Radii and intervals are functions of single numbers, compiled or not: the logarithm is the C library's either way.

A plan needs, at each (h, o, a, m), the p̃ in the set that maximises Σ p̃(o')·Y(m, o'). Which o' is good depends on m, and
on (o, a) only through the label. So for each step and m the continuation rows are sorted once, and a pair walks through
them from the best one, skipping the rows that are not its own.
"""

from __future__ import annotations

import math

import numpy as np

from praemia.kernels.bundles import Bundle
from praemia.kernels.compiling import compiled, inlined, part
from praemia.kernels.lanes import zeros
from praemia.kernels.linear import PassArrays, begin_step
from praemia.kernels.posteriors import Seen
from praemia.kernels.records import NUM_EXITS, Actions, Floats, Ints, Records, SmallInts, Whole
from praemia.kernels.ties import sample_best

ETA = 1.12
LOG_ETA = 0.11332868530700327  # ln η


@part
def l1_radius(n: float, log_subsets: float, level: float) -> float:
    """Return √(2(1 + 1/n)·ln(√(n + 1)(2^O − 2)/d)/n), from ln(2^O − 2); 0 for a single observation."""
    log_term = max(0.0, 0.5 * math.log(n + 1.0) + log_subsets - math.log(level))
    return math.sqrt(2.0 * (1.0 + 1.0 / n) * log_term / n)


@part
def bernstein_interval(p_hat: float, n: float, level: float, scale: float) -> tuple[float, float]:
    """Return the ends of {x : |x − p̂| ≤ κ(√(2β·x(1 − x)/n) + β/(3n))}.

    β(n) = η·ln(ln(max(n, e))·ln(η·max(n, e))/(d·ln²η)). Each end solves (x − p̂ ∓ c)² = s·x(1 − x) with c = κβ/(3n),
    s = 2κ²β/n; where the shift c alone reaches past 0 or 1, the end is there.
    """
    most = max(n, math.e)
    beta = ETA * math.log(math.log(most) * math.log(ETA * most) / (level * (LOG_ETA * LOG_ETA)))
    shift, slope = scale * beta / (3.0 * n), 2.0 * (scale * scale) * beta / n
    low, high = max(p_hat - shift, 0.0), min(p_hat + shift, 1.0)
    # The discriminant (c + s/2)² − (1 + s)c² in a form without cancellation: ends near 1 need it.
    below = math.sqrt(max(0.0, slope * (low * (1.0 - low) + 0.25 * slope)))
    above = math.sqrt(max(0.0, slope * (high * (1.0 - high) + 0.25 * slope)))
    lower = (low + 0.5 * slope - below) / (1.0 + slope)
    upper = (high + 0.5 * slope + above) / (1.0 + slope)
    return min(max(lower, 0.0), p_hat), max(min(upper, 1.0), p_hat)


class SetNumbers(Bundle):
    """The size of the sets."""

    scale: float  # κ
    level: float  # d
    log_subsets: float  # ln(2^O − 2)
    is_ball: bool  # L1 balls; else Bernstein intervals
    as_published: bool  # the ends of intervals used as distances


class Sets(Bundle):
    """The sets of all pairs. In a ball ``rise`` is p̂ and ``free`` half the radius; in intervals ``low`` are the lower
    ends of the successors seen, ``rise`` how far p̃ may rise above them, and ``free`` the mass left to distribute."""

    rise: Floats  # [O·A, N]
    low: Floats  # [·], of the successors seen
    free: Floats  # [O·A]


@part
def fill_sets(seen: Seen, numbers: SetNumbers, sets: Sets) -> None:
    """Fill in the confidence sets of all pairs, from zeros; those never visited have none."""
    rise, low, free = sets.rise, sets.low, sets.free
    for pair in range(seen.own.shape[0]):
        first, last, n = seen.indptr[pair], seen.indptr[pair + 1], 0.0
        for e in range(first, last):
            n += seen.counts[e]
        if n == 0.0:
            continue
        if numbers.is_ball:
            free[pair] = 0.5 * numbers.scale * l1_radius(n, numbers.log_subsets, numbers.level)
            for e in range(first, last):
                rise[pair, seen.targets[e]] = seen.counts[e] / n
            continue
        free[pair] = 1.0
        rise[pair, :] = bernstein_interval(0.0, n, numbers.level, numbers.scale)[1]
        for e in range(first, last):
            p_hat = seen.counts[e] / n
            lower, upper = bernstein_interval(p_hat, n, numbers.level, numbers.scale)
            if numbers.as_published:
                lower, upper = max(0.0, p_hat - lower), min(1.0, p_hat + upper)
            low[e], rise[pair, seen.targets[e]] = lower, upper - lower
            free[pair] -= lower


@part
def sort_rows(order: SmallInts, table: Floats, width: int, m: Whole) -> None:
    """Sort the rows for a machine state, best first. Shell sort suits them: they are nearly sorted already."""
    num_rows, gap = order.shape[0], 1
    while gap < num_rows // 9:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, num_rows):
            row, j = order[i], i
            value = table[np.int64(row) * width + m]
            while j >= gap and table[np.int64(order[j - gap]) * width + m] < value:
                order[j] = order[j - gap]
                j -= gap
            order[j] = row
        gap //= 3


class SetScratch(Bundle):
    """What a plan in confidence sets works in."""

    sets: Sets
    tables: Floats  # [2, rows·W]
    order: SmallInts  # [M, rows], the rows that are not exits', sorted for each machine state
    own_rows: SmallInts  # [·], the rows of the successors seen
    options: Floats  # [A]


@inlined
def best_row(seen: Seen, rows: Records, order: SmallInts, pair: Whole) -> Whole:
    """Return the best of a pair's own rows."""
    k = 0
    while seen.own[pair, rows[order[k]]["target"]] != order[k]:
        k += 1
    return np.int64(order[k])


@inlined
def best_in_ball(
    seen: Seen, scratch: SetScratch, rows: Records, pair: Whole, table: Floats, width: int, m: Whole
) -> float:
    """Return the largest Σ p̃·Y within an L1 distance of p̂; a pair never visited may go anywhere.

    Half the radius is added to the best o' (at most to 1) and taken from the worst ones.
    """
    own_rows, rise = scratch.own_rows, scratch.sets.rise[pair]
    top = best_row(seen, rows, scratch.order[m], pair)
    best, highest, left = np.int64(rows[top]["target"]), table[top * width + m], scratch.sets.free[pair]
    first, last = seen.indptr[pair], seen.indptr[pair + 1]
    if first == last or left >= 1.0 - rise[best]:
        return float(highest)
    total = left * highest
    for e in range(first, last):
        total += rise[seen.targets[e]] * table[np.int64(own_rows[e]) * width + m]
    worst = -np.inf
    at: Whole = first
    while left > 0.0 and at >= 0:
        # The next worst of the successors seen; of equals, the next in order.
        before, value, after, at = worst, np.inf, at, -1
        for e in range(first, last):
            other = table[np.int64(own_rows[e]) * width + m]
            is_next = other > before or (other == before and e > after)
            if is_next and other < value and seen.targets[e] != best:
                value, at = other, e
        if at >= 0:
            taken, worst = min(left, rise[seen.targets[at]]), value
            total -= taken * value
            left -= taken
    return float(total)


@inlined
def best_in_intervals(
    seen: Seen, scratch: SetScratch, rows: Records, pair: Whole, table: Floats, width: int, m: Whole
) -> float:
    """Return the largest Σ p̃·Y with every p̃(o') in its interval: fill from the lower ends upward, the best o' first.

    A pair never visited may go anywhere.
    """
    sets, order = scratch.sets, scratch.order[m]
    first, last, left, total, k = seen.indptr[pair], seen.indptr[pair + 1], sets.free[pair], 0.0, 0
    if first == last:
        return float(table[best_row(seen, rows, order, pair) * width + m])
    for e in range(first, last):
        total += sets.low[e] * table[np.int64(scratch.own_rows[e]) * width + m]
    while left > 0.0 and k < order.shape[0]:
        row, z = order[k], rows[order[k]]["target"]
        if seen.own[pair, z] == row:
            added = min(left, sets.rise[pair, z])
            total += added * table[np.int64(row) * width + m]
            left -= added
        k += 1
    return total


def new_set_scratch(task: PassArrays, seen: Seen, rows: Records, num_observations: int, num_states: int) -> SetScratch:
    """Return arrays for a plan."""
    sets = Sets(np.zeros(seen.own.shape), np.zeros(len(seen.counts)), np.zeros(len(seen.own)))
    places = np.arange(len(rows) - NUM_EXITS, dtype=np.int32)
    places[num_observations:] += NUM_EXITS  # those of the exits are left out: no successor has them for its own
    own_rows = seen.own[np.repeat(np.arange(len(seen.own)), np.diff(seen.indptr)), seen.targets].astype(np.int32)
    tables, num_actions = np.zeros((2, len(rows) * len(task.is_done))), len(seen.own) // num_observations
    return SetScratch(sets, tables, np.tile(places, (num_states, 1)), own_rows, np.empty(num_actions))


@compiled
def plan_in_sets(
    task: PassArrays,
    seen: Seen,
    numbers: SetNumbers,
    rows: Records,
    scratch: SetScratch,
    caps: Floats,
    policy: Actions,
    stream: Ints,
) -> None:
    """Fill policy[H, O, M] with the best policy in the best model of the sets.

    ``rows`` are all continuation rows, also those of the observations and exits; every end has a row of its own.
    """
    (horizon, size, num_machine_states), width = policy.shape, task.is_done.shape[0]
    num_actions, flat, options, extra_rows = (
        seen.own.shape[0] // size,
        policy.reshape(-1),
        scratch.options,
        rows[size + NUM_EXITS :],
    )
    fill_sets(seen, numbers, scratch.sets)
    for h in range(horizon - 1, -1, -1):
        after, here = scratch.tables[(h + 1) % 2], scratch.tables[h % 2]
        begin_step(zeros(4), task, after, size, extra_rows, h)
        for m in range(num_machine_states):
            sort_rows(scratch.order[m], after, width, m)
        for o in range(size):
            for m in range(num_machine_states):
                for a in range(num_actions):
                    pair = o * num_actions + a
                    if numbers.is_ball:
                        value = best_in_ball(seen, scratch, rows, pair, after, width, m)
                    else:
                        value = best_in_intervals(seen, scratch, rows, pair, after, width, m)
                    options[a] = min(caps[h], value)
                best = sample_best(options, 0, 1, num_actions, stream, -1, 0.0)
                flat[(h * size + o) * num_machine_states + m] = best
                kept = options[best] if h == 0 else task.discount * options[best]
                here[o * width + m] = task.ends[h] if h > 0 and task.is_done[m] > 0.0 else kept
