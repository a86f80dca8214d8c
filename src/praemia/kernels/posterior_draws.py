"""Draw kernels from their Dirichlet posteriors, pair by pair: with a prior over observations, or on a fictitious one.

``praemia.learners.psrl`` says how the first is drawn, and why it is exact. The second is that of
``praemia.learners.opsrl``. The prior is α or n₀.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from praemia.kernels.compiling import INTERNAL, UNCOUNTED, compiled, inlined
from praemia.kernels.plan_data import PlanData, StepView
from praemia.kernels.records import SMALLEST, Floats, Ints, ModelArrays, Records, SmallInts, Unsigned
from praemia.kernels.recursion import value_in, value_of


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
    total = draw_prior(data.memory.by_pair, data.memory.drawn, data.fixed, rng, pair, total)
    for e in range(first, last):
        data.memory.by_successor[e, 0] /= total
    k, drawn, own = 0, data.memory.drawn, data.spec.every.own
    while k < data.memory.by_pair.shape[1] and data.memory.by_pair[pair, k] > 0.0:
        data.memory.by_pair[pair, k] /= total
        drawn[pair, k] = own[pair, drawn[pair, k]]  # its row, which all steps need
        k += 1


@inlined
def draw_prior(weights: Floats, drawn: SmallInts, fixed: Records, rng: Any, pair: int, seen: float) -> Any:
    """Draw the prior's part of a pair, ended by a weight of 0 where there is room; return the total weight.

    drawn[pair, k] is the successor that weights[pair, k] falls to. The total includes what was seen.
    """
    if fixed[0]["breaks_sticks"] > 0.0:
        return break_sticks(weights, drawn, fixed, rng, pair, seen)
    total, size = seen, weights.shape[1]
    for z in range(size):
        drawn[pair, z] = z
        # A weight of 0 would end the list.
        weights[pair, z] = max(SMALLEST, draw_gamma(rng, fixed[0]["prior"] / size))
        total += weights[pair, z]
    return total


@inlined
def break_sticks(sticks: Floats, drawn: SmallInts, fixed: Records, rng: Any, pair: int, seen: float) -> Any:
    """Draw the prior's part as sticks, ended by a weight of 0; return the total weight, what was seen included."""
    num_sticks, prior = sticks.shape[1], fixed[0]["prior"]
    size, least = fixed[0]["num_successors"], fixed[0]["least_mass"]
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


class PosteriorArrays(NamedTuple):
    """What kernels are drawn from as models to plan in, and the model drawn last."""

    indptr: Ints  # [O·A + 1], the successors seen of each pair
    counts: Floats  # how often each was seen
    targets: SmallInts
    own: Unsigned  # [O·A, N], the continuation row of every successor, seen or not
    fixed: Records  # [1], FIXED
    weights: Floats  # [1, ·], the prior's part of one pair
    drawn: SmallInts
    model: ModelArrays  # written by each draw


@compiled(**UNCOUNTED)
def draw_model(data: PosteriorArrays, rng: Any) -> None:
    """Draw a kernel: for each pair, write the edges to the successors seen, and those of the prior's part."""
    own, indptr, probs, rows, e = data.own, data.model.indptr, data.model.probs, data.model.rows, 0
    for pair in range(own.shape[0]):
        first, total, k = e, 0.0, 0
        indptr[pair] = first
        for i in range(data.indptr[pair], data.indptr[pair + 1]):
            probs[e], rows[e] = draw_gamma(rng, data.counts[i]), own[pair, np.int64(data.targets[i])]
            total, e = total + probs[e], e + 1
        total = draw_prior(data.weights, data.drawn, data.fixed, rng, 0, total)
        while k < data.weights.shape[1] and data.weights[0, k] > 0.0:
            probs[e], rows[e] = data.weights[0, k], own[pair, np.int64(data.drawn[0, k])]
            e, k = e + 1, k + 1
        for i in range(first, e):
            probs[i] /= total
    indptr[own.shape[0]] = e


def drawn_value(zero: Any, data: PlanData, pair: int, view: StepView) -> Any:
    """Return the mean of Y under the kernel that was drawn; there is no lower bound."""
    pairs, successors, sticks, drawn = data.counts.pairs, data.counts.successors, data.memory.by_pair, data.memory.drawn
    first, total, k = pairs[pair]["first"], zero, 0
    for e in range(first, first + np.int64(pairs[pair]["distinct"])):
        total = total + data.memory.by_successor[e, 0] * value_of(zero, successors, view, e)
    while k < sticks.shape[1] and sticks[pair, k] > 0.0:
        total = total + sticks[pair, k] * value_in(zero, view, drawn[pair, k])
        k += 1
    return total, zero


def draw_arms(data: PlanData, rng: Any, pair: int, visits_of_state: float) -> None:
    """Draw several kernels for a pair: the fictitious observation's part, and the successors'."""
    pairs, successors, drawn = data.counts.pairs, data.counts.successors, data.memory.by_successor
    first, last = pairs[pair]["first"], pairs[pair]["first"] + np.int64(pairs[pair]["distinct"])
    for j in range(data.memory.by_pair.shape[1]):
        fictitious = draw_gamma(rng, data.fixed[0]["prior"])
        total = fictitious
        for e in range(first, last):
            drawn[e, j] = draw_gamma(rng, successors[e]["count"])
            total += drawn[e, j]
        data.memory.by_pair[pair, j] = fictitious / total
        for e in range(first, last):
            drawn[e, j] /= total


def best_of_arms(zero: Any, data: PlanData, pair: int, view: StepView) -> Any:
    """Return the largest of the kernels' means; there is no lower bound."""
    pairs, successors, drawn = data.counts.pairs, data.counts.successors, data.memory.by_successor
    first, last = pairs[pair]["first"], pairs[pair]["first"] + np.int64(pairs[pair]["distinct"])
    cap, best = data.spec.steps[view.step]["cap"], zero
    for j in range(data.memory.by_pair.shape[1]):
        total = zero + data.memory.by_pair[pair, j] * cap
        for e in range(first, last):
            total = total + drawn[e, j] * value_of(zero, successors, view, e)
        best = np.maximum(best, total)
    return best, zero
