"""Claims: a line of an experiment file is a measure and a question; the runs say whether the answer is yes.

A claim is a list of comparisons, each an interval on a scale. It *held* when every comparison says yes, it *did not
hold* when one says no, and otherwise it is *not decided*:

* *above* (or *below*) a value: yes when the whole interval lies on that side; no when it lies on the other, or so close
  around the value that the two are level;
* *level*: yes when the interval lies within the margin of 10% around the value; no when it lies wholly outside;
* *no less* (or *no more*): yes when the interval stays on the good side of the margin; no when it lies beyond it. Only
  one side counts, so the interval is one-sided.

If single intervals cover as stated, those of a claim hold together with probability 95%, in all m comparisons and at
each of the numbers of runs 8, 16, 32 … 512 at which ``--decide`` looks: each is taken at 1 − 5%/(7m). Fewer than 8
runs decide nothing. Where a few runs lose many times as much as the others, an interval covers less often than it
says; what it decides then counts only if a sign test over seeds, at the same level, says the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from praemia.experiments.experiment import Claim
from praemia.statistics.intervals import CONFIDENCE, Interval
from praemia.statistics.measures import MEASURES, Cell, Comparison, Sample, Scale
from praemia.statistics.series import Study
from praemia.text_tables import plural

MIN_RUNS, MAX_RUNS = 8, 512
LOOKS = 7  # at 8, 16, 32, 64, 128, 256 and 512 runs
TOO_FEW = f"too few runs (at least {MIN_RUNS} are needed)"
TOO_WIDE = "the intervals are too wide"
FEW_DECIDE = "a few runs lose many times as much as the others"
MISSING = "runs missing"

Rule: TypeAlias = Callable[[Interval, Scale], tuple[bool, bool]]
_RULES: dict[str, Rule] = {
    "above": lambda i, s: (i.low > s.null, i.high < s.null or s.is_level(i)),
    "below": lambda i, s: (i.high < s.null, i.low > s.null or s.is_level(i)),
    "level": lambda i, s: (s.is_level(i), i.high < s.lower or i.low > s.upper),
    "no less": lambda i, s: (i.low > s.lower, i.high < s.lower),
    "no more": lambda i, s: (i.high < s.upper, i.low > s.upper),
}
_MEANING = {
    "above": "lies above {null:g}",
    "below": "lies below {null:g}",
    "level": "lies within 10% of {null:g}",
    "no less": "stays above {lower:.3g}",
    "no more": "stays below {upper:.3g}",
}


@dataclass(frozen=True)
class Measurement:
    """A comparison as it was measured, its part in the verdict (True, False, or None: open), and what it says."""

    comparison: Comparison
    sample: Sample
    outcome: bool | None
    reading: str


@dataclass(frozen=True)
class Verdict:
    """A claim and what the runs say about it.

    Attributes
    ----------
    held : True, False, or None: not decided, and ``why`` says why.
    confidence : the level of each interval, at which all hold together. rule : when the claim counts as held.
    more_runs_help : whether further runs could decide it.
    """

    claim: Claim
    held: bool | None
    why: str
    confidence: float
    rule: str
    evidence: tuple[Measurement, ...]
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
        return f"{self.outcome:<13} {self.claim.part.say}{why}"


def check_claims(study: Study) -> list[Verdict]:
    """Check what is claimed of a group."""
    return [_check(claim, study) for claim in study.group.claims]


def bonferroni_level(question: str, comparisons: int) -> float:
    """Return the confidence level of an interval with which all of a claim's hold together with 95%, at every look."""
    sides = 2.0 if question in ("no less", "no more") else 1.0
    return 1.0 - sides * (1.0 - CONFIDENCE) / (LOOKS * max(1, comparisons))


def _check(claim: Claim, study: Study) -> Verdict:
    part = claim.part
    measure = MEASURES[part.measure]
    comparisons = measure.comparisons(claim, study)
    confidence = bonferroni_level(part.question, len(comparisons))
    measured = [_measure(item, part.question, study, confidence, part.threshold) for item in comparisons]
    evidence = [item for item in measured if item is not None]
    held, why = _decide(measured)
    if held is None and evidence and evidence[0].sample.of_tasks:
        why = f"{plural(len(claim.on), 'task')} are too few, or do not agree"
    more = held is None and why != MISSING and not any(item.sample.of_tasks for item in evidence)
    scale = evidence[0].sample.scale if evidence else Scale.ratio(part.threshold or 1.0)
    form = _MEANING[part.question] if measure.has_one_scale else _MEANING[part.question].replace("{upper:.3g}", "10%")
    rule = f"{measure.text(claim, study)} {form.format(**scale._asdict())}"
    return Verdict(claim, held, why, confidence, rule, tuple(evidence), more)


def _measure(
    comparison: Comparison, question: str, study: Study, confidence: float, threshold: float | None
) -> Measurement | None:
    """Measure a comparison and ask a question about it; None where runs are missing."""
    members = [study.series[cell] for cell in comparison.cells if cell in study.series]
    if len(members) < len(comparison.cells):
        return None
    sample = comparison.measure(members, confidence, threshold)
    if sample is None:
        return None
    if sample.size < MIN_RUNS:
        return Measurement(comparison, sample, None, TOO_FEW)
    holds, fails = _RULES[question](sample.interval, sample.scale)
    outcome = True if holds else False if fails else None
    if outcome is not None and sample.is_doubtful(confidence):
        return Measurement(comparison, sample, None, FEW_DECIDE)
    return Measurement(comparison, sample, outcome, sample.scale.read(sample.interval, comparison.words))


def _decide(measured: Sequence[Measurement | None]) -> tuple[bool | None, str]:
    """Return the verdict on a claim, and why there is none; a measurement is None where its runs are missing."""
    found = [item for item in measured if item is not None]
    if any(item.outcome is False for item in found):
        return False, ""
    if len(found) < len(measured) or not measured:
        return None, MISSING
    few = min((item.sample.size for item in found if item.reading == TOO_FEW), default=None)
    if few is not None:
        return None, f"too few runs ({few}; at least {MIN_RUNS} are needed)"
    reasons = {FEW_DECIDE: [m for m in found if m.reading == FEW_DECIDE], TOO_WIDE: found}
    for reason, items in reasons.items():
        if count := sum(item.outcome is None for item in items):
            return None, reason + (f", in {count} of {plural(len(found), 'comparison')}" if len(found) > 1 else "")
    return True, ""


def next_look(runs: int) -> int:
    """Return the number of runs at which to look next; the present one where there is no next."""
    look = MIN_RUNS
    while look <= runs:
        look *= 2
    return look if look <= MAX_RUNS else runs


def further_runs(verdicts: Iterable[Verdict]) -> dict[Cell, int]:
    """Return how many runs the open claims ask for, by row and column."""
    wanted: dict[Cell, int] = {}
    for verdict in verdicts:
        for item in verdict.evidence if verdict.more_runs_help else ():
            look = next_look(item.sample.size)
            if item.outcome is None and look > item.sample.size:
                wanted.update({cell: max(look, wanted.get(cell, 0)) for cell in item.comparison.cells})
    return wanted
