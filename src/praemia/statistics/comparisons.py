"""Evidence for claims: what is measured of stored runs, and which further runs would decide what is open.

A comparison is missing (None) where a learner has no runs in a setting. Learners are compared seed by seed, over the
seeds that all of a comparison's series have. An open comparison gets runs up to the next of 8, 16, 32 … 512, the
numbers at which verdicts may look.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np

from praemia.experiments.settings import Experiment
from praemia.statistics.intervals import Interval, exponent_interval, quotient_interval, sum_interval
from praemia.statistics.stored_runs import Series, Study, paired
from praemia.statistics.verdicts import (
    MARGIN,
    MIN_RUNS,
    MISSING,
    MOST_RUNS,
    TOO_FEW,
    Claim,
    Line,
    Part,
    Question,
    Scale,
    bonferroni_level,
    decide,
)

TENFOLD = 10


class Measurement(NamedTuple):
    """What a measurement found.

    Attributes
    ----------
    sample : how many draws the interval rests on, runs or tasks.
    reading : what it says, where that is not told by the side of the scale on which the interval lies.
    """

    interval: Interval
    scale: Scale
    sample: int
    reading: str = ""


Measure: TypeAlias = Callable[[Sequence[Series], float], Measurement | None]


@dataclass(frozen=True)
class Quantity:
    """Something to measure.

    Attributes
    ----------
    what : its name; parts : the series that it is made of.
    words : what it means when it lies above, level with, or below its even value.
    measure : from the series and a confidence level to a measurement; None where it cannot be taken.
    """

    what: str
    parts: tuple[Part, ...]
    words: tuple[str, str, str]
    measure: Measure


class Statement(NamedTuple):
    """A claim before it is checked: it holds when the answer to its question is yes for every quantity.

    Attributes
    ----------
    key : a short name; text : the claim in a sentence; rule : when it counts as held.
    source : whether the paper claims it, or it is asked beyond the paper.
    context : quantities shown beside those that decide.
    more_runs_help : whether further runs could decide it.
    too_few : what there are too few of, where it is not runs.
    """

    key: str
    source: str
    text: str
    rule: str
    question: Question
    quantities: Sequence[Quantity]
    context: Sequence[Quantity] = ()
    more_runs_help: bool = True
    too_few: str = ""


def ratio(setting: str, other: str, ours: str, study: str = "paper") -> Quantity:
    """Compare the regrets of two learners in a setting: other ÷ ours, more than 1 where ours is lower."""
    parts = ((study, setting, other), (study, setting, ours))
    words = (f"{ours} is lower", "level", f"{other} is lower")
    return Quantity(f"{setting}: {other} ÷ {ours}", parts, words, partial(_quotient, (1, -1)))


def difference(setting: str, other: str, ours: str, study: str = "paper") -> Quantity:
    """Compare the regrets of two learners in a setting: other − ours, more than 0 where ours is lower."""
    quotient = ratio(setting, other, ours, study)
    return replace(quotient, what=f"{setting}: {other} − {ours}", measure=partial(_sum, (1, -1)))


def margin_growth(smaller: str, larger: str, other: str, ours: str, study: str = "paper") -> Quantity:
    """Compare the margins other − ours of two settings: more than 0 where it is wider in the larger one."""
    parts = tuple((study, setting, title) for setting in (larger, smaller) for title in (other, ours))
    what = f"{larger} against {smaller}: {other} − {ours} is wider by"
    return Quantity(what, parts, ("wider", "no change", "narrower"), partial(_sum, (1, -1, -1, 1)))


def size_effect(smaller: str, larger: str, title: str, study: str) -> Quantity:
    """Compare the regrets of one learner in two settings: larger ÷ smaller."""
    parts = ((study, larger, title), (study, smaller, title))
    words = ("grows", "no growth", "falls")
    return Quantity(f"{title}: {larger} ÷ {smaller}", parts, words, partial(_quotient, (1, -1)))


def relative_growth(smaller: str, larger: str, other: str, ours: str, study: str) -> Quantity:
    """Compare the factors by which two regrets grow: ours ÷ other, less than 1 where ours is slower."""
    parts = tuple((study, setting, title) for title in (ours, other) for setting in (larger, smaller))
    what = f"{smaller} to {larger}: growth of {ours} ÷ growth of {other}"
    words = (f"{ours} grows faster", "level", f"{ours} grows slower")
    return Quantity(what, parts, words, partial(_quotient, (1, -1, -1, 1)))


def growth(setting: str, title: str, study: str = "paper") -> Quantity:
    """Find how fast a mean regret grows over the last tenfold of episodes: α in K^α, 0.5 for √K and 1 for linear."""
    words = ("faster than √T", "like √T", "slower than √T")
    return Quantity(f"{setting}: α of {title}", ((study, setting, title),), words, _exponent)


def _quotient(powers: tuple[int, ...], members: Sequence[Series], confidence: float) -> Measurement | None:
    samples = paired(members)
    if samples.shape[1] == 0:
        return None
    return Measurement(quotient_interval(samples, powers, confidence), Scale.ratio(), samples.shape[1])


def _sum(weights: tuple[int, ...], members: Sequence[Series], confidence: float) -> Measurement | None:
    samples = paired(members)
    if samples.shape[1] == 0:
        return None
    scale = Scale.around(0.0, MARGIN * float(samples.mean(axis=1).max()))
    return Measurement(sum_interval(samples, weights, confidence), scale, samples.shape[1])


def _exponent(members: Sequence[Series], confidence: float) -> Measurement | None:
    (series,) = members
    first, last = series.num_episodes // TENFOLD, series.num_episodes
    if first == 0 or not (ends := series.curves(np.array([first, last])).T)[0].mean() > 0.0:
        return None
    scale = Scale.around(0.5, math.log(1.0 + MARGIN) / math.log(last / first))
    return Measurement(exponent_interval(ends, last / first, confidence), scale, series.num_runs)


def check(statements: Iterable[Statement], studies: Iterable[Study]) -> list[Claim]:
    """Check statements against the runs of some studies."""
    series = {
        (study.name, setting, member.title): member
        for study in studies
        for setting, members in study.settings.items()
        for member in members
    }
    return [_check(statement, series) for statement in statements]


def _check(statement: Statement, series: Mapping[Part, Series]) -> Claim:
    confidence = bonferroni_level(statement.question, len(statement.quantities))
    lines, context = (
        [_line(quantity, statement.question, series, confidence) for quantity in quantities]
        for quantities in (statement.quantities, statement.context)
    )
    held, why = decide(lines)
    if held is None and statement.too_few:
        why = f"{statement.too_few} are too few, or do not agree"
    return Claim(
        statement.key,
        statement.text,
        statement.rule,
        statement.source,
        held,
        confidence,
        tuple(filter(None, lines)),
        why,
        tuple(filter(None, context)),
        statement.more_runs_help and why != MISSING,
    )


def _line(quantity: Quantity, question: Question, series: Mapping[Part, Series], confidence: float) -> Line | None:
    """Measure a quantity and ask a question about it; None where a series is missing."""
    members = [series[part] for part in quantity.parts if part in series]
    measurement = quantity.measure(members, confidence) if len(members) == len(quantity.parts) else None
    if measurement is None:
        return None
    interval, scale, sample, reading = measurement
    is_enough = sample >= MIN_RUNS
    outcome = question.judge(interval, scale) if is_enough else None
    words = scale.read(interval, quantity.words) if is_enough else TOO_FEW
    return Line(quantity.what, interval, reading or words, sample, outcome, quantity.parts)


def next_look(runs: int) -> int:
    """Return the number of runs at which to look next; the present one where there is no next."""
    look = MIN_RUNS
    while look <= runs:
        look *= 2
    return look if look <= MOST_RUNS else runs


def further_runs(claims: Iterable[Claim], catalogue: Sequence[Experiment]) -> list[Experiment]:
    """Return the runs that the open claims ask for, as experiments: parts of those in the catalogue, with more runs."""
    wanted: dict[Part, int] = {}
    for claim in claims:
        if claim.held is None and claim.more_runs_help:
            for line in claim.evidence:
                look = next_look(line.runs)
                if line.outcome is None and look > line.runs:
                    wanted |= {part: max(look, wanted.get(part, 0)) for part in line.parts}
    return [part for experiment in catalogue if (part := _part(experiment, wanted)).settings]


def _part(experiment: Experiment, wanted: Mapping[Part, int]) -> Experiment:
    """Return the settings of an experiment in which runs are wanted, one for each number of runs."""
    settings = []
    for setting in experiment.settings:
        numbers = [wanted.get((experiment.name, setting.name, choice.title), 0) for choice in setting.choices]
        for number in sorted({number for number in numbers if number}):
            choices = tuple(c for c, own in zip(setting.choices, numbers, strict=True) if own == number)
            settings.append(replace(setting, choices=choices, num_runs=number))
    return replace(experiment, settings=tuple(settings))
