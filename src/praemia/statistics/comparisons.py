"""Evidence for claims: comparisons of stored runs, and which further runs would decide those that are open.

A comparison is missing (None) where a learner has no runs in a setting. Learners are compared seed by seed, over the
seeds that all of a comparison's series have. An open comparison gets runs up to the next of 8, 16, 32 … 512, the
numbers at which verdicts may look.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from praemia.experiments.settings import Experiment
from praemia.statistics.intervals import Floats, Interval, exponent_interval, quotient_interval, sum_interval
from praemia.statistics.stored_runs import Series, Study, paired
from praemia.statistics.verdicts import (
    MARGIN,
    MIN_RUNS,
    MISSING,
    MOST_RUNS,
    Claim,
    Line,
    Question,
    Scale,
    decide,
    together,
)

TENFOLD = 10


@dataclass(frozen=True)
class Quantity:
    """Something to measure: a quotient or a sum of mean regrets, or an exponent of growth.

    Attributes
    ----------
    what : its name; parts : the series that it is made of, as (study, setting, learner).
    factors : the power or the weight of each part; kind : ``quotient``, ``sum`` or ``growth``.
    words : what it means when it lies above, level with, or below its even value.
    """

    what: str
    parts: tuple[tuple[str, str, str], ...]
    factors: tuple[int, ...]
    kind: str
    words: tuple[str, str, str]


def ratio(setting: str, other: str, ours: str, study: str = "paper") -> Quantity:
    """Compare the regrets of two learners in a setting: other ÷ ours, more than 1 where ours is lower."""
    parts = ((study, setting, other), (study, setting, ours))
    words = (f"{ours} is lower", "level", f"{other} is lower")
    return Quantity(f"{setting}: {other} ÷ {ours}", parts, (1, -1), "quotient", words)


def difference(setting: str, other: str, ours: str, study: str = "paper") -> Quantity:
    """Compare the regrets of two learners in a setting: other − ours, more than 0 where ours is lower."""
    parts = ((study, setting, other), (study, setting, ours))
    words = (f"{ours} is lower", "level", f"{other} is lower")
    return Quantity(f"{setting}: {other} − {ours}", parts, (1, -1), "sum", words)


def margin_growth(smaller: str, larger: str, other: str, ours: str, study: str = "paper") -> Quantity:
    """Compare the margins other − ours of two settings: more than 0 where it is wider in the larger one."""
    parts = tuple((study, setting, title) for setting in (larger, smaller) for title in (other, ours))
    what = f"{larger} against {smaller}: {other} − {ours} is wider by"
    return Quantity(what, parts, (1, -1, -1, 1), "sum", ("wider", "no change", "narrower"))


def size_effect(smaller: str, larger: str, title: str, study: str) -> Quantity:
    """Compare the regrets of one learner in two settings: larger ÷ smaller."""
    parts = ((study, larger, title), (study, smaller, title))
    return Quantity(f"{title}: {larger} ÷ {smaller}", parts, (1, -1), "quotient", ("grows", "no growth", "falls"))


def relative_growth(smaller: str, larger: str, other: str, ours: str, study: str) -> Quantity:
    """Compare the factors by which two regrets grow: ours ÷ other, less than 1 where ours is slower."""
    parts = tuple((study, setting, title) for title in (ours, other) for setting in (larger, smaller))
    what = f"{smaller} to {larger}: growth of {ours} ÷ growth of {other}"
    words = (f"{ours} grows faster", "level", f"{ours} grows slower")
    return Quantity(what, parts, (1, -1, -1, 1), "quotient", words)


def growth(setting: str, title: str, study: str = "paper") -> Quantity:
    """Find how fast a mean regret grows over the last tenfold of episodes: α in K^α, 0.5 for √K and 1 for linear."""
    words = ("faster than √T", "like √T", "slower than √T")
    return Quantity(f"{setting}: α of {title}", ((study, setting, title),), (1,), "growth", words)


class Runs:
    """The series of some studies, by setting and learner."""

    def __init__(self, studies: Iterable[Study]) -> None:
        self._series = {
            (study.name, setting, series.title): series
            for study in studies
            for setting, members in study.settings.items()
            for series in members
        }

    def measure(self, quantity: Quantity, question: Question, confidence: float) -> Line | None:
        """Measure a quantity and ask a question about it; None where a series is missing."""
        found = [self._series[part] for part in quantity.parts if part in self._series]
        if len(found) < len(quantity.parts):
            return None
        samples = paired(found)
        measured = _measured(quantity, found, samples, confidence)
        if measured is None:
            return None
        interval, scale = measured
        return Line.judged(quantity.what, interval, scale, quantity.words, question, samples.shape[1], quantity.parts)

    def claim(
        self,
        key: str,
        statement: str,
        rule: str,
        source: str,
        question: Question,
        quantities: Sequence[Quantity],
        context: Sequence[Quantity] = (),
    ) -> Claim:
        """Check a claim that holds when the answer is yes for every quantity."""
        confidence = together(question, len(quantities))
        lines = [self.measure(quantity, question, confidence) for quantity in quantities]
        beside = [self.measure(quantity, question, confidence) for quantity in context]
        held, why = decide(lines)
        evidence, shown = (tuple(line for line in found if line is not None) for found in (lines, beside))
        return Claim(key, statement, rule, source, held, confidence, evidence, why, shown, why != MISSING)


def _measured(
    quantity: Quantity, found: list[Series], samples: Floats, confidence: float
) -> tuple[Interval, Scale] | None:
    """Return the interval and its scale; None where a growth cannot be told or no seed is shared."""
    if samples.shape[1] == 0:
        return None
    if quantity.kind == "quotient":
        return quotient_interval(samples, quantity.factors, confidence), Scale.ratio()
    if quantity.kind == "sum":
        largest = float(samples.mean(axis=1).max())
        return sum_interval(samples, quantity.factors, confidence), Scale.around(0.0, MARGIN * largest)
    (series,) = found
    first, last = series.num_episodes // TENFOLD, series.num_episodes
    if first == 0 or not (ends := series.curves(np.array([first, last])).T)[0].mean() > 0.0:
        return None
    interval = exponent_interval(ends, last / first, confidence)
    return interval, Scale.around(0.5, math.log(1.0 + MARGIN) / math.log(last / first))


def next_look(runs: int) -> int:
    """Return the number of runs at which to look next; the present one where there is no next."""
    look = MIN_RUNS
    while look <= runs:
        look *= 2
    return look if look <= MOST_RUNS else runs


def further_runs(claims: Iterable[Claim], catalogue: Sequence[Experiment]) -> list[Experiment]:
    """Return the runs that the open claims ask for, as experiments: parts of those in the catalogue, with more runs."""
    wanted: dict[tuple[str, str, str], int] = {}
    for claim in claims:
        if claim.held is None and claim.more_runs_help:
            for line in claim.evidence:
                look = next_look(line.runs)
                if line.outcome is None and look > line.runs:
                    wanted |= {part: max(look, wanted.get(part, 0)) for part in line.parts}
    return [part for experiment in catalogue if (part := _part(experiment, wanted)).settings]


def _part(experiment: Experiment, wanted: dict[tuple[str, str, str], int]) -> Experiment:
    """Return the settings of an experiment in which runs are wanted, one for each number of runs."""
    settings = []
    for setting in experiment.settings:
        numbers = [wanted.get((experiment.name, setting.name, choice.title), 0) for choice in setting.choices]
        for number in sorted({number for number in numbers if number}):
            chosen = tuple(c for c, own in zip(setting.choices, numbers, strict=True) if own == number)
            settings.append(replace(setting, choices=chosen, num_runs=number))
    return replace(experiment, settings=tuple(settings))
