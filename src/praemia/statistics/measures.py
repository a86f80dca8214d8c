"""Measures: what a claim compares, as intervals on a scale.

Regret is the exact cumulative regret at the end of a run, averaged over runs. Learners are compared seed by seed, over
the seeds that all series of a comparison have.

    ratio            regret of one learner ÷ that of another, on each task
    difference       regret of one learner − that of another, on each task
    margin growth    by how much the margin of one learner over another grows from task to task
    size effect      regret of one learner on the last task ÷ that on the first
    relative growth  factor by which one regret grows, from the first task to the last ÷ that of another
    exponent         α of a regret that grows like T^α over the last tenfold of episodes, on each task
    ratio by kind    regret of one learner ÷ that of another, a geometric mean in which each kind of task counts once
    worst run        worst run ÷ mean, the median over tasks
    not converged    the share of runs that are still losing at their end
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise, product
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest

from praemia.experiments.experiment import Claim
from praemia.simulation import Run
from praemia.statistics.intervals import (
    Floats,
    Interval,
    exponent_interval,
    median_interval,
    quotient_interval,
    ratio_over_groups,
    ratio_within_groups,
    sum_interval,
)
from praemia.statistics.series import Series, Study, paired
from praemia.text_tables import plural

MARGIN = 0.10
TENFOLD = 10
LONG_TAIL = 10.0  # worst run ÷ median: from here on a few runs decide what a mean is
LATE_SHARE, SMALL_GAP = 0.5, 0.01  # of the average slope, and of the optimal value

Cell: TypeAlias = tuple[int, int]  # row and column of a study


class Scale(NamedTuple):
    """The value that a comparison is made with, and the margin around it."""

    lower: float
    null: float
    upper: float

    @classmethod
    def ratio(cls, null: float = 1.0) -> Scale:
        """Return the scale of quotients: the margin is a factor."""
        return cls(null / (1.0 + MARGIN), null, null * (1.0 + MARGIN))

    @classmethod
    def around(cls, null: float, margin: float) -> Scale:
        """Return the scale of sums: the margin is a distance."""
        return cls(null - margin, null, null + margin)

    def is_level(self, interval: Interval) -> bool:
        """Tell whether an interval lies within the margin; one without width at the value does, whatever the margin."""
        is_null = interval.low == self.null == interval.high
        return is_null or (self.lower < interval.low and interval.high < self.upper)

    def read(self, interval: Interval, words: tuple[str, str, str]) -> str:
        """Say what an interval means: above the value, below it, level within the margin, or which two it can be."""
        above, level, below = words
        near = f", by less than {100 * MARGIN:.0f}%" if self.is_level(interval) else ""
        if interval.low > self.null:
            return above + near
        if interval.high < self.null:
            return below + near
        if self.is_level(interval):
            return level
        possible = [above] * (interval.high >= self.upper) + [level] + [below] * (interval.low <= self.lower)
        return " or ".join(possible) if len(possible) == 2 else "not clear"


@dataclass(frozen=True, eq=False)
class Sample:
    """A measure as it was taken.

    Attributes
    ----------
    size : how many values it rests on, runs or tasks (``of_tasks``).
    signs : of what each seed says beside the null value, where a few runs lose many times as much as the others.
    """

    interval: Interval
    scale: Scale
    size: int
    of_tasks: bool = False
    signs: Floats | None = field(default=None, repr=False)

    def is_doubtful(self, confidence: float) -> bool:
        """Tell whether the interval rests on a few runs, and a sign test over seeds does not say what it says."""
        if self.signs is None:
            return False
        above, below = int((self.signs > 0.0).sum()), int((self.signs < 0.0).sum())
        if above == below:
            return True
        agrees = (above > below) == (self.interval.estimate > self.scale.null)
        return not agrees or binomtest(above, above + below).pvalue > 1.0 - confidence


# From series, a confidence level and a threshold; None where it cannot be taken.
Take: TypeAlias = Callable[[Sequence[Series], float, float | None], Sample | None]


@dataclass(frozen=True, eq=False)
class Comparison:
    """Something to measure: its name, the cells that it is made of, and how it is measured.

    ``words`` say what it means when it lies above, level with, or below the null value.
    """

    what: str
    cells: tuple[Cell, ...]
    words: tuple[str, str, str]
    measure: Take


@dataclass(frozen=True)
class Measure:
    """A kind of claim: its comparisons, and what it compares in words; whether all comparisons have one scale."""

    comparisons: Callable[[Claim, Study], list[Comparison]]
    words: str
    has_one_scale: bool = True

    def text(self, claim: Claim, study: Study) -> str:
        """Say what is compared."""
        tasks = [study.tasks[row] for row in claim.on]
        than = _listed([study.titles[column] for column in claim.than])
        what = self.words.format(of=study.titles[claim.of], than=than, first=tasks[0], last=tasks[-1])
        several = len(self.comparisons(claim, study)) > 1
        return f"{'every interval of ' if several else 'the interval of '}{what}"


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1]))) if names else ""


def _long_tail(samples: NDArray[np.float64]) -> bool:
    medians = np.median(samples, axis=1)
    return bool((samples.max(axis=1) > LONG_TAIL * medians).any())


def _quotient(
    powers: tuple[int, ...], members: Sequence[Series], confidence: float, threshold: float | None
) -> Sample | None:
    samples, null = paired(members), 1.0 if threshold is None else threshold
    if samples.shape[1] == 0:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        signs = np.nan_to_num(np.asarray(powers) @ np.log(samples) - math.log(null)) if _long_tail(samples) else None
    return Sample(quotient_interval(samples, powers, confidence), Scale.ratio(null), samples.shape[1], signs=signs)


def _sum(
    weights: tuple[int, ...], members: Sequence[Series], confidence: float, threshold: float | None
) -> Sample | None:
    samples, null = paired(members), threshold or 0.0
    if samples.shape[1] == 0:
        return None
    scale = Scale.around(null, MARGIN * float(samples.mean(axis=1).max()))
    signs = np.asarray(weights) @ samples - null if _long_tail(samples) else None
    return Sample(sum_interval(samples, weights, confidence), scale, samples.shape[1], signs=signs)


def _exponent(members: Sequence[Series], confidence: float, threshold: float | None) -> Sample | None:
    (series,) = members
    first, last = series.num_episodes // TENFOLD, series.num_episodes
    if first == 0 or not (ends := series.curves(np.array([first, last])).T)[0].mean() > 0.0:
        return None
    scale = Scale.around(0.5 if threshold is None else threshold, math.log(1.0 + MARGIN) / math.log(last / first))
    return Sample(exponent_interval(ends, last / first, confidence), scale, series.num_runs)


def _ratios(claim: Claim, study: Study) -> list[Comparison]:
    def one(row: int, other: int) -> Comparison:
        of, than = study.titles[claim.of], study.titles[other]
        words = (f"{than} is lower", "level", f"{of} is lower")
        what = f"{study.tasks[row]}: {of} ÷ {than}"
        return Comparison(what, ((row, claim.of), (row, other)), words, partial(_quotient, (1, -1)))

    return [one(row, other) for row, other in product(claim.on, claim.than)]


def _differences(claim: Claim, study: Study) -> list[Comparison]:
    return [
        Comparison(item.what.replace("÷", "−"), item.cells, item.words, partial(_sum, (1, -1)))
        for item in _ratios(claim, study)
    ]


def _margins(claim: Claim, study: Study) -> list[Comparison]:
    def one(other: int, smaller: int, larger: int) -> Comparison:
        cells = ((larger, other), (larger, claim.of), (smaller, other), (smaller, claim.of))
        what = f"{study.tasks[larger]} against {study.tasks[smaller]}: {study.titles[other]} − {study.titles[claim.of]}"
        return Comparison(what, cells, ("wider", "no change", "narrower"), partial(_sum, (1, -1, -1, 1)))

    return [one(other, *pair) for other in claim.than for pair in pairwise(claim.on)]


def _size_effect(claim: Claim, study: Study) -> list[Comparison]:
    first, last = claim.on[0], claim.on[-1]
    what = f"{study.titles[claim.of]}: {study.tasks[last]} ÷ {study.tasks[first]}"
    cells = ((last, claim.of), (first, claim.of))
    return [Comparison(what, cells, ("grows", "no growth", "falls"), partial(_quotient, (1, -1)))]


def _relative_growth(claim: Claim, study: Study) -> list[Comparison]:
    first, last = claim.on[0], claim.on[-1]

    def one(other: int) -> Comparison:
        of, than = study.titles[claim.of], study.titles[other]
        cells = ((last, claim.of), (first, claim.of), (last, other), (first, other))
        words = (f"{of} grows faster", "level", f"{of} grows slower")
        what = f"{study.tasks[first]} to {study.tasks[last]}: growth of {of} ÷ growth of {than}"
        return Comparison(what, cells, words, partial(_quotient, (1, -1, -1, 1)))

    return [one(other) for other in claim.than]


def _exponents(claim: Claim, study: Study) -> list[Comparison]:
    words = ("faster", "as fast", "slower")
    return [
        Comparison(f"{study.tasks[row]}: α of {study.titles[claim.of]}", ((row, claim.of),), words, _exponent)
        for row in claim.on
    ]


def did_not_converge(run: Run) -> bool:
    """Tell whether a run is still losing at its end.

    Over the last half of its episodes it loses at least half as much per episode as over all of them, and its policies
    there are on average worse than the optimum by more than 1%. A learner that still explores at the end of a short
    run has not converged by this rule either; longer runs tell the two apart.
    """
    regret, half = run.regret, run.num_episodes // 2
    if half == 0 or run.optimal_value is None:
        return False
    late, overall = (regret[-1] - regret[-half - 1]) / half, regret[-1] / len(regret)
    return bool(late >= LATE_SHARE * overall and late > SMALL_GAP * abs(run.optimal_value))


def log_regret(series: Series) -> float:
    """Return the logarithm of a mean regret; one below a hundredth of an optimal episode's value counts as that.

    Otherwise a single task that somebody plays without any regret would decide a mean over tasks.
    """
    least = max(SMALL_GAP * abs(series.first.optimal_value or 0.0), np.finfo(float).tiny)
    return math.log(max(float(series.final.mean()), least))


def ratio_by_kind(study: Study, of: int, than: int, rows: Sequence[int], confidence: float) -> Interval:
    """Return the ratio of two learners' regrets over all kinds of task, with its interval.

    Kinds are fixed and their tasks are a sample, so the interval is for new tasks of the same kinds; where a kind has
    one task alone, it is that of a t test over kinds.
    """
    kinds: dict[str, list[float]] = {}
    for row in rows:
        ratio = log_regret(study.series[row, of]) - log_regret(study.series[row, than])
        kinds.setdefault(study.kind(row), []).append(ratio)
    measure = ratio_within_groups if all(len(group) > 1 for group in kinds.values()) else ratio_over_groups
    return measure(kinds.values(), confidence)


def _by_kind(claim: Claim, study: Study) -> list[Comparison]:
    kinds = [study.kind(row) for row in claim.on]
    is_sample = min(map(kinds.count, kinds)) > 1

    def one(other: int) -> Comparison:
        def measure(members: Sequence[Series], confidence: float, threshold: float | None) -> Sample:
            runs = min(series.num_runs for series in members)
            of_tasks = is_sample and runs > 1
            size = len(kinds) - len(set(kinds)) if of_tasks else runs
            interval = ratio_by_kind(study, claim.of, other, claim.on, confidence)
            return Sample(interval, Scale.ratio(1.0 if threshold is None else threshold), size, of_tasks)

        of, than = study.titles[claim.of], study.titles[other]
        cells = tuple((row, column) for row in claim.on for column in (claim.of, other))
        return Comparison(f"{of} ÷ {than}", cells, (f"{than} is lower", "level", f"{of} is lower"), measure)

    return [one(other) for other in claim.than if other in study.learners]


def worst_shares(members: Sequence[Series]) -> list[float]:
    """Return worst run ÷ mean of each series."""
    return [float(s.final.max() / s.final.mean()) if s.final.any() else 1.0 for s in members]


def _worst_run(claim: Claim, study: Study) -> list[Comparison]:
    def measure(members: Sequence[Series], confidence: float, threshold: float | None) -> Sample:
        scale = Scale(*[threshold or 1.0] * 3)
        return Sample(median_interval(worst_shares(members), confidence), scale, min(s.num_runs for s in members))

    what = f"{study.titles[claim.of]}: worst run ÷ mean, median over {plural(len(claim.on), 'task')}"
    cells = tuple((row, claim.of) for row in claim.on)
    return [Comparison(what, cells, ("above", "at the threshold", "below"), measure)]


def _not_converged(claim: Claim, study: Study) -> list[Comparison]:
    def measure(members: Sequence[Series], confidence: float, threshold: float | None) -> Sample:
        outcomes = [did_not_converge(run) for series in members for run in series.runs]
        low, high = binomtest(sum(outcomes), len(outcomes)).proportion_ci(confidence, method="exact")
        interval = Interval(sum(outcomes) / len(outcomes), low, high)
        return Sample(interval, Scale(*[threshold or 0.0] * 3), len(outcomes))

    what = f"{study.titles[claim.of]}: share of runs that did not converge, over {plural(len(claim.on), 'task')}"
    cells = tuple((row, claim.of) for row in claim.on)
    return [Comparison(what, cells, ("above", "at the threshold", "below"), measure)]


MEASURES = {
    "ratio": Measure(_ratios, "the ratio of regrets, {of} ÷ {than},"),
    "difference": Measure(_differences, "the difference of regrets, {of} − {than},", False),
    "margin growth": Measure(_margins, "the change of the margin {than} − {of}, from each task to the next,", False),
    "size effect": Measure(_size_effect, "the regret of {of} on {last} ÷ that on {first}"),
    "relative growth": Measure(_relative_growth, "the growth of {of} ÷ the growth of {than}, from {first} to {last},"),
    "exponent": Measure(_exponents, "α, with which the regret of {of} grows like T^α over the last tenfold,"),
    "ratio by kind": Measure(_by_kind, "the ratio of regrets, {of} ÷ {than}, in which each kind of task counts once,"),
    "worst run": Measure(_worst_run, "the worst run of {of} ÷ its mean, the median over tasks,"),
    "not converged": Measure(_not_converged, "the share of runs of {of} that did not converge"),
}
