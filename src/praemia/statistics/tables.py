"""Tables of stored runs: a row per learner, or per pair of learners."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from praemia.statistics.intervals import Interval, mean_interval, quotient_interval, sum_interval
from praemia.statistics.stored_runs import Series, paired
from praemia.statistics.verdicts import MIN_RUNS, TOO_FEW, Scale
from praemia.text_tables import number

SUMMARY_HEADER = (
    "setting",
    "learner",
    "runs",
    "episodes",
    "regret",
    "std",
    "95% low",
    "95% high",
    "per 1,000 episodes at the end",
    "worst run",
    "plans",
    "seconds per run",
)
COMPARISON_HEADER = ("setting", "first", "second", "runs", "difference", "ratio", "95% low", "95% high", "who is lower")


@dataclass(frozen=True)
class Summary:
    """The final regret of a learner in a setting.

    Attributes
    ----------
    regret : the mean over runs, with its interval; spread : the standard deviation over runs, NaN for one.
    late_slope : the mean regret per 1,000 episodes over the last tenth of the episodes.
    worst : the regret of the worst run; plans : the mean over runs; seconds : the median, NaN where not known.
    """

    setting: str
    learner: str
    runs: int
    episodes: int
    regret: Interval
    spread: float
    late_slope: float
    worst: float
    plans: float
    seconds: float

    def cells(self) -> tuple[str, ...]:
        """Return the line of a table, in the order of ``SUMMARY_HEADER``."""
        numbers = (self.regret.estimate, self.spread, self.regret.low, self.regret.high, self.late_slope, self.worst)
        return (
            self.setting,
            self.learner,
            str(self.runs),
            str(self.episodes),
            *map(number, numbers),
            f"{self.plans:.0f}",
            number(self.seconds),
        )


@dataclass(frozen=True)
class Comparison:
    """Two learners in one setting, seed by seed: first − second and first ÷ second of their mean regrets."""

    setting: str
    first: str
    second: str
    runs: int
    difference: Interval
    ratio: Interval

    @property
    def reading(self) -> str:
        """Who has the lower regret, whether they are level, or that this is not clear."""
        if self.runs < MIN_RUNS:
            return TOO_FEW
        return Scale.ratio().read(self.ratio, (self.second, "level", self.first))

    def cells(self) -> tuple[str, ...]:
        """Return the line of a table, in the order of ``COMPARISON_HEADER``."""
        numbers = (self.difference.estimate, self.ratio.estimate, self.ratio.low, self.ratio.high)
        return (self.setting, self.first, self.second, str(self.runs), *map(number, numbers), self.reading)


def summarise(setting: str, series: Series) -> Summary:
    """Summarise the runs of a learner in a setting."""
    return Summary(
        setting=setting,
        learner=series.title,
        runs=series.num_runs,
        episodes=series.num_episodes,
        regret=mean_interval(series.final),
        spread=series.spread if series.num_runs > 1 else math.nan,
        late_slope=series.late_slope,
        worst=float(series.final.max()),
        plans=float(np.mean([run.num_plans for run in series.runs])),
        seconds=series.seconds,
    )


def compare(setting: str, members: Iterable[Series]) -> list[Comparison]:
    """Compare every two learners of a setting that share seeds."""
    compared = []
    for first, second in combinations(members, 2):
        samples = paired((first, second))
        runs = samples.shape[1]
        if runs:
            intervals = (measure(samples, (1, -1)) for measure in (sum_interval, quotient_interval))
            compared.append(Comparison(setting, first.title, second.title, runs, *intervals))
    return compared
