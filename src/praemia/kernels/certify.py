"""The bounds of a certificate, from the last step backwards: six numbers for each product state.

With the estimate p̂, Y = φ + γW of a bound's own values at the next step, and most[h, m] = the most that the machine can
still pay on average:

    UPPER     V̄ = max_a min(most, largest mean of Ȳ)                                ≥ V*
    LOWER     V̲ = max(0, smallest mean of Y̲), a = π                                 ≤ V*
    OWN       V̲^π = max(0, smallest mean of Y̲^π, V̲ − largest mean of γτD), a = π    ≤ V^π
    LOSS      D = max_a min(Q̄ − V̲^π, [a ≠ π]·(Q̄ − V̲) + largest mean of γτD)         ≥ V* − V^π
    FARTHEST  B* = max_a min(most, tv·most + γp̂τB*)                                 ≥ |V̂ − V| of every policy
    DISTANCE  B^π = min(most, tv·most + γp̂τB^π), a = π                              ≥ |V̂^π − V^π|

where means are over all p in the pair's confidence set; the mean of D is that of the policy's pair.
``praemia.exploration.bounds`` says why this holds. UPPER and LOWER are about V*, so a machine fixed before the data
lets them use the KL ball for fixed functions; without one, LOWER adds nothing and stays 0. The tables of LOWER and OWN
hold −V̲ and −V̲^π: a smallest mean is then a largest one, and what successors never seen are worth at most is found in
the same way for all bounds.

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
from typing import Any, NamedTuple

import numpy as np

from praemia.kernels.compiling import INTERNAL, UNCOUNTED, compiled, inlined
from praemia.kernels.lanes import zeros
from praemia.kernels.numbers import row
from praemia.kernels.records import FIRST, Actions, Floats, LabelSupport, LayerArrays, ModelArrays
from praemia.kernels.rows import fill_exits, fill_rows, fill_tops

UPPER, LOWER, OWN, LOSS, FARTHEST, DISTANCE = 0, 1, 2, 3, 4, 5
NUM_BOUNDS, NUM_OVER_SETS = 6, 4  # the first four are means over confidence sets
KL, FIXED, TV = 0, 1, 2  # the columns of radii
FOUR = 4  # machine states that are filled at a time

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


class Payments(NamedTuple):
    """A machine as tables are filled with it; what it pays is multiplied by 1, −1 or 0."""

    layers: LayerArrays
    exits: Floats  # [H + 1, NUM_EXITS, W], what having left is worth
    support: LabelSupport  # with the machine on the labels that can occur


class BoundArrays(NamedTuple):
    """What the bounds are computed from, and room to work in; kernels take it by reference."""

    model: ModelArrays  # p̂
    gains: Payments
    costs: Payments
    moves: Payments  # pays nothing
    radii: Floats  # [O·A, 3]: KL, ∞ for a pair never visited; FIXED, negative where there is none; TV
    most: Floats  # [H + 1, M]
    tables: (
        Floats  # [NUM_BOUNDS, O + NUM_EXITS + X, W], γ times the values of the next step and their continuation rows
    )
    tops: Floats  # [NUM_OVER_SETS, G·W], the most that can follow the pairs of each group
    tops_by_label: Floats  # [L·W]
    successors: Floats  # the values of one pair's successors


@compiled(**INTERNAL)
def fill_table(data: BoundArrays, bound: int, payments: Payments, step: int, num_observations: int) -> None:
    """Fill in what follows a step: exits, continuation rows, and the most that can follow each pair, seen or not."""
    table, width, extra_rows = row(data.tables, bound), data.tables.shape[2], data.model.extra_rows
    fill_exits(table, width, num_observations, row(payments.exits, step + 1))
    last_row = extra_rows.shape[0]
    fill_rows(zeros(FOUR), table, width, num_observations, extra_rows, payments.layers, FIRST, last_row, FIRST, width)
    if bound < NUM_OVER_SETS:
        fill_tops(zeros(FOUR), payments.support, table, width, data.tops_by_label, data.tops[bound])


@compiled(**INTERNAL)
def load_successors(data: BoundArrays, bound: int, pair: int, m: int) -> float:
    """Copy Y of the successors seen to data.successors; return its mean under p̂."""
    first, mean = data.model.indptr[pair], 0.0
    for i in range(data.model.indptr[pair + 1] - first):
        value = data.tables[bound, np.int64(data.model.rows[first + i]), m]
        data.successors[i] = value
        mean += data.model.probs[first + i] * value
    return mean


@compiled(**INTERNAL)
def largest_mean(data: BoundArrays, bound: int, pair: int, m: int, radius: float) -> float:
    """Return the largest mean of Y over a KL ball and the distances that are possible."""
    top = data.tops[bound, np.int64(data.gains.support.groups[pair]) * data.tables.shape[2] + m]
    if radius == math.inf:
        return float(top)
    load_successors(data, bound, pair, m)
    first, last = data.model.indptr[pair], data.model.indptr[pair + 1]
    probs, values = data.model.probs[first:last], data.successors
    by_kl = _by_kl(probs, values, last - first, radius, top)
    return float(min(by_kl, _by_distance(probs, values, last - first, data.radii[pair, TV], top)))


@inlined
def radius_for_optimum(data: BoundArrays, pair: int) -> float:
    """Return the radius for functions of the optimum: the smaller one where the machine was fixed before the data."""
    kl, fixed = data.radii[pair, KL], data.radii[pair, FIXED]
    return float(min(kl, fixed) if fixed >= 0.0 else kl)


@inlined
def distance(data: BoundArrays, bound: int, pair: int, m: int, most: float) -> float:
    return float(min(most, data.radii[pair, TV] * most + load_successors(data, bound, pair, m)))


@compiled(**INTERNAL)
def bound_state(data: BoundArrays, first: int, num_actions: int, action: int, m: int, most: float, out: Floats) -> None:
    """Write the bounds of one product state to out[NUM_BOUNDS].

    ``first`` is the state's first pair, ``action`` the policy's action.
    """
    pair, lower = first + action, 0.0
    if data.radii[pair, FIXED] >= 0.0:
        lower = max(0.0, -largest_mean(data, LOWER, pair, m, radius_for_optimum(data, pair)))
    more = largest_mean(data, LOSS, pair, m, data.radii[pair, KL])
    own = max(0.0, -largest_mean(data, OWN, pair, m, data.radii[pair, KL]), lower - more)
    out[UPPER], out[LOWER], out[OWN], out[LOSS], out[FARTHEST] = -math.inf, -lower, -own, 0.0, -math.inf
    for a in range(num_actions):
        upper = min(most, largest_mean(data, UPPER, first + a, m, radius_for_optimum(data, first + a)))
        gap = more if a == action else more + (upper - lower)
        out[UPPER] = max(out[UPPER], upper)
        out[LOSS] = max(out[LOSS], min(most, gap, upper - own))
        out[FARTHEST] = max(out[FARTHEST], distance(data, FARTHEST, first + a, m, most))
    out[DISTANCE] = distance(data, DISTANCE, pair, m, most)


@compiled(**UNCOUNTED)
def bound_values(data: BoundArrays, policy: Actions, discount: float, values: Floats) -> None:
    """Fill values[O, M, NUM_BOUNDS] at the first step; ``policy`` is [H, O, M], and the tables begin with 0."""
    horizon, num_observations, num_machine_states = policy.shape
    num_actions = (data.model.indptr.shape[0] - 1) // num_observations
    for h in range(horizon - 1, -1, -1):
        fill_table(data, UPPER, data.gains, h, num_observations)
        fill_table(data, LOWER, data.costs, h, num_observations)
        fill_table(data, OWN, data.costs, h, num_observations)
        for bound in range(LOSS, NUM_BOUNDS):
            fill_table(data, bound, data.moves, h, num_observations)
        for o in range(num_observations):
            for m in range(num_machine_states):
                action, most = int(policy[h, o, m]), data.most[h, m]
                bound_state(data, o * num_actions, num_actions, action, m, most, values[o, m])
        for bound in range(NUM_BOUNDS):
            for o in range(num_observations):
                for m in range(num_machine_states):
                    data.tables[bound, o, m] = discount * values[o, m, bound]
