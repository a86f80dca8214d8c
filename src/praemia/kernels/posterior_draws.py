"""Draw a kernel from its Dirichlet posterior, pair by pair; ``praemia.learners.psrl`` says how, and why it is exact.

The constants begin with α, the number of observations, the mass below which sticks are not broken, and whether they are
broken at all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from praemia.kernels.compiling import inlined
from praemia.kernels.recursion import Place, PlanData, value_at, value_of

SMALLEST = 1e-300


def draw_kernel(data: PlanData, pair: int, visits_of_state: float) -> None:
    """Draw a kernel for a pair: weights of the successors seen, and where the prior's part falls."""
    first, last = data.counts.first[pair], data.counts.first[pair] + np.int64(data.counts.distinct[pair])
    total = 0.0
    for e in range(first, last):
        data.memory.by_successor[e, 0] = data.rng.standard_gamma(data.counts.counts[e])
        total += data.memory.by_successor[e, 0]
    if data.constants[3] > 0.0:
        total = break_sticks(data, pair, total)
    else:
        size = data.memory.by_pair.shape[1]
        for z in range(size):
            data.memory.drawn[pair, z] = z
            # A weight of 0 would end the list.
            data.memory.by_pair[pair, z] = max(SMALLEST, data.rng.standard_gamma(data.constants[0] / size))
            total += data.memory.by_pair[pair, z]
    for e in range(first, last):
        data.memory.by_successor[e, 0] /= total
    k = 0
    while k < data.memory.by_pair.shape[1] and data.memory.by_pair[pair, k] > 0.0:
        data.memory.by_pair[pair, k] /= total
        k += 1


@inlined
def break_sticks(data: PlanData, pair: int, seen: float) -> Any:
    """Draw the prior's part as sticks, ended by a weight of 0; return the total weight, what was seen included."""
    memory, num_sticks = data.memory, data.memory.by_pair.shape[1]
    prior, size, least = data.constants[0], data.constants[1], data.constants[2]
    left = max(SMALLEST, data.rng.standard_gamma(prior))
    total, k = seen + left, 0
    while left > 0.0:
        kept = 0.0
        if left >= least * total and k < num_sticks - 1:
            kept = data.rng.random()
            kept = left * (kept if prior == 1.0 else kept ** (1.0 / prior))
        memory.by_pair[pair, k] = left - kept
        memory.drawn[pair, k] = min(size - 1.0, size * data.rng.random())
        left = kept
        k += 1
    if k < num_sticks:
        memory.by_pair[pair, k] = 0.0
    return total


def mean_value(zero: Any, data: PlanData, pair: int, place: Place) -> Any:
    """Return the mean of Y under the kernel that was drawn."""
    first, total, k = data.counts.first[pair], zero, 0
    for e in range(first, first + np.int64(data.counts.distinct[pair])):
        total = total + data.memory.by_successor[e, 0] * value_of(zero, data, place, e)
    while k < data.memory.by_pair.shape[1] and data.memory.by_pair[pair, k] > 0.0:
        total = total + data.memory.by_pair[pair, k] * value_at(zero, data, place, pair, data.memory.drawn[pair, k])
        k += 1
    return total
