"""The largest mean of a function over all distributions near an estimate: within a KL ball, or a total variation.

Both are minima of a dual function of one number, and *every* value of that number gives an upper bound. So a search
that stops early is a little loose and never wrong. With p̂ > 0 on the successors seen, a function f on all successors,
seen or not, and top ≥ f:

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

from praemia.kernels.arrays import Floats

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
        square += probs[i] * (values[i] - mean) ** 2
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
