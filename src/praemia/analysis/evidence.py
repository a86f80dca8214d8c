"""Evidence for claims: comparisons of stored runs, each with its bootstrap interval and how it reads.

A line is missing (None) where a learner has fewer than two runs in a setting: one run has no spread to judge by.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from praemia.analysis.bootstrap import (
    Interval,
    bootstrap,
    bootstrap_difference,
    bootstrap_ratio,
    growth_exponent,
)
from praemia.analysis.results import Series, Study

MIN_RUNS = 2


@dataclass(frozen=True)
class Line:
    """One comparison: what is compared, its estimate with the interval, and what that says."""

    what: str
    interval: Interval
    reading: str


class Runs:
    """The series of some studies, by setting and learner."""

    def __init__(self, studies: Iterable[Study]) -> None:
        self._series = {
            (study.name, setting, series.title): series
            for study in studies
            for setting, members in study.settings.items()
            for series in members
            if series.num_runs >= MIN_RUNS
        }

    def find(self, setting: str, title: str, study: str = "paper") -> Series | None:
        """Return the runs of a learner in a setting, if there are enough of them."""
        return self._series.get((study, setting, title))

    def ratio(self, setting: str, other: str, ours: str, study: str = "paper") -> Line | None:
        """Compare the regrets of two learners in a setting: other ÷ ours, more than 1 where ours is lower."""
        above, below = self.find(setting, other, study), self.find(setting, ours, study)
        if above is None or below is None:
            return None
        interval = bootstrap_ratio(above.final, below.final)
        return Line(f"{setting}: {other} ÷ {ours}", interval, _who(interval, other, ours, even=1.0))

    def difference(self, setting: str, other: str, ours: str) -> Line | None:
        """Compare the regrets of two learners in a setting: other − ours, more than 0 where ours is lower."""
        first, second = self.find(setting, other), self.find(setting, ours)
        if first is None or second is None:
            return None
        interval = bootstrap_difference(first.final, second.final)
        return Line(f"{setting}: {other} − {ours}", interval, _who(interval, other, ours, even=0.0))

    def margin_growth(self, smaller: str, larger: str, other: str, ours: str) -> Line | None:
        """Compare the margins other − ours of two settings: more than 0 where it is wider in the larger one."""
        found = [self.find(setting, title) for setting in (larger, smaller) for title in (other, ours)]
        if any(series is None for series in found):
            return None
        samples = [series.final for series in found if series is not None]
        interval = bootstrap(lambda a, b, c, d: (a - b) - (c - d), *samples)
        what = f"{larger} against {smaller}: by how much {other} − {ours} is wider"
        return Line(what, interval, _side(interval, 0.0, "wider", "no clear change", "narrower"))

    def size_effect(self, smaller: str, larger: str, title: str, study: str) -> Line | None:
        """Compare the regrets of one learner in two settings: larger ÷ smaller."""
        above, below = self.find(larger, title, study), self.find(smaller, title, study)
        if above is None or below is None:
            return None
        interval = bootstrap_ratio(above.final, below.final)
        states = f"{above.model.num_machine_states} against {below.model.num_machine_states} machine states"
        what = f"{title}: {larger} ÷ {smaller} ({states})"
        return Line(what, interval, _side(interval, 1.0, "grows", "no growth seen", "falls"))

    def relative_growth(self, smaller: str, larger: str, other: str, ours: str, study: str) -> Line | None:
        """Compare the factors by which two regrets grow: ours ÷ other, less than 1 where ours is slower."""
        found = [self.find(setting, title, study) for title in (ours, other) for setting in (larger, smaller)]
        if any(series is None for series in found):
            return None
        samples = [series.final for series in found if series is not None]
        interval = bootstrap(lambda a, b, c, d: (a / b) / (c / d), *samples)
        what = f"{smaller} to {larger}: growth of {ours} ÷ growth of {other}"
        return Line(what, interval, _side(interval, 1.0, f"{ours} grows faster", "level", f"{ours} grows slower"))

    def growth(self, setting: str, title: str) -> Line | None:
        """Find how fast the regret of a learner grows at the end: α in K^α."""
        series = self.find(setting, title)
        interval = growth_exponent(series) if series is not None else None
        if interval is None:
            return None
        return Line(
            f"{setting}: α of {title}", interval, _side(interval, 0.5, "faster than √T", "like √T", "slower than √T")
        )


def _side(interval: Interval, even: float, above: str, level: str, below: str) -> str:
    """Read an interval: wholly above a value, wholly below it, or neither."""
    if interval.low > even:
        return above
    return below if interval.high < even else level


def _who(interval: Interval, other: str, ours: str, even: float) -> str:
    return _side(interval, even, f"{ours} is lower", "level", f"{other} is lower")
