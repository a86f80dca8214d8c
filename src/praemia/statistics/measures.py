"""Measures: what a claim compares, as intervals on a scale.

Regret is the exact cumulative regret at the end of a run, averaged over runs. Learners are compared seed by seed, over
the seeds that all series of a comparison have. ``MEASURES`` lists the measures. Thresholds are relative: the unit
of rewards does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise, product
from typing import Literal, NamedTuple

import numpy as np
from scipy.stats import binomtest

from praemia.experiments.experiment import Cell
from praemia.experiments.schema import ClaimPart, MeasureName
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

MARGIN = 0.10
TENFOLD = 10
LONG_TAIL = 10.0  # worst run ÷ median: from here on a few runs decide what a mean is
LATE_SHARE, SMALL_GAP = 0.5, 0.01  # of the average slope, and of the optimal value
WEIGHTS = (1, -1, -1, 1)  # of two cells, or of four


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
        """Return whether an interval lies within the margin; one without width at the value always does."""
        is_null = interval.low == self.null == interval.high
        return is_null or (self.lower < interval.low and interval.high < self.upper)

    def read(self, interval: Interval, words: Sequence[str]) -> str:
        """Say what an interval means: above the value, level with it, below it, or which two it can be."""
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


class Sample(NamedTuple):
    """A measure as it was taken: on ``size`` values, runs or tasks (``of_tasks``).

    ``signs`` say on which side of the null value each seed is, where a few runs lose many times as much as the others.
    """

    interval: Interval
    scale: Scale
    size: int
    of_tasks: bool = False
    signs: Floats | None = None

    @classmethod
    def paired(cls, interval: Interval, scale: Scale, samples: Floats, signs: Floats) -> Sample:
        """Return a sample of runs with the same seeds."""
        has_long_tail = (samples.max(axis=1) > LONG_TAIL * np.median(samples, axis=1)).any()
        return cls(interval, scale, samples.shape[1], signs=signs if has_long_tail else None)

    def is_doubtful(self, confidence: float) -> bool:
        """Return whether the interval rests on a few runs, and a sign test over seeds does not agree with it."""
        if self.signs is None:
            return False
        above, below = int((self.signs > 0.0).sum()), int((self.signs < 0.0).sum())
        agrees = above != below and (above > below) == (self.interval.estimate > self.scale.null)
        return not agrees or binomtest(above, above + below).pvalue > 1.0 - confidence


def did_not_converge(run: Run) -> bool:
    """Return whether a run is still losing at its end.

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


def ratio_by_kind(study: Study, of: str, than: str, tasks: Iterable[str], confidence: float) -> Interval:
    """Return the ratio of two learners' regrets over all kinds of task, with its interval.

    Kinds are fixed and their tasks are a sample, so the interval is for new tasks of the same kinds; where a kind has
    one task alone, it is that of a t test over kinds.
    """
    kinds: dict[str, list[float]] = {}
    for task in tasks:
        ratio = log_regret(study.series[task, of]) - log_regret(study.series[task, than])
        kinds.setdefault(study.group.kind(task), []).append(ratio)
    measure = ratio_within_groups if all(len(group) > 1 for group in kinds.values()) else ratio_over_groups
    return measure(kinds.values(), confidence)


def worst_shares(members: Sequence[Series]) -> list[float]:
    """Return worst run ÷ mean of each series."""
    return [float(s.final.max() / s.final.mean()) if s.final.any() else 1.0 for s in members]


# Ways to measure some cells of a study at a confidence level, against a null value. None: there is nothing to measure.


def _quotient(study: Study, cells: Sequence[Cell], confidence: float, null: float) -> Sample | None:
    samples, powers = _paired(study, cells), WEIGHTS[: len(cells)]
    if not samples.size:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        signs = np.nan_to_num(np.asarray(powers) @ np.log(samples) - math.log(null))
    return Sample.paired(quotient_interval(samples, powers, confidence), Scale.ratio(null), samples, signs)


def _sum(study: Study, cells: Sequence[Cell], confidence: float, null: float) -> Sample | None:
    samples, weights = _paired(study, cells), WEIGHTS[: len(cells)]
    if not samples.size:
        return None
    scale = Scale.around(null, MARGIN * float(samples.mean(axis=1).max()))
    return Sample.paired(sum_interval(samples, weights, confidence), scale, samples, weights @ samples - null)


def _paired(study: Study, cells: Sequence[Cell]) -> Floats:
    return paired([study.series[cell] for cell in cells])


def _exponent(study: Study, cells: Sequence[Cell], confidence: float, null: float) -> Sample | None:
    (series,) = (study.series[cell] for cell in cells)
    first, last = series.num_episodes // TENFOLD, series.num_episodes
    if first == 0 or not (ends := series.curves(np.array([first, last])).T)[0].mean() > 0.0:
        return None
    scale = Scale.around(null, math.log(1.0 + MARGIN) / math.log(last / first))
    return Sample(exponent_interval(ends, last / first, confidence), scale, series.num_runs)


def _by_kind(study: Study, cells: Sequence[Cell], confidence: float, null: float) -> Sample:
    tasks, (of, than) = [task for task, _ in cells[::2]], [title for _, title in cells[:2]]
    kinds, runs = [study.group.kind(task) for task in tasks], min(study.series[cell].num_runs for cell in cells)
    of_tasks = min(map(kinds.count, kinds)) > 1 and runs > 1
    size = len(kinds) - len(set(kinds)) if of_tasks else runs
    return Sample(ratio_by_kind(study, of, than, tasks, confidence), Scale.ratio(null), size, of_tasks)


def _worst_run(study: Study, cells: Sequence[Cell], confidence: float, null: float) -> Sample:
    members = [study.series[cell] for cell in cells]
    interval = median_interval(worst_shares(members), confidence)
    return Sample(interval, Scale.around(null, 0.0), min(own.num_runs for own in members))


def _not_converged(study: Study, cells: Sequence[Cell], confidence: float, null: float) -> Sample:
    outcomes = [did_not_converge(run) for cell in cells for run in study.series[cell].runs]
    low, high = binomtest(sum(outcomes), len(outcomes)).proportion_ci(confidence, method="exact")
    interval = Interval(sum(outcomes) / len(outcomes), low, high)
    return Sample(interval, Scale.around(null, 0.0), len(outcomes))


class Measure(NamedTuple):
    """What a claim compares.

    Attributes
    ----------
    tasks : of each comparison: a task, one and the next, the last and the first, or all of them. take : how its cells
        are measured. null : the value to compare with, unless a claim gives a threshold.
    claim, comparison : all of it, and one comparison, in words.
    words : what a comparison means that is above, level with, or below the null value.
    """

    tasks: Literal["each", "steps", "ends", "all"]
    take: Callable[[Study, Sequence[Cell], float, float], Sample | None]
    null: float
    claim: str
    comparison: str
    words: tuple[str, str, str]

    def cells(self, claim: ClaimPart, study: Study) -> list[list[Cell]]:
        """Return the cells of each comparison: a learner with each other one, or by itself."""
        on = claim.on
        ends = (*on[-1:], *on[:1])
        rows = {"each": [[task] for task in on], "steps": pairwise(on), "ends": [ends], "all": [on]}[self.tasks]
        others = [other for other in claim.than if other in study.learners or self.tasks != "all"]
        columns = [(claim.of, other) for other in others] if claim.than else [(claim.of,)]
        return [list(product(tasks, titles)) for tasks in rows for titles in columns]


_LOWER, _SIDES = ("{than} is lower", "level", "{of} is lower"), ("above", "at the threshold", "below")
_WIDER, _GROWS = ("wider", "no change", "narrower"), ("grows", "no growth", "falls")
_FASTER = ("{of} grows faster", "level", "{of} grows slower")
_EXPONENT = "α, with which the regret of {of} grows like T^α over the last tenfold,"
_CHANGE = "the change of the margin {than} − {of}, from each task to the next,"
_GROWTH = "the growth of {of} ÷ the growth of {than}, from {first} to {last},"
_KINDS = "the ratio of regrets, {of} ÷ {than}, in which each kind of task counts once,"
_WORST = "the worst run of {of} ÷ its mean, the median over tasks,"
_STUCK, _STUCK_ON = "the share of runs of {of} that did not converge", "{of}: share of runs that did not converge, "
MEASURES: dict[MeasureName, Measure] = {
    "ratio": Measure("each", _quotient, 1.0, "the ratio of regrets, {of} ÷ {than},", "{last}: {of} ÷ {than}", _LOWER),
    "difference": Measure(
        "each", _sum, 0.0, "the difference of regrets, {of} − {than},", "{last}: {of} − {than}", _LOWER
    ),
    "margin growth": Measure("steps", _sum, 0.0, _CHANGE, "{last} against {first}: {than} − {of}", _WIDER),
    "size effect": Measure(
        "ends",
        _quotient,
        1.0,
        "the regret of {of} on {last} ÷ that on {first}",
        "{of}: {last} ÷ {first}",
        _GROWS,
    ),
    "relative growth": Measure(
        "ends", _quotient, 1.0, _GROWTH, "{first} to {last}: growth of {of} ÷ growth of {than}", _FASTER
    ),
    "exponent": Measure("each", _exponent, 0.5, _EXPONENT, "{last}: α of {of}", ("faster", "as fast", "slower")),
    "ratio by kind": Measure("all", _by_kind, 1.0, _KINDS, "{of} ÷ {than}", _LOWER),
    "worst run": Measure("all", _worst_run, 1.0, _WORST, "{of}: worst run ÷ mean, median over {tasks}", _SIDES),
    "not converged": Measure("all", _not_converged, 0.0, _STUCK, _STUCK_ON + "over {tasks}", _SIDES),
}
