"""The inequalities on which optimism rests, over kernels and values of all kinds.

They are what docs/concepts/theory.md and the learners' docstrings say of their bonuses.
"""

from __future__ import annotations

from math import log, sqrt
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from praemia.learners.mvp import C1, C3

MORE_LOGARITHM = 1.46  # how much larger than ι the event's logarithm may be: room for the union over steps


class Case(NamedTuple):
    """A pair's estimate with n visits, and two functions of o' with ``low ≤ high`` in [0, largest]."""

    probs: np.ndarray
    low: np.ndarray
    high: np.ndarray
    visits: float
    log_term: float
    horizon: float


@st.composite
def cases(draw: st.DrawFn, beyond: float = 0.0) -> Case:
    """Draw estimates with likely and very unlikely successors, and values up to H + ``beyond``."""
    size = draw(st.integers(1, 4))
    weights = np.array([10.0 ** draw(st.floats(-6, 0)) for _ in range(size)])
    horizon = float(draw(st.integers(1, 60)))
    share = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1))
    high = np.array([draw(share) for _ in range(size)]) * (horizon + beyond)
    low = np.array([draw(share) for _ in range(size)]) * high
    visits = float(round(10.0 ** draw(st.floats(0, 9))))
    return Case(weights / weights.sum(), low, high, visits, draw(st.floats(log(6), 60)), horizon)


def mean_and_deviation(probs: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    mean = float(probs @ values)
    return mean, sqrt(float(probs @ (values - mean) ** 2))


def steep(case: Case, values: np.ndarray, per_deviation: float, flat: float) -> float:
    """Σ p̂ Y + max{a·√(Var·ℓ/n), flat·Hℓ/n}."""
    mean, deviation = mean_and_deviation(case.probs, values)
    rate = case.log_term / case.visits
    return mean + max(per_deviation * deviation * sqrt(rate), flat * case.horizon * rate)


def truth_at_most(case: Case, more: float = 1.0) -> float:
    """Return what Σ p W* is at most, on the event of the empirical Bernstein inequality, for W* = ``low``."""
    mean, deviation = mean_and_deviation(case.probs, case.low)
    rate = more * case.log_term / max(case.visits - 1.0, 1e-9)
    return min(case.horizon, mean + deviation * sqrt(2.0 * rate) + 7.0 / 3.0 * case.horizon * rate)


def promised_without_the_last_term(case: Case) -> float:
    """Σ p̂ W + b of UCBVI-PRM at W = ``high``, without the terms for rewards and for N'."""
    mean, deviation = mean_and_deviation(case.probs, case.high)
    rate = case.log_term / case.visits
    return mean + sqrt(8.0 * rate) * deviation + 14.0 / 3.0 * case.horizon * rate


UNLIKELY = Case(np.array([0.01, 0.99]), np.array([0.0, 5.0]), np.array([5.0, 5.0]), 1e6, 20.0, 10.0)


@settings(max_examples=200)
@example(UNLIKELY)
@given(cases())
def test_ucbvi_prm_is_optimistic_without_the_last_term_of_its_bonus(case: Case) -> None:
    promised = promised_without_the_last_term(case)
    assert min(case.horizon, promised) >= truth_at_most(case, MORE_LOGARITHM) - 1e-9 * case.horizon


@settings(max_examples=200)
@example(UNLIKELY)
@given(cases())
def test_refined_ucbvi_is_optimistic_while_the_minimum_in_its_last_term_is_the_range(case: Case) -> None:
    case = case._replace(log_term=min(case.log_term, 36.0))
    mean, deviation = mean_and_deviation(case.probs, case.high)
    log_term, most, n = case.log_term, case.horizon, case.visits
    bonus = sqrt(4 * log_term / n) * deviation + 7 * most * log_term / (3 * max(1, n - 1)) + sqrt(4 * most**2 / n)
    assert min(most, mean + bonus) >= truth_at_most(case) - 1e-9 * most


@settings(max_examples=200)
@example(UNLIKELY)
@given(cases(beyond=1.0))
def test_what_mvp_and_headroom_rest_on_rises_with_the_values(case: Case) -> None:
    assert steep(case, case.low, sqrt(8), C3) <= steep(case, case.high, sqrt(8), C3) + 1e-9 * case.horizon
    most = case._replace(horizon=float(case.high.max()))  # headroom: the range is T, the largest value
    assert steep(most, case.low, sqrt(8), 8.0) <= steep(most, case.high, sqrt(8), 8.0) + 1e-9 * case.horizon


@given(cases(beyond=1.0))
def test_mvp_promises_no_less_than_what_it_rests_on(case: Case) -> None:
    mean, deviation = mean_and_deviation(case.probs, case.high)
    rate = case.log_term / case.visits
    found = mean + C1 * deviation * sqrt(rate) + C3 * case.horizon * rate
    assert found >= steep(case, case.high, sqrt(8), C3)
    assert steep(case, case.high, sqrt(8), C3) >= mean + deviation * sqrt(2 * rate) + 3 * case.horizon * rate - 1e-9


def test_mvps_own_sum_does_not_rise_with_the_values() -> None:
    """By hand: 4.95 + 460/9·√(.2475·20/10⁶) + 544/9·200/10⁶ against 5 + 544/9·200/10⁶."""

    def total(values: np.ndarray) -> float:
        mean, deviation = mean_and_deviation(UNLIKELY.probs, values)
        rate = UNLIKELY.log_term / UNLIKELY.visits
        return mean + C1 * deviation * sqrt(rate) + C3 * UNLIKELY.horizon * rate

    assert total(UNLIKELY.low) == pytest.approx(4.95 + 51.1111 * 0.00222486 + 0.0120889, abs=1e-5)
    assert total(UNLIKELY.high) == pytest.approx(5.0120889, abs=1e-6)
    assert total(UNLIKELY.low) > total(UNLIKELY.high)
