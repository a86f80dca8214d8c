"""The bounds of a certificate, from the last step backwards: three numbers for each product state.

With the estimate p̂, Y = φ + γW of a bound's own values at the next step, and most[h, m] = the largest mean that the
machine can still pay:

    UPPER   V̄ = max_a Q̄(a),  Q̄(a) = min(most, largest mean of Ȳ)                      ≥ V*
    LOWER   V̲ = max(0, smallest mean of Y̲ at a = π)                                   ≤ V^π
    LOSS    D = max_a min(most, Q̄(a) − V̲, [a = π]: largest mean of γτD at π)           ≥ V* − V^π

where means are over all p in the pair's KL ball. docs/concepts/certificates.md has the proofs. The table of LOWER holds
−V̲: a smallest mean is then a largest one, and successors never seen are bounded in the same way for all three.

**The largest mean** of f over all p with Σ p̂·ln(p̂/p) ≤ r is the minimum of a dual function of one number: with top ≥ f
on all successors, seen or not,

    pf ≤ ν − exp(Σ p̂·ln(ν − f) − r)   for *every* ν > top,

so that a search which stops early is a little loose and never wrong. The right side is convex in ν. Its derivative is 0
where κ(ν) = Σ p̂·ln(ν − f) + ln Σ p̂/(ν − f) equals r, or else it is smallest at ν = top. For large ν, κ^−½ is nearly
linear, so Newton's method on κ^−½ = r^−½ needs few steps.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from praemia.kernels.bundles import Bundle
from praemia.kernels.compiling import compiled, part
from praemia.kernels.lanes import zeros
from praemia.kernels.records import NUM_EXITS, Actions, Floats, LabelSupport, LayerArrays, ModelArrays, Whole
from praemia.kernels.rows import fill_rows, fill_tops

UPPER, LOWER, LOSS = 0, 1, 2
SIGNS = (1.0, -1.0, 0.0)  # what rewards are multiplied by in the table of each bound

MAX_STEPS = 8
ACCURACY = 1e-3  # of ν; the bound's error is of second order in that of ν
CLOSEST = 1e-6  # ν stays above top by this share of top's distance from the mean
SMALLEST_GAP = 1e-9  # where top and the mean are closer than this, top is the bound


@part
def largest_mean(probs: Floats, values: Any, count: Whole, radius: float, top: float) -> float:
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


class BoundArrays(Bundle):
    """What the bounds are computed from."""

    model: ModelArrays  # p̂
    layers: LayerArrays
    paid: Floats  # [3, L·W], φ times the sign of each bound
    exits: Floats  # [3, H + 1, NUM_EXITS·W], the terminal values, likewise
    support: LabelSupport  # what can follow each pair, seen or not
    paid_there: Floats  # [3, L'·W], φ on the labels of the support
    radii: Floats  # [O·A], of the KL balls; ∞ for a pair never visited
    most: Floats  # [H + 1, M]


class BoundScratch(Bundle):
    """What the bounds are computed in."""

    tables: Floats  # [2, 3, (O + NUM_EXITS + X)·W]: γ times the values of step h in tables[h % 2], V_0 in tables[0]
    tops: Floats  # [3, G·W], the largest Y that can follow the pairs of each group
    tops_by_label: Floats  # [L'·W]
    successors: Floats  # Y of one pair's successors


@part
def begin_bound(data: BoundArrays, scratch: BoundScratch, bound: int, step: Whole, size: int) -> None:
    """Fill in what follows a step: exits, continuation rows, and the largest Y after each pair, seen or not."""
    table, exits = scratch.tables[(step + 1) % 2][bound], data.exits[bound, step + 1]
    width, num_rows = exits.shape[0] // NUM_EXITS, data.model.extra_rows.shape[0]
    for i in range(exits.shape[0]):
        table[size * width + i] = exits[i]
    whole = (0, width)
    fill_rows(zeros(4), table, width, size, data.model.extra_rows, data.layers, data.paid[bound], (0, num_rows), whole)
    fill_tops(zeros(4), data.support, data.paid_there[bound], table, width, scratch.tops_by_label, scratch.tops[bound])


@part
def bound_mean(data: BoundArrays, scratch: BoundScratch, bound: int, step: Whole, pair: Whole, m: Whole) -> float:
    """Return the largest mean of a bound's Y over the KL ball of a pair."""
    table, width = scratch.tables[(step + 1) % 2][bound], data.exits.shape[2] // NUM_EXITS
    top = scratch.tops[bound][np.int64(data.support.groups[pair]) * width + m]
    if data.radii[pair] == np.inf:
        return float(top)
    first, last = data.model.indptr[pair], data.model.indptr[pair + 1]
    for i in range(last - first):
        scratch.successors[i] = table[np.int64(data.model.rows[first + i]) * width + m]
    return largest_mean(data.model.probs[first:last], scratch.successors, last - first, float(data.radii[pair]), top)


@compiled
def bound_values(data: BoundArrays, scratch: BoundScratch, policy: Actions, discount: float) -> None:
    """Leave the bounds of the first step in tables[0]; ``policy`` is [H, O, M], and the tables begin with 0."""
    horizon, size, num_machine_states = policy.shape
    num_actions, width = data.radii.shape[0] // size, data.exits.shape[2] // NUM_EXITS
    for h in range(horizon - 1, -1, -1):
        here, factor = scratch.tables[h % 2], discount if h > 0 else 1.0
        for bound in range(3):
            begin_bound(data, scratch, bound, h, size)
        for o in range(size):
            for m in range(num_machine_states):
                chosen, most = o * num_actions + np.int64(policy[h, o, m]), data.most[h, m]
                lower = max(0.0, -bound_mean(data, scratch, LOWER, h, chosen, m))
                upper, loss = -np.inf, 0.0
                for pair in range(o * num_actions, (o + 1) * num_actions):
                    reached = min(most, bound_mean(data, scratch, UPPER, h, pair, m))
                    lost = reached - lower
                    if pair == chosen:
                        lost = min(lost, bound_mean(data, scratch, LOSS, h, pair, m))
                    upper, loss = max(upper, reached), max(loss, lost)
                place = o * width + m
                here[UPPER][place], here[LOWER][place] = factor * upper, -factor * lower
                here[LOSS][place] = factor * min(most, loss)
