"""Learners with a bonus: what a pair is worth, from the mean and the deviation under p̂ of what follows it.

With p̂ = N(o, a, ·)/n and Y(m, o') = φ + W = what the step pays and what is to come, ``pair_value`` hands p̂Y and
√Var_p̂(Y) to the learner's ``worth``. Both are taken about the first successor: when all are worth the same, the
deviation is 0 exactly. Where rewards are kept apart, the deviation is that of W alone.

    numbers(visits, visits_of_state, constants)   the numbers of a pair, once for a plan: a tuple of floats
    worth(mean, deviation, pair)                  what the pair is worth

A learner may ask how far the outcomes of a pair differ in this task, as a share of what its limit leaves open. This is
the *spread* of step h, measured on the later steps, over the pairs visited at least twice and all machine states:

    S_h = max{0.02, (0.1·c + Σ √(n/(n − 1)·Var_p̂(Y))) / (c + Σ (limit − p̂Y))},   c = 0.2·Σ_h cap_h.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from praemia.kernels.arrays import Floats
from praemia.kernels.recursion import Place, PlanData, value_of
from praemia.kernels.simd import load, store, zeros


class Pair(NamedTuple):
    """What a learner is told about a pair."""

    visits: float
    numbers: tuple[float, ...]  # what the learner's ``numbers`` returned
    limit: Any  # the most that the pair can be worth
    cap: float  # the most that can still be earned at this step
    by_step: float  # the learner's number for this pair and step; 0 where it has none
    spread: float  # how far outcomes differ, as a share of what limits leave open; 0 where it is not measured


# Replaced when a learner's plan is compiled.
LANES = 4
REWARDS_ARE_APART = False
HAS_STEP_NUMBERS = False
MEASURES_SPREAD = False
numbers: Any = None
worth: Any = None
as_tuple: Any = None
prepare_steps: Any = None

LEAST_SPREAD, FIRST_SPREAD, FIRST_WEIGHT = 0.02, 0.1, 0.2

AS_TUPLE: tuple[Any, ...] = (
    None,
    lambda array, i: (array[i, 0],),
    lambda array, i: (array[i, 0], array[i, 1]),
    lambda array, i: (array[i, 0], array[i, 1], array[i, 2]),
    lambda array, i: (array[i, 0], array[i, 1], array[i, 2], array[i, 3]),
)


def one_number(visits: float, visits_of_state: float, constants: Floats) -> tuple[float, ...]:
    """Return an unused number, for learners that keep none: compiled code has no empty tuples."""
    return (0.0,)


def find_spread(zero: Any, data: PlanData, place: Place) -> None:
    """Compute the spread of a step from the steps after it; before the last step, from what is assumed at first."""
    spread = data.memory.spread
    if place.step == data.spec.caps.shape[0] - 2:
        weight = 0.0
        for cap in data.spec.caps:
            weight += FIRST_WEIGHT * cap
        spread[:] = 0.0
        spread[0], spread[LANES] = FIRST_SPREAD * weight, weight
    differences, room = 0.0, 0.0
    for k in range(LANES):  # NumPy's own sums differ in the last bit where nothing is compiled
        differences, room = differences + spread[k], room + spread[LANES + k]
    spread[2 * LANES] = max(LEAST_SPREAD, differences / room) if room > 0.0 else LEAST_SPREAD


def prepare_pair(data: PlanData, pair: int, visits_of_state: float) -> None:
    """Compute a pair's numbers, and the mean of its rewards where these are kept apart."""
    prepare_steps(data, pair, visits_of_state)
    visits, width, zero = float(data.counts.visits[pair]), data.memory.tables.shape[2], zeros(LANES)
    found = numbers(visits, visits_of_state, data.constants)
    for k in range(len(found)):
        data.memory.by_pair[pair, k] = found[k]
    if REWARDS_ARE_APART:
        first = data.counts.first[pair]
        for lane in range(0, width, LANES):
            total = zero
            for e in range(first, first + np.int64(data.counts.distinct[pair])):
                paid = load(zero, data.spec.paid, np.int64(data.counts.labels[e]) * width + lane)
                total = total + data.counts.counts[e] * paid
            store(data.memory.rewards, pair * width + lane, total * (1.0 / visits))


def pair_value(zero: Any, data: PlanData, pair: int, place: Place) -> Any:
    """Return what a pair is worth to the learner."""
    # Unsigned: a signed index costs a test for "from the end".
    i = np.uint64(pair)
    visits, e = float(data.counts.visits[i]), np.uint64(data.counts.first[i])
    last, inverse = e + np.uint64(data.counts.distinct[i]), 1.0 / visits
    base, mean, square = value_of(zero, data, place, e), zero, zero
    e += np.uint64(1)
    while e < last:
        off = value_of(zero, data, place, e) - base
        weighted = data.counts.counts[e] * off
        mean, square = mean + weighted, square + weighted * off
        e += np.uint64(1)
    mean, square = mean * inverse, square * inverse
    variance = square - mean * mean
    mean = base + mean
    if REWARDS_ARE_APART:
        mean = mean + load(zero, data.memory.rewards, pair * place.width + place.lane)
    deviation = np.sqrt(np.maximum(variance, zero))
    spread = 0.0
    if MEASURES_SPREAD:
        sums = data.memory.spread
        spread = sums[2 * LANES]
        if visits > 1.0:
            store(sums, 0, load(zero, sums, 0) + np.sqrt(visits / (visits - 1.0)) * deviation)
            store(sums, LANES, load(zero, sums, LANES) + (place.limit - mean))
    by_step = 0.0
    if HAS_STEP_NUMBERS and data.memory.by_step.shape[0] > 0:
        by_step = data.memory.by_step[place.step, pair]
    told = Pair(visits, as_tuple(data.memory.by_pair, i), place.limit, data.spec.caps[place.step], by_step, spread)
    return worth(mean, deviation, told)
