"""Confidence sets around p̂: L1 balls, Bernstein intervals, and the best kernel of a set.

Radii and intervals are functions of single numbers, compiled or not: the logarithm is the C library's either way.

A plan needs, at each (h, o, a, m), the kernel p̃ in the set that maximises Σ p̃(o')·Y(m, o'). Which o' is good depends on
m, and on (o, a) only through the label. So for each step and m the continuation rows are sorted once, and a pair walks
through them from the best one, skipping the rows that are not its own.

memory.by_pair holds the numbers of a pair: one for each successor that there can be, and one more.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from praemia.kernels.plan_data import PlanData, StepView
from praemia.kernels.records import NUM_EXITS, EveryRow, SmallInts

ETA = 1.12
LOG_ETA = 0.11332868530700327  # ln η


def l1_radius(n: float, log_subsets: float, level: float) -> float:
    """Return √(2(1 + 1/n)·ln(√(n + 1)(2^O − 2)/d)/n), from ln(2^O − 2); 0 for a single observation."""
    log_term = max(0.0, 0.5 * math.log(n + 1.0) + log_subsets - math.log(level))
    return math.sqrt(2.0 * (1.0 + 1.0 / n) * log_term / n)


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


def prepare_ball(data: PlanData, rng: Any, pair: int, visits_of_state: float) -> None:
    """Fill p̂ of a pair, and half the radius of its ball."""
    pairs, successors, numbers = data.counts.pairs, data.counts.successors, data.memory.by_pair
    fixed = data.fixed[0]
    n, first = float(pairs[pair]["visits"]), pairs[pair]["first"]
    if n > 0.0:
        radius = fixed["scale"] * l1_radius(n, fixed["log_subsets"], fixed["level"])
        numbers[pair, numbers.shape[1] - 1] = 0.5 * radius
        for e in range(first, first + np.int64(pairs[pair]["distinct"])):
            numbers[pair, successors[e]["target"]] = successors[e]["count"] / n


def prepare_interval(data: PlanData, rng: Any, pair: int, visits_of_state: float) -> None:
    """Fill how far p̃ may rise above its lower end for every o', and the mass left to distribute.

    Lower ends are by_successor.
    """
    pairs, successors, numbers = data.counts.pairs, data.counts.successors, data.memory.by_pair
    scale, level, as_published = data.fixed[0]["scale"], data.fixed[0]["level"], data.fixed[0]["as_published"]
    n, first, left, last = float(pairs[pair]["visits"]), pairs[pair]["first"], 1.0, numbers.shape[1] - 1
    if n > 0.0:
        unseen = bernstein_interval(0.0, n, level, scale)[1]
        for z in range(last):
            numbers[pair, z] = unseen
        for e in range(first, first + np.int64(pairs[pair]["distinct"])):
            p_hat = successors[e]["count"] / n
            lower, upper = bernstein_interval(p_hat, n, level, scale)
            if as_published > 0.0:
                lower, upper = max(0.0, p_hat - lower), min(1.0, p_hat + upper)
            data.memory.by_successor[e, 0] = lower
            numbers[pair, successors[e]["target"]] = upper - lower
            left -= lower
        numbers[pair, last] = left


def sort_rows(data: PlanData, view: StepView) -> None:
    """Sort the rows for each machine state, best first. Shell sort suits them: they are nearly sorted already.

    Those of the exits are left out: no successor has them for its own.
    """
    sorted_rows, width, size = data.memory.sorted_rows, view.width, data.counts.states.shape[0]
    num_rows = sorted_rows.shape[1]
    for m in range(sorted_rows.shape[0]):
        if sorted_rows[m, 0] == sorted_rows[m, num_rows - 1]:  # the first time
            for i in range(num_rows):
                sorted_rows[m, i] = i if i < size else i + NUM_EXITS
        gap = 1
        while gap < num_rows // 9:
            gap = 3 * gap + 1
        while gap > 0:
            for i in range(gap, num_rows):
                row, j = sorted_rows[m, i], i
                value = view.values[np.int64(row) * width + m]
                while j >= gap and view.values[np.int64(sorted_rows[m, j - gap]) * width + m] < value:
                    sorted_rows[m, j] = sorted_rows[m, j - gap]
                    j -= gap
                sorted_rows[m, j] = row
            gap //= 3


def best_row(every: EveryRow, sorted_rows: SmallInts, pair: int, m: int) -> int:
    """Return the best of a pair's own rows."""
    k = 0
    while every.own[pair, every.rows[sorted_rows[m, k]]["target"]] != sorted_rows[m, k]:
        k += 1
    return int(sorted_rows[m, k])


def row_value(view: StepView, row: int) -> float:
    """Return Y at a row, for the one machine state that is looked at."""
    return float(view.values[np.int64(row) * view.width + view.lane])


def best_in_ball(zero: Any, data: PlanData, pair: int, view: StepView) -> Any:
    """Return the largest Σ p̃·Y within an L1 distance of p̂; a pair never visited may go anywhere.

    Half the radius is added to the best o' (at most to 1) and taken from the worst ones. There is no lower bound.
    """
    pairs, successors, numbers = data.counts.pairs, data.counts.successors, data.memory.by_pair
    top = best_row(data.spec.every, data.memory.sorted_rows, pair, view.lane)
    best, highest = data.spec.every.rows[top]["target"], row_value(view, top)
    left, total = numbers[pair, numbers.shape[1] - 1], highest
    if pairs[pair]["visits"] > 0 and left < 1.0 - numbers[pair, best]:
        first, last = pairs[pair]["first"], pairs[pair]["first"] + np.int64(pairs[pair]["distinct"])
        total = left * highest
        for e in range(first, last):
            total += numbers[pair, successors[e]["target"]] * row_value(view, successors[e]["row"])
        worst, at = -np.inf, first
        while left > 0.0 and at >= 0:
            # The next worst of the successors seen; of equals, the next in order.
            before, value, after, at = worst, np.inf, at, -1
            for e in range(first, last):
                other = row_value(view, successors[e]["row"])
                is_next = other > before or (other == before and e > after)
                if is_next and other < value and successors[e]["target"] != best:
                    value, at = other, e
            if at >= 0:
                taken, worst = min(left, numbers[pair, successors[at]["target"]]), value
                total -= taken * value
                left -= taken
    return zero + total, zero


def best_in_intervals(zero: Any, data: PlanData, pair: int, view: StepView) -> Any:
    """Return the largest Σ p̃·Y with every p̃(o') in its interval: fill from the lower ends upward, the best o' first.

    A pair never visited may go anywhere. There is no lower bound.
    """
    pairs, successors, numbers = data.counts.pairs, data.counts.successors, data.memory.by_pair
    every, sorted_rows = data.spec.every, data.memory.sorted_rows
    left, total, k = numbers[pair, numbers.shape[1] - 1], 0.0, 0
    if pairs[pair]["visits"] == 0:
        left, total = 0.0, row_value(view, best_row(every, sorted_rows, pair, view.lane))
    first = pairs[pair]["first"]
    for e in range(first, first + np.int64(pairs[pair]["distinct"])):
        total += data.memory.by_successor[e, 0] * row_value(view, successors[e]["row"])
    while left > 0.0 and k < sorted_rows.shape[1]:
        row = sorted_rows[view.lane, k]
        z = every.rows[row]["target"]
        if every.own[pair, z] == row:
            added = min(left, numbers[pair, z])
            total += added * row_value(view, row)
            left -= added
        k += 1
    return zero + total, zero
