"""Claims: a line of an experiment file is a measure and a question; the runs say whether the answer is yes.

A claim is a list of comparisons, each an interval on a scale. It *held* when every comparison says yes, it *did not
hold* when one says no, and otherwise it is *not decided*.

If single intervals cover as stated, those of a claim hold together with probability 95%, in all m comparisons and at
each of the interim analyses at 8, 16, 32 … 512 runs: each is taken at 1 − 5%/(7m). A verdict needs at least 8 runs.
Where a few runs lose many times as much as the others, an interval covers less often than it says; what it decides then
counts only if a sign test over seeds, at the same level, says the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from praemia._support.text_tables import plural
from praemia.experiments.experiment import Cell
from praemia.experiments.schema import ClaimPart, QuestionName
from praemia.statistics.intervals import CONFIDENCE, Interval
from praemia.statistics.measures import MEASURES, Sample, Scale
from praemia.statistics.series import Study

MIN_RUNS, MAX_RUNS = 8, 512
ANALYSES = 7  # at 8, 16, 32, 64, 128, 256 and 512 runs
TOO_FEW = f"too few runs (at least {MIN_RUNS} are needed)"
TOO_WIDE = "the intervals are too wide"
FEW_DECIDE = "a few runs lose many times as much as the others"
MISSING = "runs missing"


class Question(NamedTuple):
    """Which intervals answer yes, which no, and the answer yes in words."""

    holds: Callable[[Interval, Scale], bool]
    fails: Callable[[Interval, Scale], bool]
    meaning: str


# "Above" and "below" fail where the two are level. Of "no less" and "no more" one side counts: intervals are one-sided.
QUESTIONS: dict[QuestionName, Question] = {
    "above": Question(lambda i, s: i.low > s.null, lambda i, s: i.high < s.null or s.is_level(i), "above {null:g}"),
    "below": Question(lambda i, s: i.high < s.null, lambda i, s: i.low > s.null or s.is_level(i), "below {null:g}"),
    "level": Question(
        lambda i, s: s.is_level(i), lambda i, s: i.high < s.lower or i.low > s.upper, "within 10% of {null:g}"
    ),
    "no less": Question(lambda i, s: i.low > s.lower, lambda i, s: i.high < s.lower, "above {lower}"),
    "no more": Question(lambda i, s: i.high < s.upper, lambda i, s: i.low > s.upper, "below {upper}"),
}


@dataclass(frozen=True, eq=False)
class Evidence:
    """A comparison of a claim: its name, its cells, the sample, its part in the verdict (None: open), and a reading."""

    what: str
    cells: Sequence[Cell]
    sample: Sample
    outcome: bool | None
    reading: str


@dataclass(frozen=True, eq=False)
class Verdict:
    """A claim and what the runs say about it.

    Attributes
    ----------
    held : True, False, or None: not decided, and ``why`` says why.
    confidence : the level of each interval, at which all hold together. rule : when the claim counts as held.
    more_runs_help : whether further runs could decide it.
    """

    claim: ClaimPart
    held: bool | None
    why: str
    confidence: float
    rule: str
    evidence: tuple[Evidence, ...]
    more_runs_help: bool

    @property
    def outcome(self) -> str:
        """One of three: ``held``, ``did not hold``, ``not decided``."""
        return {True: "held", False: "did not hold", None: "not decided"}[self.held]

    @property
    def summary(self) -> str:
        """How often the comparisons read which way; empty where there are too few runs to read anything."""
        counts = Counter(item.reading for item in self.evidence)
        if set(counts) == {TOO_FEW}:
            return ""
        if len(self.evidence) == 1:
            return self.evidence[0].reading
        return "; ".join(f"{reading} in {count} of {len(self.evidence)}" for reading, count in counts.most_common())

    def __str__(self) -> str:
        why = f" ({self.why})" if self.held is None else ""
        return f"{self.outcome:<13} {self.claim.say}{why}"


def check_claims(study: Study) -> list[Verdict]:
    """Check what is claimed of a group."""
    return [_check(claim, study) for claim in study.group.part.claims]


def bonferroni_level(question: str, comparisons: int) -> float:
    """Return the level of an interval at which all of a claim's hold together with 95%, at every analysis."""
    sides = 2.0 if question in ("no less", "no more") else 1.0
    return 1.0 - sides * (1.0 - CONFIDENCE) / (ANALYSES * max(1, comparisons))


def _check(claim: ClaimPart, study: Study) -> Verdict:
    measure = MEASURES[claim.measure]
    cells = measure.cells(claim, study)
    confidence = bonferroni_level(claim.question, len(cells))
    compared = [_compare(claim, own, study, confidence) for own in cells]
    evidence = tuple(item for item in compared if item is not None)
    of_tasks = any(item.sample.of_tasks for item in evidence)
    held, why = _decide(evidence, len(cells))
    if held is None and of_tasks:
        why = f"{plural(len(claim.on), 'task')} are too few, or do not agree"
    scales = {item.sample.scale for item in evidence} or {Scale.ratio(_null(claim))}
    lower, null, upper = scales.pop()
    ends = {"lower": "-10%", "upper": "10%"} if scales else {"lower": f"{lower:.3g}", "upper": f"{upper:.3g}"}
    meaning = QUESTIONS[claim.question].meaning.format(null=null, **ends)
    words = measure.claim.format(**_names(claim, [(task, claim.of) for task in claim.on]))
    rule = f"{'every interval of' if len(cells) > 1 else 'the interval of'} {words} lies {meaning}"
    return Verdict(claim, held, why, confidence, rule, evidence, held is None and why != MISSING and not of_tasks)


def _null(claim: ClaimPart) -> float:
    return MEASURES[claim.measure].null if claim.threshold is None else claim.threshold


def _names(claim: ClaimPart, cells: Sequence[Cell]) -> dict[str, str]:
    """Return what stands in the texts of a measure."""
    rows, columns = zip(*cells, strict=True)
    *others, other = [title for title in claim.than if title in columns] or claim.than or [""]
    than = f"{', '.join(others)} and {other}" if others else other
    tasks = [task for task in claim.on if task in {*rows}]
    return {"of": claim.of, "than": than, "tasks": plural(len(tasks), "task"), "first": tasks[0], "last": tasks[-1]}


def _compare(claim: ClaimPart, cells: Sequence[Cell], study: Study, confidence: float) -> Evidence | None:
    """Take the measure of some cells and ask the question about it; None where runs are missing."""
    if not all(cell in study.series for cell in cells):
        return None
    measure, question = MEASURES[claim.measure], QUESTIONS[claim.question]
    sample = measure.take(study, cells, confidence, _null(claim))
    if sample is None:
        return None
    names = _names(claim, cells)
    what = measure.comparison.format(**names)
    if sample.size < MIN_RUNS:
        return Evidence(what, cells, sample, None, TOO_FEW)
    is_yes, is_no = (answer(sample.interval, sample.scale) for answer in (question.holds, question.fails))
    outcome = True if is_yes else False if is_no else None
    if outcome is not None and sample.is_doubtful(confidence):
        return Evidence(what, cells, sample, None, FEW_DECIDE)
    words = [word.format(**names) for word in measure.words]
    return Evidence(what, cells, sample, outcome, sample.scale.read(sample.interval, words))


def _decide(found: Sequence[Evidence], count: int) -> tuple[bool | None, str]:
    """Return the verdict on a claim of so many comparisons, and why there is none."""
    if any(item.outcome is False for item in found):
        return False, ""
    if len(found) < count or not count:
        return None, MISSING
    few = min((item.sample.size for item in found if item.reading == TOO_FEW), default=None)
    if few is not None:
        return None, f"too few runs ({few}; at least {MIN_RUNS} are needed)"
    doubtful = sum(item.reading == FEW_DECIDE for item in found)
    number_open = doubtful or sum(item.outcome is None for item in found)
    if not number_open:
        return True, ""
    where = f", in {number_open} of {plural(count, 'comparison')}" if count > 1 else ""
    return None, (FEW_DECIDE if doubtful else TOO_WIDE) + where


def next_analysis(runs: int) -> int:
    """Return the number of runs at the next interim analysis; the present one where there is no next."""
    size = MIN_RUNS
    while size <= runs:
        size *= 2
    return size if size <= MAX_RUNS else runs


def further_runs(verdicts: Iterable[Verdict]) -> dict[Cell, int]:
    """Return how many runs the open claims ask for, by cell."""
    wanted: dict[Cell, int] = {}
    for item in (item for verdict in verdicts if verdict.more_runs_help for item in verdict.evidence):
        size = next_analysis(item.sample.size)
        if item.outcome is None and size > item.sample.size:
            wanted.update({cell: max(size, wanted.get(cell, 0)) for cell in item.cells})
    return wanted
