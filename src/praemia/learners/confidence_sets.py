"""Confidence sets around p̂: the radius of an L1 ball, and element-wise Bernstein intervals.

Written in NumPy's words, for arrays and, compiled, for single numbers.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

ETA = 1.12


def log_of_subsets(num_observations: int) -> float:
    """Return ln(2^O − 2); 2^O is never formed."""
    if num_observations == 1:
        return -math.inf
    return num_observations * math.log(2.0) + math.log1p(-(2.0 ** (1 - num_observations)))


def l1_radius(n: Any, log_subsets: float, level: float) -> Any:
    """Return √(2(1 + 1/n)·ln(√(n + 1)(2^O − 2)/d)/n), from ln(2^O − 2); 0 for a single observation."""
    log_term = np.maximum(0.0, 0.5 * np.log(n + 1.0) + log_subsets - math.log(level))
    return np.sqrt(2.0 * (1.0 + 1.0 / n) * log_term / n)


def bernstein_interval(p_hat: Any, n: Any, level: float, scale: float) -> tuple[Any, Any]:
    """Return the ends of {x : |x − p̂| ≤ γ(√(2β·x(1 − x)/n) + β/(3n))}.

    β(n) = η·ln(ln(max(n, e))·ln(η·max(n, e))/(d·ln²η)). Each end solves (x − p̂ ∓ c)² = s·x(1 − x) with c = γβ/(3n),
    s = 2γ²β/n; where the shift c alone reaches past 0 or 1, the end is there.
    """
    most = np.maximum(n, math.e)
    beta = ETA * np.log(np.log(most) * np.log(ETA * most) / (level * math.log(ETA) ** 2))
    shift, slope = scale * beta / (3.0 * n), 2.0 * scale**2 * beta / n
    low, high = np.maximum(p_hat - shift, 0.0), np.minimum(p_hat + shift, 1.0)
    # The discriminant (c + s/2)² − (1 + s)c² in a form without cancellation: ends near 1 need it.
    below = np.sqrt(np.maximum(0.0, slope * (low * (1.0 - low) + 0.25 * slope)))
    above = np.sqrt(np.maximum(0.0, slope * (high * (1.0 - high) + 0.25 * slope)))
    lower = (low + 0.5 * slope - below) / (1.0 + slope)
    upper = (high + 0.5 * slope + above) / (1.0 + slope)
    return np.minimum(np.maximum(lower, 0.0), p_hat), np.maximum(np.minimum(upper, 1.0), p_hat)
