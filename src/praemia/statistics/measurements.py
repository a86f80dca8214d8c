"""Claims and their evidence: what is measured of stored runs, what that decides, and which further runs would.

A claim is a statement with what the runs say about it: a list of measurements. It held when each of them does, and did
not hold when one does not. A measurement is missing (None) where a learner has no runs in a setting. Learners are
compared seed by seed, over the seeds that all series of a quantity have. An open measurement gets runs up to the next
of 8, 16, 32 … 512, the numbers at which verdicts may look.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np

from praemia.experiments.paper import SIX_SETTINGS
from praemia.experiments.settings import Experiment
from praemia.statistics.intervals import Interval, exponent_interval, quotient_interval, sum_interval
from praemia.statistics.stored_runs import Series, paired
from praemia.statistics.verdicts import MARGIN, MIN_RUNS, MOST_RUNS, Question, Scale, bonferroni_level

TENFOLD = 10
TOO_FEW = "too few runs"
TOO_WIDE = "the intervals are too wide"
MISSING = "runs missing"

Part: TypeAlias = tuple[str, str]  # a series of a study, as (setting, learner)


# From series and a confidence level to an interval, the scale that it is read on, and how many draws it rests on, runs
# or tasks; None where it cannot be taken.
Measure: TypeAlias = Callable[[Sequence[Series], float], tuple[Interval, Scale, int] | None]


@dataclass(frozen=True)
class Quantity:
    """Something to measure.

    Attributes
    ----------
    what : its name; parts : the series that it is made of.
    words : what it means when it lies above, level with, or below its even value.
    measure : how it is measured.
    """

    what: str
    parts: tuple[Part, ...]
    words: tuple[str, str, str]
    measure: Measure


@dataclass(frozen=True)
class Statement:
    """A claim before it is checked: it holds when the answer to its question is yes for every quantity.

    Attributes
    ----------
    key : a short name for programs; heading : one for people; text : the claim in a sentence.
    source : whether the paper claims it, or it is asked beyond the paper; rule : when it counts as held.
    study : whose runs it is about. context : quantities shown beside those that decide.
    more_runs_help : whether further runs could decide it.
    too_few : what there are too few of, where it is not runs.
    """

    key: str
    heading: str
    source: str
    text: str
    rule: str
    question: Question
    quantities: Sequence[Quantity]
    study: str = SIX_SETTINGS
    context: Sequence[Quantity] = ()
    more_runs_help: bool = True
    too_few: str = ""


@dataclass(frozen=True)
class Measurement:
    """A quantity as it was measured, what that says, and its part in the verdict (True, False, or None: open)."""

    quantity: Quantity
    interval: Interval
    scale: Scale
    runs: int
    outcome: bool | None
    reading: str


@dataclass(frozen=True)
class Claim:
    """A statement and the verdict on it.

    Attributes
    ----------
    held : True, False, or None: not decided, and ``why`` says why.
    confidence : the level of each interval, at which all hold together.
    evidence : the measurements that decide; context : those shown beside them.
    """

    statement: Statement
    held: bool | None
    why: str
    confidence: float
    evidence: tuple[Measurement, ...]
    context: tuple[Measurement, ...] = ()

    @property
    def key(self) -> str:
        return self.statement.key

    @property
    def outcome(self) -> str:
        """One of three: ``held``, ``did not hold``, ``not decided``."""
        return {True: "held", False: "did not hold", None: "not decided"}[self.held]

    @property
    def verdict(self) -> str:
        """The outcome, and why there is none."""
        return f"{self.outcome}: {self.why}" if self.held is None else self.outcome

    @property
    def more_runs_help(self) -> bool:
        """Whether runs can decide it that are not there yet."""
        return self.held is None and self.statement.more_runs_help and self.why != MISSING

    @property
    def summary(self) -> str:
        """How often the deciding measurements read which way; empty where there are too few runs to read anything."""
        counts = Counter(measurement.reading for measurement in self.evidence)
        total = len(self.evidence)
        if set(counts) == {TOO_FEW}:
            return ""
        if total == 1:
            return self.evidence[0].reading
        return "; ".join(f"{reading} in {count} of {total}" for reading, count in counts.most_common())


def ratio(setting: str, other: str, ours: str) -> Quantity:
    """Compare the regrets of two learners in a setting: other ÷ ours, more than 1 where ours is lower."""
    parts = ((setting, other), (setting, ours))
    words = (f"{ours} is lower", "level", f"{other} is lower")
    return Quantity(f"{setting}: {other} ÷ {ours}", parts, words, partial(_quotient, (1, -1)))


def difference(setting: str, other: str, ours: str) -> Quantity:
    """Compare the regrets of two learners in a setting: other − ours, more than 0 where ours is lower."""
    quotient = ratio(setting, other, ours)
    return replace(quotient, what=f"{setting}: {other} − {ours}", measure=partial(_sum, (1, -1)))


def margin_growth(smaller: str, larger: str, other: str, ours: str) -> Quantity:
    """Compare the margins other − ours of two settings: more than 0 where it is wider in the larger one."""
    parts = tuple((setting, title) for setting in (larger, smaller) for title in (other, ours))
    what = f"{larger} against {smaller}: {other} − {ours} is wider by"
    return Quantity(what, parts, ("wider", "no change", "narrower"), partial(_sum, (1, -1, -1, 1)))


def size_effect(smaller: str, larger: str, title: str) -> Quantity:
    """Compare the regrets of one learner in two settings: larger ÷ smaller."""
    parts = ((larger, title), (smaller, title))
    words = ("grows", "no growth", "falls")
    return Quantity(f"{title}: {larger} ÷ {smaller}", parts, words, partial(_quotient, (1, -1)))


def relative_growth(smaller: str, larger: str, other: str, ours: str) -> Quantity:
    """Compare the factors by which two regrets grow: ours ÷ other, less than 1 where ours is slower."""
    parts = tuple((setting, title) for title in (ours, other) for setting in (larger, smaller))
    what = f"{smaller} to {larger}: growth of {ours} ÷ growth of {other}"
    words = (f"{ours} grows faster", "level", f"{ours} grows slower")
    return Quantity(what, parts, words, partial(_quotient, (1, -1, -1, 1)))


def growth(setting: str, title: str) -> Quantity:
    """Find how fast a mean regret grows over the last tenfold of episodes: α in K^α, 0.5 for √K and 1 for linear."""
    words = ("faster than √T", "like √T", "slower than √T")
    return Quantity(f"{setting}: α of {title}", ((setting, title),), words, _exponent)


def _quotient(
    powers: tuple[int, ...], members: Sequence[Series], confidence: float
) -> tuple[Interval, Scale, int] | None:
    samples = paired(members)
    if samples.shape[1] == 0:
        return None
    return quotient_interval(samples, powers, confidence), Scale.ratio(), samples.shape[1]


def _sum(weights: tuple[int, ...], members: Sequence[Series], confidence: float) -> tuple[Interval, Scale, int] | None:
    samples = paired(members)
    if samples.shape[1] == 0:
        return None
    scale = Scale.around(0.0, MARGIN * float(samples.mean(axis=1).max()))
    return sum_interval(samples, weights, confidence), scale, samples.shape[1]


def _exponent(members: Sequence[Series], confidence: float) -> tuple[Interval, Scale, int] | None:
    (series,) = members
    first, last = series.num_episodes // TENFOLD, series.num_episodes
    if first == 0 or not (ends := series.curves(np.array([first, last])).T)[0].mean() > 0.0:
        return None
    scale = Scale.around(0.5, math.log(1.0 + MARGIN) / math.log(last / first))
    return exponent_interval(ends, last / first, confidence), scale, series.num_runs


def check(statement: Statement, settings: Mapping[str, Sequence[Series]]) -> Claim:
    """Check a statement against the runs of its study's settings."""
    series = {(setting, member.title): member for setting, members in settings.items() for member in members}
    confidence = bonferroni_level(statement.question, len(statement.quantities))
    evidence, context = (
        [_measure(quantity, statement.question, series, confidence) for quantity in quantities]
        for quantities in (statement.quantities, statement.context)
    )
    held, why = decide(evidence)
    if held is None and statement.too_few:
        why = f"{statement.too_few} are too few, or do not agree"
    return Claim(statement, held, why, confidence, tuple(filter(None, evidence)), tuple(filter(None, context)))


def _measure(
    quantity: Quantity, question: Question, series: Mapping[Part, Series], confidence: float
) -> Measurement | None:
    """Measure a quantity and ask a question about it; None where a series is missing."""
    members = [series[part] for part in quantity.parts if part in series]
    measured = quantity.measure(members, confidence) if len(members) == len(quantity.parts) else None
    if measured is None:
        return None
    interval, scale, sample = measured
    if sample < MIN_RUNS:
        return Measurement(quantity, interval, scale, sample, None, TOO_FEW)
    outcome, reading = question.judge(interval, scale), scale.read(interval, quantity.words)
    return Measurement(quantity, interval, scale, sample, outcome, reading)


def decide(measurements: Sequence[Measurement | None]) -> tuple[bool | None, str]:
    """Return the verdict on a claim, and why there is none; one is None where its runs are missing.

    One measurement that fails is enough; a claim holds when none is missing and all hold.
    """
    measured = [item for item in measurements if item is not None]
    if any(item.outcome is False for item in measured):
        return False, ""
    if len(measured) < len(measurements) or not measurements:
        return None, MISSING
    few = min((item.runs for item in measured if item.runs < MIN_RUNS), default=None)
    if few is not None:
        return None, f"{TOO_FEW} ({few}; at least {MIN_RUNS} are needed)"
    wide = sum(item.outcome is None for item in measured)
    if wide:
        return None, TOO_WIDE + (f", in {wide} of {len(measured)} comparisons" if len(measured) > 1 else "")
    return True, ""


def verdict_lines(claims: Iterable[Claim]) -> list[str]:
    """Return the verdicts as lines of text: the outcome, the claim, and why there is no outcome."""
    lines = []
    for claim in claims:
        why = f" ({claim.why})" if claim.held is None else ""
        lines.append(f"{claim.outcome:<13} {claim.statement.text}{why}")
    return lines


def next_look(runs: int) -> int:
    """Return the number of runs at which to look next; the present one where there is no next."""
    look = MIN_RUNS
    while look <= runs:
        look *= 2
    return look if look <= MOST_RUNS else runs


def further_runs(claims: Iterable[Claim], catalogue: Sequence[Experiment]) -> list[Experiment]:
    """Return the runs that the open claims ask for, as experiments: parts of those in the catalogue, with more runs."""
    num_runs: dict[str, dict[Part, int]] = {experiment.name: {} for experiment in catalogue}
    for claim in claims:
        wanted = num_runs.get(claim.statement.study, {})
        for item in claim.evidence if claim.more_runs_help else ():
            look = next_look(item.runs)
            if item.outcome is None and look > item.runs:
                wanted.update({part: max(look, wanted.get(part, 0)) for part in item.quantity.parts})
    return [part for experiment in catalogue if (part := _part(experiment, num_runs[experiment.name])).settings]


def _part(experiment: Experiment, num_runs: Mapping[Part, int]) -> Experiment:
    """Return the settings of an experiment in which runs are wanted, one for each number of runs."""
    settings = []
    for setting in experiment.settings:
        numbers = [num_runs.get((setting.name, choice.title), 0) for choice in setting.choices]
        for number in sorted({number for number in numbers if number}):
            choices = tuple(c for c, own in zip(setting.choices, numbers, strict=True) if own == number)
            settings.append(replace(setting, choices=choices, num_runs=number))
    return replace(experiment, settings=tuple(settings))
