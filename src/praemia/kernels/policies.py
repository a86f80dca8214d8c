"""Check a policy in one pass: cheap enough for every plan that a learner makes."""

from __future__ import annotations

from praemia.kernels.arrays import Floats
from praemia.kernels.compiling import compiled


@compiled()
def first_bad_row(weights: Floats, tolerance: float) -> int:
    """Return the first row of weights[R, A] that is no distribution, −1 if there is none."""
    for i in range(weights.shape[0]):
        total, least = 0.0, 0.0
        for a in range(weights.shape[1]):
            total += weights[i, a]
            least = min(least, weights[i, a])
        # Written so that NaN fails.
        if not (abs(total - 1.0) <= tolerance and least >= 0.0):
            return i
    return -1


@compiled()
def summed_up(weights: Floats) -> Floats:
    """Return the running sums of each row of weights[H, O, M, A]: to draw actions from."""
    sums = weights.copy()
    rows = sums.reshape((-1, weights.shape[3]))
    for i in range(rows.shape[0]):
        for a in range(1, rows.shape[1]):
            rows[i, a] += rows[i, a - 1]
    return sums
