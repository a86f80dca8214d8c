"""Bootstrap intervals over runs, with fixed seeds: the same runs give the same numbers.

An interval is that of the percentiles of the statistic over resampled runs, at 95 %. Samples are resampled
independently of each other, unless they are two looks at the same runs (``growth_exponent``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from praemia.analysis.results import Series

CONFIDENCE = 0.95
RESAMPLES = 10_000

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """An estimate with its bootstrap interval."""

    estimate: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.estimate:.4g} [{self.low:.4g}, {self.high:.4g}]"


def bootstrap(statistic: Callable[..., Floats], *samples: Sequence[float] | Floats) -> Interval:
    """Return a statistic of the means of independent samples, with its interval.

    ``statistic`` takes an array of means per sample and works on them element by element.
    """
    arrays = [np.asarray(sample, dtype=np.float64) for sample in samples]
    means = [_resampled_means(array, seed) for seed, array in enumerate(arrays)]
    with np.errstate(divide="ignore", invalid="ignore"):  # a ratio to a regret of 0 is infinite, and is shown so
        estimate = statistic(*(array.mean(keepdims=True) for array in arrays))
        return Interval(float(estimate[0]), *_quantiles(statistic(*means)))


def bootstrap_mean(values: Sequence[float] | Floats) -> Interval:
    """Return the mean of runs with its interval."""
    return bootstrap(lambda mean: mean, values)


def bootstrap_ratio(above: Floats, below: Floats) -> Interval:
    """Return the ratio of two means of independent runs with its interval."""
    return bootstrap(lambda a, b: a / b, above, below)


def bootstrap_difference(first: Floats, second: Floats) -> Interval:
    """Return the difference of two means of independent runs with its interval."""
    return bootstrap(lambda a, b: a - b, first, second)


def growth_exponent(series: Series) -> Interval | None:
    """Return α of the growth K^α of the mean regret over the last tenfold of episodes, with its interval.

    The exponent is the slope on log–log axes: 0.5 is growth like √K, 1 is linear, 0 is none. None where it
    cannot be told: fewer than 10 episodes, or no regret at the start of the last tenfold.
    """
    first, last = series.num_episodes // 10, series.num_episodes
    if first == 0:
        return None
    ends = series.curves(np.array([first, last]))
    if not ends[:, 0].min() > 0.0:
        return None
    scale = math.log(last / first)
    # Both ends are those of the same runs, so runs are resampled, not ends.
    means = ends[_picks(len(ends), seed=0)].mean(axis=1)
    exponents = np.log(means[:, 1] / means[:, 0]) / scale
    estimate = math.log(ends[:, 1].mean() / ends[:, 0].mean()) / scale
    return Interval(estimate, *_quantiles(exponents))


@lru_cache(maxsize=8)  # most samples have the same number of runs
def _picks(count: int, seed: int) -> NDArray[np.int64]:
    return np.random.default_rng(seed).integers(0, count, size=(RESAMPLES, count))


def _resampled_means(values: Floats, seed: int) -> Floats:
    means: Floats = values[_picks(len(values), seed)].mean(axis=1)
    return means


def _quantiles(values: Floats) -> tuple[float, float]:
    tail = (1.0 - CONFIDENCE) / 2.0
    if not np.isfinite(values).all():
        return _by_order(values, tail)
    low, high = np.quantile(values, [tail, 1.0 - tail])
    return float(low), float(high)


def _by_order(values: Floats, tail: float) -> tuple[float, float]:
    """Take quantiles that are values themselves: between infinite ones there is nothing to interpolate."""
    low, high = np.quantile(values, [tail, 1.0 - tail], method="inverted_cdf")
    return float(low), float(high)
