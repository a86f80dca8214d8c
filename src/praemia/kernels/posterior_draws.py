"""Draw kernels from their Dirichlet posteriors, pair by pair: with a prior over observations, or on a fictitious one.

``praemia.learners.psrl`` says how the first is drawn, and why it is exact; its constants begin with α, the number of
observations, the mass below which sticks are not broken, and whether they are broken at all. The second is that of
``praemia.learners.opsrl``, with n₀ as its constant.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from praemia.kernels.compiling import INTERNAL, compiled, inlined
from praemia.kernels.records import Floats, SmallInts
from praemia.kernels.recursion import Place, PlanData, value_at, value_of

SMALLEST = 1e-300


@compiled(**INTERNAL)
def draw_gamma(rng: Any, shape: float) -> float:
    """Draw a Gamma variable of scale 1; all that draw share what takes half a second to compile."""
    return float(rng.standard_gamma(shape))


def draw_kernel(data: PlanData, rng: Any, pair: int, visits_of_state: float) -> None:
    """Draw a kernel for a pair: weights of the successors seen, and where the prior's part falls."""
    pairs, successors = data.counts.pairs, data.counts.successors
    first, last = pairs[pair]["first"], pairs[pair]["first"] + np.int64(pairs[pair]["distinct"])
    total = 0.0
    for e in range(first, last):
        data.memory.by_successor[e, 0] = draw_gamma(rng, successors[e]["count"])
        total += data.memory.by_successor[e, 0]
    if data.constants[3] > 0.0:
        total = break_sticks(data.memory.by_pair, data.memory.drawn, data.constants, rng, pair, total)
    else:
        size = data.memory.by_pair.shape[1]
        for z in range(size):
            data.memory.drawn[pair, z] = z
            # A weight of 0 would end the list.
            data.memory.by_pair[pair, z] = max(SMALLEST, draw_gamma(rng, data.constants[0] / size))
            total += data.memory.by_pair[pair, z]
    for e in range(first, last):
        data.memory.by_successor[e, 0] /= total
    k = 0
    while k < data.memory.by_pair.shape[1] and data.memory.by_pair[pair, k] > 0.0:
        data.memory.by_pair[pair, k] /= total
        k += 1


@inlined
def break_sticks(sticks: Floats, drawn: SmallInts, constants: Floats, rng: Any, pair: int, seen: float) -> Any:
    """Draw the prior's part as sticks, ended by a weight of 0; return the total weight, what was seen included."""
    num_sticks, prior, size, least = sticks.shape[1], constants[0], constants[1], constants[2]
    left = max(SMALLEST, draw_gamma(rng, prior))
    total, k = seen + left, 0
    while left > 0.0:
        kept = 0.0
        if left >= least * total and k < num_sticks - 1:
            kept = rng.random()
            kept = left * (kept if prior == 1.0 else kept ** (1.0 / prior))
        sticks[pair, k] = left - kept
        drawn[pair, k] = min(size - 1.0, size * rng.random())
        left = kept
        k += 1
    if k < num_sticks:
        sticks[pair, k] = 0.0
    return total


def drawn_value(zero: Any, data: PlanData, pair: int, place: Place) -> Any:
    """Return the mean of Y under the kernel that was drawn; there is no lower bound."""
    pairs, successors, sticks = data.counts.pairs, data.counts.successors, data.memory.by_pair
    first, total, k = pairs[pair]["first"], zero, 0
    for e in range(first, first + np.int64(pairs[pair]["distinct"])):
        total = total + data.memory.by_successor[e, 0] * value_of(zero, successors, place, e)
    while k < sticks.shape[1] and sticks[pair, k] > 0.0:
        total = total + sticks[pair, k] * value_at(zero, data.spec.every, place, pair, data.memory.drawn[pair, k])
        k += 1
    return total, zero


def draw_arms(data: PlanData, rng: Any, pair: int, visits_of_state: float) -> None:
    """Draw several kernels for a pair: the fictitious observation's part, and the successors'."""
    pairs, successors, drawn = data.counts.pairs, data.counts.successors, data.memory.by_successor
    first, last = pairs[pair]["first"], pairs[pair]["first"] + np.int64(pairs[pair]["distinct"])
    for j in range(data.memory.by_pair.shape[1]):
        fictitious = draw_gamma(rng, data.constants[0])
        total = fictitious
        for e in range(first, last):
            drawn[e, j] = draw_gamma(rng, successors[e]["count"])
            total += drawn[e, j]
        data.memory.by_pair[pair, j] = fictitious / total
        for e in range(first, last):
            drawn[e, j] /= total


def best_of_arms(zero: Any, data: PlanData, pair: int, place: Place) -> Any:
    """Return the largest of the kernels' means; there is no lower bound."""
    pairs, successors, drawn = data.counts.pairs, data.counts.successors, data.memory.by_successor
    first, last = pairs[pair]["first"], pairs[pair]["first"] + np.int64(pairs[pair]["distinct"])
    cap, best = data.spec.steps[place.step]["cap"], zero
    for j in range(data.memory.by_pair.shape[1]):
        total = zero + data.memory.by_pair[pair, j] * cap
        for e in range(first, last):
            total = total + drawn[e, j] * value_of(zero, successors, place, e)
        best = np.maximum(best, total)
    return best, zero
