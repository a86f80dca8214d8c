"""Stored runs, grouped by what they share, and the statistics that everything shown is made of.

Intervals are bootstrap intervals over runs, with a fixed seed: the same runs give the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from praemia.experiments.records import Record
from praemia.experiments.settings import Setting
from praemia.experiments.store import Store

CONFIDENCE = 0.95
RESAMPLES = 10_000


@dataclass(frozen=True, eq=False)
class Series:
    """The runs of one learner in one setting."""

    task: str
    title: str
    records: tuple[Record, ...]

    @property
    def num_episodes(self) -> int:
        return self.records[0].job.num_episodes

    @cached_property
    def final(self) -> NDArray[np.float64]:
        """float64[R], the exact regret of each run at its end."""
        return np.array([record.regret[-1] for record in self.records])

    def curves(self, episodes: NDArray[np.int64]) -> NDArray[np.float64]:
        """float64[R, len(episodes)], the exact regret of each run after some numbers of episodes (1 … K)."""
        return np.stack([record.regret[episodes - 1] for record in self.records])

    @property
    def late_slope(self) -> float:
        """The mean regret per 1,000 episodes over the last tenth of the runs."""
        last = max(1, self.num_episodes // 10)
        ends = self.curves(np.array([max(1, self.num_episodes - last), self.num_episodes]))
        return float((ends[:, 1] - ends[:, 0]).mean() / last * 1000)

    @property
    def seconds(self) -> float:
        """The mean time of a run, NaN where it is not known."""
        known = [record.seconds for record in self.records if record.seconds is not None]
        return float(np.mean(known)) if known else float("nan")


@dataclass(frozen=True)
class Interval:
    """An estimate with its bootstrap interval."""

    estimate: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.estimate:.4g} [{self.low:.4g}, {self.high:.4g}]"


def collect(store: Store, settings: Iterable[Setting]) -> dict[str, list[Series]]:
    """Read the runs of some settings; settings and learners without a single run are left out."""
    found: dict[str, list[Series]] = {}
    for setting in settings:
        stored = [store.read(job) for job in setting.jobs() if store.has(job)]
        series = group(stored)
        if series:
            found[setting.name] = series
    return found


def group(records: Iterable[Record]) -> list[Series]:
    """Group records by task and learner, in the order in which they first appear."""
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        groups.setdefault((record.job.task.name, record.job.learner.title), []).append(record)
    return [Series(task, title, tuple(members)) for (task, title), members in groups.items()]


def bootstrap_mean(values: Sequence[float] | NDArray[np.float64]) -> Interval:
    """Return the mean of runs with its bootstrap interval."""
    sample = np.asarray(values, dtype=np.float64)
    means = _resampled_means(sample, seed=0)
    return Interval(float(sample.mean()), *_quantiles(means))


def bootstrap_ratio(above: NDArray[np.float64], below: NDArray[np.float64]) -> Interval:
    """Return the ratio of two means of independent runs with its bootstrap interval."""
    ratios = _resampled_means(above, seed=0) / _resampled_means(below, seed=1)
    return Interval(float(above.mean() / below.mean()), *_quantiles(ratios))


def bootstrap_difference(first: NDArray[np.float64], second: NDArray[np.float64]) -> Interval:
    """Return the difference of two means of independent runs with its bootstrap interval."""
    differences = _resampled_means(first, seed=0) - _resampled_means(second, seed=1)
    return Interval(float(first.mean() - second.mean()), *_quantiles(differences))


def _resampled_means(values: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    picks = rng.integers(0, len(values), size=(RESAMPLES, len(values)))
    means: NDArray[np.float64] = values[picks].mean(axis=1)
    return means


def _quantiles(values: NDArray[np.float64]) -> tuple[float, float]:
    tail = (1.0 - CONFIDENCE) / 2.0
    low, high = np.quantile(values, [tail, 1.0 - tail])
    return float(low), float(high)
