"""Confidence intervals over runs: everything that tables, figures and verdicts show comes from here.

Regrets are positive and skewed, so means are judged on the log scale, by Student's t and the delta method:
mean · exp(± t·s/(mean·√n)). Products and quotients of means have the same form. Of the intervals that were tried it
covers the truth most reliably; ``benchmarks/interval_coverage.py`` prints how often.

* Runs that share a seed are compared seed by seed: samples are float64[J, n], with a column for each seed.
* Fewer than 4 values give no interval: its ends are NaN. Samples without spread give one without width.
* A quotient by a mean of 0 is infinite, and 0 ÷ 0 is 1: both lose nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit
from scipy.stats import quantile_test

from praemia._support.arithmetic import students_half_width
from praemia._support.text_tables import number

CONFIDENCE = 0.95
MIN_SAMPLE = 4  # values: fewer give intervals that say nothing

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """An estimate with its confidence interval; the ends are NaN where there is none."""

    estimate: float
    low: float
    high: float

    def __str__(self) -> str:
        if math.isnan(self.low) or math.isnan(self.high):
            return number(self.estimate)
        return f"{number(self.estimate)} [{number(self.low)}, {number(self.high)}]"


def mean_interval(values: ArrayLike, confidence: float = CONFIDENCE) -> Interval:
    """Return the mean of some regrets float64[n] with its interval."""
    return quotient_interval(np.atleast_2d(np.asarray(values, dtype=np.float64)), [1], confidence)


def quotient_interval(samples: ArrayLike, powers: Sequence[int], confidence: float = CONFIDENCE) -> Interval:
    """Return a product of powers of means, Π mean_j^power_j, of samples float64[J, n]; powers 1, −1 give a ratio."""
    array, exponents = np.asarray(samples, dtype=np.float64), np.asarray(powers)
    means = array.mean(axis=1)
    is_zero = means == 0.0
    if (power := int(exponents[is_zero].sum())) != 0:
        value = 0.0 if power > 0 else math.inf
        end = value if array.shape[1] >= MIN_SAMPLE else math.nan
        return Interval(value, end, end)
    logs = exponents[~is_zero] @ np.log(means[~is_zero])
    spread = exponents[~is_zero] @ (array[~is_zero] / means[~is_zero, None])
    half = _half_width(spread, confidence)
    return Interval(*(_exp(logs + step) for step in (0.0, -half, half)))


def sum_interval(samples: ArrayLike, weights: Sequence[int], confidence: float = CONFIDENCE) -> Interval:
    """Return a weighted sum of means, Σ weight_j·mean_j, of samples float64[J, n]; weights 1, −1 give a difference."""
    values = np.asarray(weights) @ np.asarray(samples, dtype=np.float64)
    return _around(values, confidence)


def exponent_interval(ends: Floats, tenfold: float, confidence: float = CONFIDENCE) -> Interval:
    """Return α of a growth like K^α between two ends of the same runs, float64[2, n], K growing by a factor."""
    growth = quotient_interval(ends[::-1], [1, -1], confidence)
    return Interval(*(math.log(value) / math.log(tenfold) for value in (growth.estimate, growth.low, growth.high)))


def ratio_over_groups(log_ratios: Iterable[Sequence[float]], confidence: float = CONFIDENCE) -> Interval:
    """Return a geometric mean over groups of log ratios, in which every group counts once.

    Groups, not their members, are what varies independently: the interval is that of a t test on their means.
    """
    return _exp_of(_around(np.array([np.mean(group) for group in log_ratios]), confidence))


def ratio_within_groups(log_ratios: Iterable[Sequence[float]], confidence: float = CONFIDENCE) -> Interval:
    """Return the same geometric mean where the groups are fixed and their members, two at least, are a sample.

    The interval is that of a stratified mean, with the degrees of freedom of Welch and Satterthwaite.
    """
    groups = [np.asarray(group, dtype=np.float64) for group in log_ratios]
    mean = float(np.mean([group.mean() for group in groups]))
    parts = np.array([group.var(ddof=1) / len(group) for group in groups])
    half = 0.0 if sum(map(len, groups)) >= MIN_SAMPLE else math.nan
    if parts.any() and half == 0.0:
        freedom = parts.sum() ** 2 / sum(part**2 / (len(group) - 1) for part, group in zip(parts, groups, strict=True))
        half = float(stdtrit(freedom, (1.0 + confidence) / 2.0)) * math.sqrt(parts.sum()) / len(groups)
    return _exp_of(Interval(mean, mean - half, mean + half))


def _exp_of(interval: Interval) -> Interval:
    return Interval(_exp(interval.estimate), _exp(interval.low), _exp(interval.high))


def median_interval(values: ArrayLike, confidence: float = CONFIDENCE) -> Interval:
    """Return the median of some numbers with its interval between two of them, by the sign test; NaN for too few."""
    numbers = np.asarray(values, dtype=np.float64)
    ends: Any = quantile_test(numbers).confidence_interval(confidence)
    return Interval(float(np.median(numbers)), float(ends.low), float(ends.high))


def mean_band(curves: Floats, interval: Callable[[Floats], Interval] = mean_interval) -> tuple[Floats, Floats, Floats]:
    """Return the mean of curves float64[n, E] and the two ends of its interval, each [E]; a few runs have none."""
    intervals = [interval(column) for column in curves.T]
    mean, low, high = np.array([(own.estimate, own.low, own.high) for own in intervals]).reshape(-1, 3).T
    return (mean, mean, mean) if len(curves) < MIN_SAMPLE else (mean, low, high)


def _around(values: Floats, confidence: float) -> Interval:
    mean, half = float(values.mean()), _half_width(values, confidence)
    return Interval(mean, mean - half, mean + half)


def _half_width(values: Floats, confidence: float) -> float:
    """Return t·s/√n; NaN for too few values, and exactly 0 where all are the same."""
    if len(values) < MIN_SAMPLE:
        return math.nan
    if values.min() == values.max():
        return 0.0
    return students_half_width(values, confidence)


def _exp(value: float) -> float:
    """Return e^value; an end that is too large for a float is infinite."""
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf
