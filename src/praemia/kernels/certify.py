"""The bounds of a certificate, computed in the learners' recursion (``praemia.kernels.recursion``).

Each product state has several bounds, some computed from others. So the machine is laid out in copies side by side, one
for each bound; the recursion takes (copy, m) for a machine state, and a pair looks into the other copies' columns where
it needs them. A copy that follows the given policy gets −∞ from all other actions. With the estimate p̂, Y = φ + W of a
copy, and most[h, m] = the most that the machine can still pay on average:

    UPPER     V̄ = max_a min(most, largest mean of Ȳ)                                ≥ V*
    LOWER     V̲ = max(0, smallest mean of Y̲), a = π                                 ≤ V*
    OWN       V̲^π = max(0, smallest mean of Y̲^π, Q̲ − largest mean of D), a = π      ≤ V^π
    LOSS      D = max_a min(Q̄ − V̲^π, [a ≠ π]·(Q̄ − Q̲) + largest mean of D)          ≥ V* − V^π
    FARTHEST  B* = max_a min(most, tv·most + p̂τB*)                                  ≥ |V̂ − V| of every policy
    DISTANCE  B^π = min(most, tv·most + p̂τB^π), a = π                               ≥ |V̂^π − V^π|

where means are over all p in the pair's confidence set; in OWN and LOSS, Q̲ and the mean of D are those of the policy's
pair. ``praemia.exploration.bounds`` says why this holds. UPPER and LOWER are about V*, so a machine fixed before the
data lets them use the KL ball for fixed functions; without one, LOWER adds nothing and stays 0. LOWER and OWN are kept
with the sign changed: a smallest mean is then a largest one, and what successors never seen are worth at most is found
for all copies in the same way.

memory.by_pair holds the numbers of a pair: the radius of the KL ball (∞ for a pair never visited), the radius for
functions fixed before the data (negative where there is none), and tv. constants is most[H + 1, M], memory.drawn[o,
h·M + m] the policy's action, and counts are p̂ itself, as if every pair had been visited once. Two tables that are not
needed otherwise are room to work in: memory.lower_tables[0, a] keeps what an action is worth in each column, for later
copies of the same product state, and memory.rewards holds the values of one pair's successors.

**The largest mean** of a function over all distributions within a KL ball or a total variation around an estimate is
the minimum of a dual function of one number, and *every* value of that number gives an upper bound. So a search that
stops early is a little loose and never wrong. With p̂ > 0 on the successors seen, a function f on all successors, seen
or not, and top ≥ f:

**KL.** If Σ p̂·ln(p̂/p) ≤ r then for every ν > top

    pf ≤ ν − exp(Σ p̂·ln(ν − f) − r),

because Σ p̂·ln(ν − f) = Σ p̂·ln(p(ν − f)/p̂) + Σ p̂·ln(p̂/p) ≤ ln Σ p(ν − f) + r by Jensen's inequality, where the sum is
over the successors seen; the others only add to it, so it is at most ν − pf. The right side is convex in ν. Its
derivative is 0 where κ(ν) = Σ p̂·ln(ν − f) + ln Σ p̂/(ν − f) equals r, or else it is smallest at ν = top. For large ν,
κ^−½ is nearly linear, so Newton's method on κ^−½ = r^−½ needs few steps.

**Total variation.** If ½‖p̂ − p‖₁ ≤ t then for every c ≤ top

    pf ≤ p max(f, c) ≤ p̂ max(f, c) + t·(top − c),

because (p − p̂)(max(f, c) − c) is at most t times its largest value. The best c is the smallest value of f for which
p̂(f ≤ c) ≥ t.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from praemia.kernels.compiling import inlined
from praemia.kernels.records import Floats
from praemia.kernels.recursion import Place, PlanData
from praemia.kernels.rows import fill_tops

UPPER, LOWER, OWN, LOSS, FARTHEST, DISTANCE = 0, 1, 2, 3, 4, 5
PAYS = (1.0, -1.0, -1.0, 0.0, 0.0, 0.0)  # what a copy's rewards are multiplied by
NUM_COPIES = 6
KL, FIXED, TV = 0, 1, 2

MAX_STEPS = 8
ACCURACY = 1e-3  # of ν; the bound's error is of second order in that of ν
CLOSEST = 1e-6  # ν stays above top by this share of top's distance from the mean
SMALLEST_GAP = 1e-9  # where top and the mean are closer than this, top is the bound


def largest_by_kl(probs: Floats, values: Any, count: int, radius: float, top: float) -> float:
    """Return an upper bound on Σ p·f over all p with KL(p̂‖p) ≤ radius, where f ≤ top on successors never seen.

    ``probs`` and ``values`` hold p̂ and f of the first ``count`` successors, those seen. The bound is the maximum up to
    the accuracy of the search.
    """
    mean, square = 0.0, 0.0
    for i in range(count):
        mean += probs[i] * values[i]
    for i in range(count):
        square += probs[i] * ((values[i] - mean) * (values[i] - mean))
        top = max(top, values[i])
    gap = top - mean
    if radius <= 0.0:
        return mean
    if gap <= SMALLEST_GAP * max(1.0, abs(top)):
        return top
    best, nearest = top, top + CLOSEST * gap
    nu = max(mean + math.sqrt(0.5 * square / radius), top + 0.01 * gap)
    for _ in range(MAX_STEPS):
        log_mean, first, second = -radius, 0.0, 0.0
        for i in range(count):
            inverse = 1.0 / (nu - values[i])
            log_mean -= probs[i] * math.log(inverse)
            first += probs[i] * inverse
            second += probs[i] * inverse * inverse
        best = min(best, nu - math.exp(log_mean))
        kappa, slope = log_mean + radius + math.log(first), second / first - first
        is_flat = kappa <= 0.0 or slope <= 0.0  # f is constant on the successors seen
        move = nearest - nu if is_flat else 2.0 * kappa * (math.sqrt(kappa / radius) - 1.0) / slope
        after = max(nu + move, top + 0.1 * (nu - top), nearest)
        if abs(after - nu) <= ACCURACY * (nu - top):
            break
        nu = after
    return best


def largest_by_distance(probs: Floats, values: Any, count: int, distance: float, top: float) -> float:
    """Return the largest Σ p·f over all p within a total variation of p̂, where f ≤ top on successors never seen."""
    if distance >= 1.0:
        return top
    below, cut = 0.0, -math.inf
    while below < distance and cut < top:
        above = top
        for i in range(count):
            if cut < values[i] < above:
                above = values[i]
        cut = above
        for i in range(count):
            if values[i] == cut:
                below += probs[i]
    total = distance * (top - cut) if distance > 0.0 else 0.0
    for i in range(count):
        total += probs[i] * max(values[i], cut)
    return total


_by_kl = inlined(largest_by_kl)
_by_distance = inlined(largest_by_distance)


def find_tops(zero: Any, data: PlanData, place: Place) -> None:
    """Find the most that can follow the pairs of each group, seen or not, in every column."""
    memory = data.memory
    fill_tops(zero, data.spec.support, place.worth, place.width, memory.tops_by_label, memory.tops)


@inlined
def load_values(data: PlanData, place: Place, pair: int, lane: int) -> float:
    """Copy Y of the successors seen in a column of any copy to memory.rewards; return its mean under p̂."""
    pairs, successors = data.counts.pairs, data.counts.successors
    first, mean = pairs[pair]["first"], 0.0
    for i in range(np.int64(pairs[pair]["distinct"])):
        value = place.worth[np.int64(successors[first + i]["row"]) * place.width + lane]
        data.memory.rewards[i] = value
        mean += successors[first + i]["count"] * value
    return float(mean)


@inlined
def largest_mean(data: PlanData, place: Place, pair: int, lane: int, radius: float) -> float:
    """Return the largest mean of Y, in a column of any copy, over a KL ball and the distances that are possible."""
    top = data.memory.tops[np.int64(data.spec.support.groups[pair]) * place.width + lane]
    if radius == math.inf:
        return float(top)
    load_values(data, place, pair, lane)
    first, count = data.counts.pairs[pair]["first"], np.int64(data.counts.pairs[pair]["distinct"])
    probs, values = data.counts.successors[first : first + count]["count"], data.memory.rewards
    by_kl = _by_kl(probs, values, count, radius, top)
    return float(min(by_kl, _by_distance(probs, values, count, data.memory.by_pair[pair, TV], top)))


@inlined
def own_value(data: PlanData, place: Place, pair: int, a: int, m: int) -> float:
    """Return V̲^π at the policy's pair; keep the largest mean of D, for LOSS."""
    num_states, kept = place.width // NUM_COPIES, data.memory.lower_tables[0]
    radius = data.memory.by_pair[pair, KL]
    more = largest_mean(data, place, pair, LOSS * num_states + m, radius)
    kept[a, LOSS * num_states + m] = more
    own = -largest_mean(data, place, pair, OWN * num_states + m, radius)
    return float(max(0.0, own, kept[a, LOWER * num_states + m] - more))


@inlined
def loss(data: PlanData, place: Place, a: int, chosen: int, m: int) -> float:
    """Return what an action adds to D, from what the copies before kept of it and of the policy's action."""
    num_states, kept = place.width // NUM_COPIES, data.memory.lower_tables[0]
    upper, more = kept[a, UPPER * num_states + m], kept[chosen, LOSS * num_states + m]
    if a != chosen:
        more += upper - kept[chosen, LOWER * num_states + m]
    return float(max(0.0, min(more, upper - kept[chosen, OWN * num_states + m])))


def bracket_value(zero: Any, data: PlanData, pair: int, place: Place) -> Any:
    """Return one of the six values at a pair; there is no lower bound beside it."""
    num_states, numbers = place.width // NUM_COPIES, data.memory.by_pair
    copy, m = divmod(place.lane, num_states)
    o, a = divmod(pair, data.counts.pairs.shape[0] // data.counts.states.shape[0])
    column = place.step * num_states + m
    most, chosen = data.constants[column], np.int64(data.memory.drawn[o, column])
    if copy in (LOWER, OWN, DISTANCE) and a != chosen:
        return zero - np.inf, zero
    if copy >= FARTHEST:
        return zero + min(most, numbers[pair, TV] * most + load_values(data, place, pair, place.lane)), zero
    if copy == LOSS:
        return zero + min(most, loss(data, place, a, chosen, m)), zero
    is_fixed = numbers[pair, FIXED] >= 0.0
    radius = min(numbers[pair, KL], numbers[pair, FIXED]) if is_fixed else numbers[pair, KL]
    if copy == UPPER:
        value = min(most, largest_mean(data, place, pair, place.lane, radius))
    elif copy == OWN:
        value = own_value(data, place, pair, a, m)
    else:
        value = max(0.0, -largest_mean(data, place, pair, place.lane, radius)) if is_fixed else 0.0
    data.memory.lower_tables[0, a, place.lane] = value
    return zero + (value if copy == UPPER else -value), zero
