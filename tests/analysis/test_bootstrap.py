"""Intervals: against closed forms, their coverage on data whose truth is known, and their edges."""

from __future__ import annotations

import math

import numpy as np
import pytest
from stored_runs import PRM, studies

from praemia.analysis.bootstrap import bootstrap, bootstrap_difference, bootstrap_mean, bootstrap_ratio, growth_exponent


def test_an_interval_of_the_mean_is_that_of_the_normal_distribution() -> None:
    sample = np.random.default_rng(1).normal(50.0, 8.0, size=400)
    interval = bootstrap_mean(sample)
    half = 1.959964 * sample.std() / math.sqrt(len(sample))
    assert interval.estimate == pytest.approx(sample.mean())
    assert interval.low == pytest.approx(sample.mean() - half, abs=0.06)
    assert interval.high == pytest.approx(sample.mean() + half, abs=0.06)


def test_an_interval_of_a_difference_adds_the_variances() -> None:
    rng = np.random.default_rng(2)
    first, second = rng.normal(30.0, 5.0, size=400), rng.normal(20.0, 3.0, size=300)
    interval = bootstrap_difference(first, second)
    half = 1.959964 * math.sqrt(first.var() / len(first) + second.var() / len(second))
    assert interval.high - interval.low == pytest.approx(2.0 * half, rel=0.04)
    assert interval.estimate == pytest.approx(first.mean() - second.mean())


def test_intervals_of_sixteen_runs_contain_the_truth_about_as_often_as_they_say() -> None:
    rng = np.random.default_rng(3)
    hits = 0
    for _ in range(300):
        interval = bootstrap_ratio(rng.normal(30.0, 4.0, size=16), rng.normal(10.0, 1.0, size=16))
        hits += interval.low <= 3.0 <= interval.high
    # Percentile intervals of 16 values are a little short: about 92 % where 95 % is said.
    assert 0.88 <= hits / 300 <= 0.98


def test_the_same_runs_give_the_same_interval() -> None:
    sample = np.arange(16.0)
    assert bootstrap_mean(sample) == bootstrap_mean(sample.copy())


def test_runs_without_spread_have_an_interval_without_width() -> None:
    interval = bootstrap(lambda a, b, c, d: (a - b) - (c - d), [5.0] * 4, [1.0] * 4, [3.0] * 4, [2.0] * 4)
    assert (interval.estimate, interval.low, interval.high) == (3.0, 3.0, 3.0)


def test_a_ratio_to_no_regret_at_all_is_infinite() -> None:
    interval = bootstrap_ratio(np.ones(4), np.zeros(4))
    assert interval.estimate == interval.low == interval.high == math.inf


@pytest.mark.parametrize("exponent", [0.0, 0.25, 0.5, 1.0])
def test_the_growth_exponent_is_the_slope_on_log_log_axes(exponent: float) -> None:
    series = studies({("riverswim-5", PRM): 20.0}, exponent=exponent)[0].series[0]
    interval = growth_exponent(series)
    assert interval is not None
    # Runs differ by a factor only, so resampling them changes nothing.
    assert (interval.low, interval.estimate, interval.high) == pytest.approx((exponent,) * 3, abs=1e-9)


def test_there_is_no_growth_exponent_without_regret() -> None:
    series = studies({("riverswim-5", PRM): 0.0})[0].series[0]
    assert growth_exponent(series) is None
