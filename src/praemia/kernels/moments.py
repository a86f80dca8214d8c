"""Mean and deviation under p̂ of what follows a pair, for four machine states at a time: where plans spend their time.

Both are taken about the first successor: when all successors are worth the same, the deviation is 0 exactly.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from praemia.kernels.arrays import Floats
from praemia.kernels.compiling import compiled
from praemia.kernels.observe import SeenArrays
from praemia.kernels.simd import load, root, select


@compiled(forceinline=True, error_model="numpy")
def moments_to_come(zero: Any, seen: SeenArrays, v: int, worth: Floats, width: int, lane: int) -> tuple[Any, Any]:
    """Return p̂W and √Var_p̂(W) of slot v, where W(o') is what is to come after the step: worth[row · W + m]."""
    first, inverse = seen.indptr[v], 1.0 / seen.visits[v]
    base, mean, square = load(zero, worth, np.int64(seen.rows[first]) * width + lane), zero, zero
    for e in range(first + 1, seen.indptr[v + 1]):
        off = load(zero, worth, np.int64(seen.rows[e]) * width + lane) - base
        weighted = seen.counts[e] * off
        mean, square = mean + weighted, square + weighted * off
    return _mean_and_deviation(zero, base, mean * inverse, square * inverse)


@compiled(forceinline=True, error_model="numpy")
def moments(zero: Any, seen: SeenArrays, v: int, phi: Floats, worth: Floats, width: int, lane: int) -> tuple[Any, Any]:
    """Return p̂Y and √Var_p̂(Y) of slot v, where Y = φ + W is what the step pays and what is to come."""
    first, inverse = seen.indptr[v], 1.0 / seen.visits[v]
    base, mean, square = _paid_and_to_come(zero, seen, first, phi, worth, width, lane), zero, zero
    for e in range(first + 1, seen.indptr[v + 1]):
        off = _paid_and_to_come(zero, seen, e, phi, worth, width, lane) - base
        weighted = seen.counts[e] * off
        mean, square = mean + weighted, square + weighted * off
    return _mean_and_deviation(zero, base, mean * inverse, square * inverse)


@compiled(forceinline=True, error_model="numpy")
def _paid_and_to_come(zero: Any, seen: SeenArrays, e: int, phi: Floats, worth: Floats, width: int, lane: int) -> Any:
    paid = load(zero, phi, int(seen.labels[e]) * width + lane)
    return paid + load(zero, worth, np.int64(seen.rows[e]) * width + lane)


@compiled(forceinline=True)
def _mean_and_deviation(zero: Any, base: Any, mean: Any, square: Any) -> tuple[Any, Any]:
    """Return both, from the mean and the mean square of what differs from the base."""
    variance = square - mean * mean
    return base + mean, root(select(variance > 0.0, variance, zero))
