"""Learners with a bonus: what a pair is worth, from the mean and the deviation under p̂ of what follows it.

With p̂ = N(o, a, ·)/n and Y(m, o') = φ + W = what the step pays and what is to come, ``pair_value`` hands p̂Y and
√Var_p̂(Y) to the learner's ``worth``. Both are taken about the first successor: when all are worth the same, the
deviation is 0 exactly. The variance can also be that of W alone: the rows then hold W, and the mean of φ is added.

    numbers(visits, visits_of_state, constants)             the learner's ``pair_numbers``, once for a plan: floats;
                                                            before the constants, the episodes so far if it is told them
    worth(mean, deviation, pair)                            what the pair is worth
    lower(mean, deviation, pair)                            a lower bound, from the lower values, where there are any

A learner may ask how far the outcomes of a pair differ in this task, as a share of what its limit leaves open. This is
the *spread* of step h, measured on the later steps, over the pairs visited at least twice and all machine states:

    S_h = (0.1·c + Σ √(n/(n − 1)·Var_p̂(Y))) / (c + Σ (limit − p̂Y)),   c = 0.2·Σ_h cap_h.

The *local* limit of a pair is the largest Y that was seen to follow its state, whatever the action; the local spread is
the same with the local limit.

The *gap* of a pair is √(p̂(Ȳ − Y̲)²), how far upper and lower values lie apart. *Later visits* add a term to a pair at
each step, from the visits N'_h(o') to its successors at the next one:

    by_step = factor·√(Σ p̂(o')·min(cost/N'_{h+1}(o'), cap_h²)/n),   cap_h² where N' = 0,

and an end adds nothing: what it is worth is known.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from praemia.kernels.compiling import jitable
from praemia.kernels.lanes import load, store, zeros
from praemia.kernels.numbers import as_floats
from praemia.kernels.plan_data import PlanData, StepView
from praemia.kernels.records import Floats, Whole
from praemia.kernels.switches import (
    BY_STEP,
    HAS_LOWER,
    LANES,
    LATER_VISITS,
    NUM_NUMBERS,
    REPAIRS,
    SPREAD,
    TELLS_EPISODES,
    VARIANCE_OF_W,
    lower,
    numbers,
    worth,
)


class Pair(NamedTuple):
    """What a learner is told about a pair."""

    visits: float
    numbers: tuple[float, ...]  # what the learner's ``pair_numbers`` returned
    limit: Any  # the most that the pair can be worth
    by_step: float  # the learner's number for this pair and step; 0 where it has none
    spread: float  # how far outcomes differ, as a share of what limits leave open; 0 where it is not measured
    local_limit: Any  # the most that was seen to follow any action of the pair's state, with the spread
    local_spread: float  # how far outcomes differ, as a share of what local limits leave open
    gap: Any  # how far upper and lower values of what follows lie apart; 0 where there are no lower values


FIRST_SPREAD, FIRST_WEIGHT = 0.1, 0.2
MOST_NUMBERS = 4  # of a pair


def as_tuple(array: Floats, i: Any) -> Any:
    """Return the numbers of a pair; an unused one for learners that keep none."""
    if NUM_NUMBERS == 4:
        return array[i, 0], array[i, 1], array[i, 2], array[i, 3]
    if NUM_NUMBERS == 3:
        return array[i, 0], array[i, 1], array[i, 2]
    if NUM_NUMBERS == 2:
        return array[i, 0], array[i, 1]
    return (array[i, 0],)


ROOTS, TERMS = 6, 17  # enough for x up to 2⁶³, more than anything can be counted
TWICE_ROOTED = 128.0  # 2·2^ROOTS


@jitable
def natural_log(x: Any) -> Any:
    """Return ln x of a number from 1 to 2⁶³, or of an array, to about 14 digits.

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
    return TWICE_ROOTED * z * total


def find_spread(zero: Any, data: PlanData, view: StepView) -> None:
    """Compute the spreads of a step from the steps after it; before the last step, from what is assumed at first."""
    counts, steps, memory = data.counts, data.spec.steps, data.memory
    horizon, num_actions, sums = steps.shape[0] - 1, counts.pairs.shape[0] // counts.states.shape[0], memory.spread_sums
    if view.step == horizon - 1:
        weight = 0.0
        for h in range(horizon + 1):
            weight += FIRST_WEIGHT * steps[h]["cap"]
        sums[0], sums[1], sums[2] = FIRST_SPREAD * weight, weight, weight
    else:
        differences, room, local_room = zero, zero, zero
        for i in range(counts.totals[0]["states"]):
            first = np.int64(counts.states[i]["ith_met"]) * num_actions
            for pair in range(first, first + num_actions):
                if counts.pairs[pair]["visits"] > 1:
                    differences = differences + load(zero, memory.spread, 3 * pair * LANES)
                    room = room + load(zero, memory.spread, (3 * pair + 1) * LANES)
                    local_room = local_room + load(zero, memory.spread, (3 * pair + 2) * LANES)
        store(memory.options, 0, differences)
        store(memory.options, LANES, room)
        store(memory.options, 2 * LANES, local_room)
        for i in range(3):
            for k in range(LANES):  # NumPy's own sums differ in the last bit where nothing is compiled
                sums[i] += memory.options[i * LANES + k]
    for i in range(2):
        memory.shares[view.step, i] = sums[0] / sums[1 + i] if sums[1 + i] > 0.0 else FIRST_SPREAD


def find_local_limit(zero: Any, data: PlanData, view: StepView, o: Whole, num_actions: int) -> None:
    """Find the most that was seen to follow a state, whatever the action."""
    pairs, successors, best = data.counts.pairs, data.counts.successors, zero
    for pair in range(o * num_actions, (o + 1) * num_actions):
        own = pairs[np.uint64(pair)]
        e = np.uint64(own["first"])
        last = e + np.uint64(own["planned"] if REPAIRS else own["distinct"])
        while e < last:
            best = np.maximum(best, load(zero, view.values, np.int64(successors[e]["row"]) * view.width + view.lane))
            e += np.uint64(1)
    store(data.memory.local_limit, 0, best)


def keep_spread(zero: Any, spread: Floats, at: int, lane: int, part: Any) -> None:
    """Keep a part of the spread: that of the first machine states, or the sum with that of those before."""
    store(spread, at, part if lane == 0 else load(zero, spread, at) + part)


def add_later_visits(data: PlanData, pair: int) -> None:
    """Fill by_step[h, pair] from the later visits."""
    pairs, successors = data.counts.pairs, data.counts.successors
    cost, factor = data.fixed[0]["later_cost"], data.fixed[0]["later_factor"]
    first, visits = pairs[pair]["first"], pairs[pair]["visits"]
    for h in range(data.memory.by_step.shape[0]):
        cap, total = data.spec.steps[h]["cap"], 0.0
        most = cap * cap
        for e in range(first, first + np.int64(pairs[pair]["distinct"])):
            if successors[e]["target"] < data.counts.steps.shape[1]:
                later = data.counts.steps[h + 1, successors[e]["target"]]
                total += successors[e]["count"] * (most if later == 0 else min(cost / later, most))
        data.memory.by_step[h, pair] = factor * np.sqrt(total) / visits


def prepare_pair(data: PlanData, rng: Any, pair: int, visits_of_state: float) -> None:
    """Compute a pair's numbers, and the mean of its rewards where the variance is that of W alone."""
    if LATER_VISITS:
        add_later_visits(data, pair)
    pairs, successors = data.counts.pairs, data.counts.successors
    visits, width, zero = float(pairs[pair]["visits"]), data.memory.tables.shape[2], zeros(LANES)
    if NUM_NUMBERS > 0:
        if TELLS_EPISODES:
            own = numbers(visits, visits_of_state, float(data.counts.totals[0]["episodes"]), data.constants)
        else:
            own = numbers(visits, visits_of_state, data.constants)
        floats = as_floats(own)
        for k in range(len(floats)):
            data.memory.by_pair[pair, k] = floats[k]
    if VARIANCE_OF_W:
        first = pairs[pair]["first"]
        for lane in range(0, width, LANES):
            total = zero
            for e in range(first, first + np.int64(pairs[pair]["distinct"])):
                paid = load(zero, data.spec.paid, np.int64(successors[e]["label"]) * width + lane)
                total = total + successors[e]["count"] * paid
            store(data.memory.rewards, pair * width + lane, total * (1.0 / visits))


def pair_value(zero: Any, data: PlanData, pair: int, view: StepView) -> Any:
    """Return what a pair is worth to the learner, and a lower bound where there are lower values."""
    # Unsigned: a signed index costs a test for "from the end".
    i, pairs, successors, memory = np.uint64(pair), data.counts.pairs, data.counts.successors, data.memory
    width, lane, visits = view.width, view.lane, float(pairs[i]["at_plan"] if REPAIRS else pairs[i]["visits"])
    e, inverse = np.uint64(pairs[i]["first"]), 1.0 / visits
    last = e + np.uint64(pairs[i]["planned"] if REPAIRS else pairs[i]["distinct"])
    at = np.int64(successors[e]["row"]) * width + lane
    base, mean, square = load(zero, view.values, at), zero, zero
    low_base, low_mean, low_square, apart = zero, zero, zero, zero
    if HAS_LOWER:
        low_base = load(zero, view.least, at)
        apart = successors[e]["count"] * (base - low_base) * (base - low_base)
    e += np.uint64(1)
    while e < last:
        count = successors[e]["planned"] if REPAIRS else successors[e]["count"]
        at = np.int64(successors[e]["row"]) * width + lane
        value = load(zero, view.values, at)
        off = value - base
        mean, square = mean + count * off, square + count * off * off
        if HAS_LOWER:
            low = load(zero, view.least, at)
            off = low - low_base
            low_mean, low_square = low_mean + count * off, low_square + count * off * off
            apart = apart + count * (value - low) * (value - low)
        e += np.uint64(1)
    mean, square = mean * inverse, square * inverse
    deviation = np.sqrt(np.maximum(square - mean * mean, zero))
    mean, paid, spread, local_limit, local_spread, by_step = base + mean, zero, 0.0, zero, 0.0, 0.0
    if VARIANCE_OF_W:
        paid = load(zero, memory.rewards, pair * width + lane)
        mean = mean + paid
    if SPREAD:
        spread, local_spread = memory.shares[view.step, 0], memory.shares[view.step, 1]
        local_limit = load(zero, memory.local_limit, 0)
        if visits > 1.0:
            own_place, exists = 3 * pair * LANES, load(zero, memory.exists, lane)
            keep_spread(zero, memory.spread, own_place, lane, np.sqrt(visits / (visits - 1.0)) * deviation)
            keep_spread(zero, memory.spread, own_place + LANES, lane, (view.limit - mean) * exists)
            keep_spread(zero, memory.spread, own_place + 2 * LANES, lane, (local_limit - mean) * exists)
    if BY_STEP:
        by_step = memory.by_step[view.step, pair]
    gap = zero
    if HAS_LOWER:
        gap = np.sqrt(apart * inverse)
    own = Pair(visits, as_tuple(memory.by_pair, i), view.limit, by_step, spread, local_limit, local_spread, gap)
    if HAS_LOWER:
        low_mean, low_square = low_mean * inverse, low_square * inverse
        low_deviation = np.sqrt(np.maximum(low_square - low_mean * low_mean, zero))
        low_mean = low_base + low_mean
        if VARIANCE_OF_W:
            low_mean = low_mean + paid
        return worth(mean, deviation, own), lower(low_mean, low_deviation, own)
    return worth(mean, deviation, own), zero
