"""What a certificate brings to the recursion (``praemia.kernels.recursion``): it has no backward loop of its own.

It wants several values of each product state, some from others. So the machine is laid out in copies side by side, one
for each value; the recursion takes (copy, m) for a machine state, and a pair looks into the other copies' columns where
it needs them. A copy that follows the given policy gets −∞ from all other actions.

``bracket_value`` has five copies. With the estimate p̂, Y = φ + W of a copy, and most[h, m] = the most that the machine
can still pay on average:

    UPPER     V̄ = max_a min(most, p̂Ȳ + d)                      ≥ V*
    LOWER     V̲ = max_a max(0, p̂Y̲ − d)                         ≤ V*
    OWN       V̲^π = max(0, p̂Y^π − d), a = π                     ≤ V^π
    FARTHEST  B* = max_a min(most, tv·most + p̂τB*)              ≥ |V̂ − V| of every policy
    DISTANCE  B^π = min(most, tv·most + p̂τB^π), a = π           ≥ |V̂^π − V^π|

The doubt d is tv·most (``doubt_by_distance``), which holds for all machines at once, or ``doubt_around_optimum``: the
smaller of this and b, or b + e for OWN, which hold for a machine fixed before the data. ``praemia.exploration.bounds``
says what b and e are and why this holds. ``along_policy`` has two copies, the optimum and the policy's worst value over
the kernels of a confidence set.

The numbers of a pair stand in memory.by_pair: x = √(2ζ/n) or −1 for one never visited, tv, and the mass of successors
never seen; memory.by_successor has the upper end of p less p̂, constants is most[H + 1, M], and memory.drawn[o, h·M + m]
the policy's action. Counts are p̂ itself, as if every pair had been visited once.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from praemia.kernels.compiling import inlined
from praemia.kernels.recursion import Place, PlanData

UPPER, LOWER, OWN, FARTHEST, DISTANCE = 0, 1, 2, 3, 4
BRACKET_COPIES = 5
OPTIMUM, WORST = 0, 1
SET_COPIES = 2
WIDTH, TV, MISS = 0, 1, 2

# What recipes replace: what a pair is worth in the best kernel of a set, and the doubt about a pair in a bracket.
best_in_set: Any = None
doubt: Any = None


def deviation_bound(variance: float, x: float, most: float) -> float:
    """Bound |(p̂ − p)f| for a function f with values in [0, most], from its variance under p̂ and x = √(2ζ/n).

    The true deviation σ of f solves σ²(1 − x²) − σ·R·x(1 + x²/3) − R²x⁴/36 ≤ Var_p̂(f), and is at most R/2; the bound
    is Bernstein's, σx + Rx²/6.
    """
    sigma = 0.5 * most
    if x < 1.0:
        lead, slope = 1.0 - x * x, most * x * (1.0 + x * x / 3.0)
        rest = variance + most * most * x**4 / 36.0
        sigma = min(sigma, (slope + math.sqrt(slope * slope + 4.0 * lead * rest)) / (2.0 * lead))
    return sigma * x + most * x * x / 6.0


_deviation_bound = inlined(deviation_bound)


@inlined
def value_in(data: PlanData, place: Place, e: int, lane: int) -> float:
    """Return Y of the successor at ``e`` in a column of any copy."""
    return float(place.worth[np.int64(data.counts.rows[e]) * place.width + lane])


@inlined
def optimum_bonus(data: PlanData, place: Place, pair: int, m: int, most: float) -> float:
    """Return b, which bounds |(p̂ − p)f*| at a pair, where f* = φ + W* lies between LOWER and UPPER.

    The deviation of f* under p̂ is at most that of the middle of the two plus half their distance.
    """
    num_states, first = place.width // BRACKET_COPIES, data.counts.first[pair]
    mean, square, spread = 0.0, 0.0, 0.0
    for e in range(first, first + np.int64(data.counts.distinct[pair])):
        upper = value_in(data, place, e, UPPER * num_states + m)
        lower = value_in(data, place, e, LOWER * num_states + m)
        p, middle = data.counts.counts[e], 0.5 * (upper + lower)
        mean += p * middle
        square += p * middle * middle
        spread += p * (upper - lower) ** 2
    deviation = math.sqrt(max(0.0, square - mean * mean)) + 0.5 * math.sqrt(spread)
    return float(_deviation_bound(deviation * deviation, data.memory.by_pair[pair, WIDTH], most))


@inlined
def model_error(data: PlanData, place: Place, pair: int, m: int) -> float:
    """Return e, which bounds (p − p̂)g for 0 ≤ g ≤ UPPER − OWN on the successors seen, ≤ the widest gap on others."""
    num_states, first, far = place.width // BRACKET_COPIES, data.counts.first[pair], data.memory.tops[0]
    total = data.memory.by_pair[pair, MISS] * far
    for e in range(first, first + np.int64(data.counts.distinct[pair])):
        upper = value_in(data, place, e, UPPER * num_states + m)
        own = value_in(data, place, e, OWN * num_states + m)
        total += data.memory.by_successor[e, 0] * (upper - own)
    return float(min(total, data.memory.by_pair[pair, TV] * far))


def doubt_by_distance(data: PlanData, place: Place, pair: int, copy: int, m: int, most: float) -> float:
    """Return tv·most, which bounds |(p̂ − p)f| for every f with values in [0, most], chosen after the data or not."""
    return float(data.memory.by_pair[pair, TV] * most)


def doubt_around_optimum(data: PlanData, place: Place, pair: int, copy: int, m: int, most: float) -> float:
    """Return b, or b + e for the policy's own value, where it is below tv·most."""
    at_most = data.memory.by_pair[pair, TV] * most
    if data.memory.by_pair[pair, WIDTH] < 0.0:
        return float(at_most)  # never visited: there is no b
    bonus = optimum_bonus(data, place, pair, m, most)
    if copy == OWN:
        bonus += model_error(data, place, pair, m)
    return float(min(bonus, at_most))


@inlined
def is_chosen(data: PlanData, pair: int, column: int) -> bool:
    """Tell whether the policy takes a pair's action; ``column`` is h·M + m."""
    o, a = divmod(pair, data.spec.sizes[0])
    return bool(data.memory.drawn[o, column] == a)


def find_widest_gap(zero: Any, data: PlanData, place: Place) -> None:
    """Write the largest UPPER − OWN to memory.tops: what successors never seen are charged with.

    The sink, the last observation, is not one of them.
    """
    num_states, widest = place.width // BRACKET_COPIES, 0.0
    for o in range(data.counts.is_met.shape[0] - 1):
        for m in range(num_states):
            at = o * place.width + m
            widest = max(widest, place.worth[at + UPPER * num_states] - place.worth[at + OWN * num_states])
    data.memory.tops[0] = widest


def bracket_value(zero: Any, data: PlanData, pair: int, place: Place) -> Any:
    """Return one of the five values at a pair."""
    num_states = place.width // BRACKET_COPIES
    copy, m = divmod(place.lane, num_states)
    column, numbers, first = place.step * num_states + m, data.memory.by_pair, data.counts.first[pair]
    if copy in (OWN, DISTANCE) and not is_chosen(data, pair, column):
        return zero - np.inf
    most, mean = data.constants[column], 0.0
    for e in range(first, first + np.int64(data.counts.distinct[pair])):
        mean += data.counts.counts[e] * value_in(data, place, e, place.lane)
    if copy in (FARTHEST, DISTANCE):
        return zero + min(most, numbers[pair, TV] * most + mean)
    doubted = doubt(data, place, pair, copy, m, most)
    if copy == UPPER:
        return zero + min(most, mean + doubted)
    return zero + max(0.0, mean - doubted)


def along_policy(zero: Any, data: PlanData, pair: int, place: Place) -> Any:
    """Return what a pair is worth in the best kernel of a set; the copy WORST, which pays −φ, follows the policy.

    Its values are negative: the kernel that is best for −V is the worst for V.
    """
    num_states = place.width // SET_COPIES
    copy, m = divmod(place.lane, num_states)
    if copy == WORST and not is_chosen(data, pair, place.step * num_states + m):
        return zero - np.inf
    return best_in_set(zero, data, pair, place)
