"""Intervals: against closed forms and SciPy, and how often they cover what is known to be true."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from praemia.experiments.jobs import LearnerChoice, TaskText
from praemia.simulation import simulate
from praemia.statistics.intervals import (
    Interval,
    exponent_interval,
    mean_band,
    mean_interval,
    median_interval,
    quotient_interval,
    ratio_over_groups,
    ratio_within_groups,
    sum_interval,
)

Floats = NDArray[np.float64]
T15 = 2.131450  # the 97.5 % quantile of t with 15 degrees of freedom, from a printed table


def ends(interval: Interval) -> tuple[float, float, float]:
    return interval.low, interval.estimate, interval.high


def test_the_interval_of_a_mean_is_students_on_the_log_scale() -> None:
    sample = np.random.default_rng(1).gamma(4.0, 5.0, size=16)
    mean, half = sample.mean(), T15 * sample.std(ddof=1) / 4.0
    expected = (mean * math.exp(-half / mean), mean, mean * math.exp(half / mean))
    assert ends(mean_interval(sample)) == pytest.approx(expected, rel=1e-6)


def test_a_difference_is_that_of_the_paired_t_test() -> None:
    first, second = np.random.default_rng(2).normal(30.0, 5.0, size=(2, 16))
    expected = stats.ttest_rel(first, second).confidence_interval(0.99)
    found = sum_interval([first, second], [1, -1], 0.99)
    assert ends(found) == pytest.approx((expected.low, first.mean() - second.mean(), expected.high))


def test_what_two_learners_share_at_a_seed_cancels_in_their_ratio() -> None:
    shared = np.random.default_rng(3).gamma(4.0, 5.0, size=16)
    assert ends(quotient_interval([3.0 * shared, shared], [1, -1])) == pytest.approx((3.0, 3.0, 3.0))
    apart = quotient_interval([3.0 * shared, np.roll(shared, 5)], [1, -1])
    assert apart.high / apart.low > 1.1


@given(st.floats(0.1, 100.0), st.floats(0.1, 100.0), st.integers(0, 1000))
def test_intervals_of_ratios_do_not_depend_on_the_unit_and_turn_over_with_the_ratio(
    unit: float, other: float, seed: int
) -> None:
    samples = np.random.default_rng(seed).gamma(2.0, 1.0, size=(2, 8))
    plain, scaled = (quotient_interval(s, [1, -1]) for s in (samples, samples * [[unit], [other]]))
    assert ends(scaled) == pytest.approx(tuple(value * unit / other for value in ends(plain)))
    turned = quotient_interval(samples, [-1, 1])
    assert ends(turned) == pytest.approx((1.0 / plain.high, 1.0 / plain.estimate, 1.0 / plain.low))


@pytest.mark.parametrize("value", [0.1, 0.3, 7.0, 1e6])
def test_samples_without_spread_are_exact(value: float) -> None:
    constant = np.full(8, value)
    assert mean_interval(constant).low == mean_interval(constant).high
    ratio = quotient_interval([constant, 3.0 * constant], [1, -1])
    assert ratio.low == ratio.estimate == ratio.high == pytest.approx(1.0 / 3.0)


def test_ratios_to_no_regret_at_all() -> None:
    nothing, something = np.zeros(8), np.arange(1.0, 9.0)
    assert ends(quotient_interval([something, nothing], [1, -1])) == (math.inf,) * 3
    assert ends(quotient_interval([nothing, something], [1, -1])) == (0.0,) * 3
    assert ends(quotient_interval([nothing, nothing], [1, -1])) == (1.0,) * 3
    assert ends(mean_interval(nothing)) == (0.0,) * 3


def test_a_regret_that_is_mostly_nothing_has_a_wide_interval() -> None:
    found = mean_interval([0.0] * 7 + [8.0])
    assert found.estimate == 1.0
    assert 0.0 < found.low < 0.2
    assert 5.0 < found.high < math.inf


def test_an_end_that_is_too_large_for_a_float_is_infinite() -> None:
    # Four runs at a level that nobody asks for: t is in the thousands.
    found = quotient_interval([[1.0, 2.0, 1.0, 2.0], [2.0, 1.0, 2.0, 1.0]], [1, -1], 1.0 - 1e-12)
    assert ends(found) == (0.0, 1.0, math.inf)


@pytest.mark.parametrize("measure", [mean_interval, lambda x: quotient_interval([x, [2.0, 1.0, 3.0]], [1, -1])])
@pytest.mark.parametrize("values", [[0.0, 0.0, 0.0], [3.0, 1.0, 2.0]])
def test_fewer_than_four_runs_have_no_interval(measure: Callable[[list[float]], Interval], values: list[float]) -> None:
    found = measure(values)
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert math.isfinite(found.estimate)
    assert "[" not in str(found)
    assert math.isfinite(mean_interval([*values, 4.0]).high)


def test_every_group_counts_once_and_the_groups_are_what_varies() -> None:
    groups = [[math.log(2.0)] * 5, [math.log(8.0)], [math.log(1.0), math.log(16.0)], [math.log(4.0)]]
    means = np.log([2.0, 8.0, 4.0, 4.0])
    half = 3.182446 * means.std(ddof=1) / 2.0  # t with three degrees of freedom
    expected = [4.0 * math.exp(step) for step in (-half, 0.0, half)]
    assert ends(ratio_over_groups(groups)) == pytest.approx(expected, rel=1e-6)


def test_where_groups_are_fixed_their_members_are_what_varies() -> None:
    """Two groups of equal size and spread: that is the t test of two pooled samples, with their degrees of freedom."""
    groups = [[0.0, 1.0, 2.0], [10.0, 11.0, 12.0]]
    half = 2.776445 * math.sqrt(1.0 / 3.0 + 1.0 / 3.0) / 2.0  # t with four degrees of freedom
    assert ends(ratio_within_groups(groups)) == pytest.approx([math.exp(6.0 + s) for s in (-half, 0.0, half)], rel=1e-6)
    assert ends(ratio_within_groups([[1.0, 1.0], [3.0, 3.0]])) == pytest.approx((math.exp(2.0),) * 3)


def test_the_interval_of_a_median_is_that_of_the_sign_test() -> None:
    """Of 10 numbers the second and the ninth: 1 − 2·(1 + 10)/1024 = 97.9 %; the third and the eighth give 89 %."""
    assert ends(median_interval(np.arange(10, 0, -1))) == (2.0, 5.5, 9.0)
    assert math.isnan(median_interval([1.0, 2.0, 3.0, 4.0, 5.0]).low)  # 1 − 2/32 is less than 95 %
    assert ends(median_interval([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])) == (1.0, 3.5, 6.0)


@pytest.mark.parametrize("exponent", [0.0, 0.25, 0.5, 1.0])
def test_the_exponent_of_growth_is_the_slope_on_log_log_axes(exponent: float) -> None:
    late = np.array([10.0, 20.0, 40.0, 50.0])
    curves = np.stack([late * 10.0**-exponent, late])
    assert ends(exponent_interval(curves, 10.0)) == pytest.approx((exponent,) * 3, abs=1e-9)


def test_a_band_is_the_interval_at_every_point_and_stays_above_nothing() -> None:
    curves = np.random.default_rng(4).gamma(1.0, 1.0, size=(8, 5)).cumsum(axis=1)
    curves[:, 0] = 0.0
    mean, low, high = mean_band(curves)
    for place in range(5):
        assert (low[place], mean[place], high[place]) == pytest.approx(ends(mean_interval(curves[:, place])))
    assert all(part == pytest.approx(curves[0], rel=1e-12) for part in mean_band(curves[:1]))


# Coverage. With N trials at a true coverage c the share covered lies within 3.3·√(c(1 − c)/N) of c but for one case in
# a thousand; that is what the bounds below allow for.


def covered(draw: Callable[[], Floats], measure: Callable[[Floats], Interval], truth: float, trials: int) -> float:
    hits = 0
    for _ in range(trials):
        interval = measure(draw())
        hits += interval.low <= truth <= interval.high
    return hits / trials


@pytest.mark.parametrize("runs", [8, 16, 64])
def test_intervals_cover_the_mean_of_skewed_regrets_as_often_as_they_say(runs: int) -> None:
    """Lognormal regrets with a spread of half their mean, as Headroom's are on the paper's tasks."""
    rng = np.random.default_rng(5)
    sigma = math.sqrt(math.log(1.25))
    found = covered(lambda: rng.lognormal(0.0, sigma, size=runs), mean_interval, math.exp(sigma**2 / 2.0), 2000)
    assert 0.91 <= found <= 0.97


def test_intervals_at_the_level_of_verdicts_cover_too() -> None:
    rng = np.random.default_rng(6)
    found = covered(lambda: rng.gamma(4.0, 1.0, size=(2, 16)), lambda s: quotient_interval(s, [1, -1], 0.99), 1.0, 2000)
    assert found >= 0.98


@pytest.mark.parametrize("kinds", [4, 6])
def test_ratios_over_kinds_cover_although_the_tasks_of_a_kind_are_alike(kinds: int) -> None:
    """Kinds differ by a normal amount, and so do tasks in a kind, less; kinds have one to four tasks."""
    rng = np.random.default_rng(7)

    def draw() -> list[list[float]]:
        sizes = rng.integers(1, 5, size=kinds)
        return [(0.5 + rng.normal(0.0, 0.4) + rng.normal(0.0, 0.2, size=n)).tolist() for n in sizes]

    hits = 0
    for _ in range(2000):
        interval = ratio_over_groups(draw())
        hits += interval.low <= math.exp(0.5) <= interval.high
    assert 0.93 <= hits / 2000 <= 0.97


def test_ratios_within_kinds_cover_for_tasks_drawn_anew_from_the_same_kinds() -> None:
    """Eleven kinds of four tasks, with means and spreads of their own; 95 % ± 1.6 % at three standard errors."""
    rng = np.random.default_rng(8)
    means, spreads = rng.normal(0.3, 0.5, size=11), rng.uniform(0.1, 0.6, size=11)
    hits = 0
    for _ in range(2000):
        interval = ratio_within_groups(list(rng.normal(means, spreads, size=(4, 11)).T))
        hits += interval.low <= math.exp(means.mean()) <= interval.high
    assert 0.93 <= hits / 2000 <= 0.97


@pytest.mark.slow
@pytest.mark.parametrize("task", ["warehouse-3", "riverswim-5"])
def test_intervals_cover_on_pools_of_real_regrets(task: str) -> None:
    """Samples from 400 runs of two learners; the truth is the pool's; ``benchmarks/interval_coverage.py`` has more."""
    model = TaskText.builtin(task).make()
    pool = np.array(
        [
            [simulate(model, LearnerChoice.of(name).make(), 10_000, (0, run)).regret[-1] for run in range(400)]
            for name in ("ucbvi-prm", "headroom")
        ]
    )
    rng = np.random.default_rng(8)
    ratio = float(pool[0].mean() / pool[1].mean())
    for runs in (8, 16, 64):
        alone = covered(lambda n=runs: pool[1, rng.integers(0, 400, n)], mean_interval, pool[1].mean(), 2000)  # type: ignore[misc]
        both = covered(
            lambda n=runs: pool[:, rng.integers(0, 400, n)],  # type: ignore[misc]
            lambda s: quotient_interval(s, [1, -1]),
            ratio,
            2000,
        )
        assert alone >= 0.90, runs
        assert both >= 0.90, runs
