"""The largest means over KL balls: valid for every law in the set, and attained by one of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from praemia.kernels.certify import largest_mean

seeds = st.integers(0, 2**32 - 1)


def divergence(p_hat: np.ndarray, p: np.ndarray) -> float:
    seen = p_hat > 0
    return float(np.sum(p_hat[seen] * np.log(p_hat[seen] / p[seen])))


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray, float, np.random.Generator]:
    """Return p̂, with 0 on some successors, a function with ties, and the largest value on successors never seen."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 7))
    p_hat = rng.dirichlet(np.full(size, rng.choice([0.3, 1.0, 5.0])))
    p_hat = np.maximum(p_hat, 1e-6) / np.maximum(p_hat, 1e-6).sum()
    values = rng.uniform(size=size) if rng.random() < 0.5 else rng.integers(0, 3, size=size) / 2.0
    top = float(values.max() + rng.choice([0.0, 0.01, 1.0]))
    sign = rng.choice([-1.0, 1.0])  # values of either sign
    return p_hat, values - (2.0 if sign < 0 else 0.0), top - (2.0 if sign < 0 else 0.0), rng


def law_in_ball(p_hat: np.ndarray, target: np.ndarray, radius: float) -> np.ndarray:
    """Go from p̂ as far towards another law as the ball allows; both have one more place, for what was not seen."""

    def excess(t: float) -> float:
        return divergence(p_hat, (1.0 - t) * p_hat + t * target) - radius

    far = 1.0 - 1e-12
    t = far if excess(far) <= 0.0 else brentq(excess, 0.0, far, xtol=1e-14)
    return (1.0 - t) * p_hat + t * target


@given(seed=seeds, log_radius=st.floats(-7.0, 1.0))
def test_no_law_in_a_kl_ball_has_a_larger_mean(seed: int, log_radius: float) -> None:
    p_hat, values, top, rng = drawn(seed)
    radius = 10.0**log_radius
    bound = largest_mean(p_hat, values, len(values), radius, top)
    whole, f = np.append(p_hat, 0.0), np.append(values, top)
    targets = [*np.eye(len(f)), *rng.dirichlet(np.ones(len(f)), size=10)]
    for target in targets:
        assert law_in_ball(whole, target, radius) @ f <= bound + 1e-9


@given(seed=seeds, log_radius=st.floats(-6.0, 1.0))
def test_a_law_in_the_kl_ball_attains_the_bound(seed: int, log_radius: float) -> None:
    p_hat, values, top, _ = drawn(seed)
    radius = 10.0**log_radius
    gap = top - p_hat @ values
    bound = largest_mean(p_hat, values, len(values), radius, top)
    if gap < 1e-6:
        assert bound == pytest.approx(top, abs=1e-6)
        return

    def tilted(distance: float) -> np.ndarray:
        weights = p_hat / (top + distance - values)
        return weights / weights.sum()

    def excess(distance: float) -> float:
        return divergence(p_hat, tilted(distance)) - radius

    nearest = 1e-9 * gap
    if excess(nearest) > 0.0:  # all mass on the successors seen, weighted by 1/(ν − f)
        mean = float(tilted(brentq(excess, nearest, 1e9 * gap, xtol=1e-15, rtol=1e-14)) @ values)
    else:  # the same at ν = top, and the rest of the ball is mass for a successor never seen
        law = tilted(nearest)
        kept = math.exp(divergence(p_hat, law) - radius)
        mean = float(kept * law @ values + (1.0 - kept) * top)
    assert bound == pytest.approx(mean, abs=2e-6 * gap)


def test_a_ball_without_a_radius_is_the_estimate_and_one_successor_has_a_closed_form() -> None:
    probs, values = np.array([0.25, 0.75]), np.array([1.0, 0.0])
    assert largest_mean(probs, values, 2, 0.0, 5.0) == pytest.approx(0.25)
    # The mass of what was never seen is 1 − e^−r at most.
    assert largest_mean(np.ones(1), np.array([0.3]), 1, 0.2, 1.0) == pytest.approx(1.0 - math.exp(-0.2) * 0.7, abs=1e-6)
    assert largest_mean(np.ones(1), np.array([0.3]), 1, 0.2, 0.3) == pytest.approx(0.3)
