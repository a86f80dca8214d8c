"""Sums in order and functions rounded correctly: the same bits on every processor.

BLAS and NumPy choose their code by the processor, and with it the order of a sum and the last bit of ``np.log``. So
the modules that plan and play add up in order and use + − × ÷ √, which the standard for floating point fixes, except
where docs/concepts/reproducibility.md says so: some learners take logarithms or draw gamma variates. What others need
beyond these operations is here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Context, Decimal
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

_MANY_DIGITS = Context(prec=40)


@lru_cache(maxsize=1024)  # a learner asks for the same one at every plan
def portable_log(x: float) -> float:
    """Return ln x, rounded correctly; the last bit of ``math.log`` depends on the processor.

    Examples
    --------
    >>> from praemia.learners import portable_log
    >>> portable_log(2.0)
    0.6931471805599453
    """
    return float(Decimal(x).ln(_MANY_DIGITS))


def portable_exp(x: float) -> float:
    """Return e^x, rounded correctly."""
    return float(Decimal(x).exp(_MANY_DIGITS))


def log_of_subsets(num_observations: int) -> float:
    """Return ln(2^O − 2); 2^O is never formed."""
    if num_observations == 1:
        return -math.inf
    return num_observations * portable_log(2.0) + portable_log(1.0 - math.ldexp(1.0, 1 - num_observations))


def ordered_sum(values: ArrayLike, axis: int = -1) -> Any:
    """Return the sum along an axis, added in order as in a loop; NumPy's sum is pairwise.

    Examples
    --------
    >>> import numpy as np
    >>> from praemia.learners import ordered_sum
    >>> values = np.array([1e16, *[1.0] * 15])  # 1e16 + 1 is rounded to 1e16, fifteen times
    >>> float(ordered_sum(values)) == 1e16, float(values.sum()) == 1e16
    (True, False)
    """
    array = np.asarray(values, dtype=np.float64)
    if array.shape[axis] == 0:
        return array.sum(axis=axis)
    return 0.0 + np.add.accumulate(array, axis=axis).take(-1, axis=axis)


def draw(sums: NDArray[np.float64], rng: np.random.Generator) -> int:
    """Sample an index by running sums of weights; scaling makes up for a total that is 1 only to rounding."""
    return int(np.searchsorted(sums, rng.random() * sums[-1], side="right"))


def one_by_one(function: Callable[[float], float], values: ArrayLike) -> NDArray[np.float64]:
    """Apply a function of ``math`` to every number; NumPy's own are chosen by the processor's features."""
    array = np.asarray(values, dtype=np.float64)
    return np.array([function(x) for x in array.ravel().tolist()], dtype=np.float64).reshape(array.shape)


def steps_left(horizon: int, discount: float) -> NDArray[np.float64]:
    """Return S_h = 1 + γ + … + γ^(H−h−1) for h = 0 … H: the value of a reward of 1 at every step left."""
    value = np.zeros(horizon + 1)
    for h in range(horizon - 1, -1, -1):
        value[h] = 1.0 + discount * value[h + 1]
    return value


def students_half_width(values: NDArray[np.float64], confidence: float) -> float:
    """Return t·s/√n, half the width of Student's interval for the mean of two values or more."""
    from scipy.special import stdtrit

    quantile = float(stdtrit(len(values) - 1, (1.0 + confidence) / 2.0))
    return quantile * float(values.std(ddof=1)) / math.sqrt(len(values))
