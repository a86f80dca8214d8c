"""Verdicts: what an interval says about a claim, which has three outcomes.

A claim is a list of comparisons, and holds when each of them does. A comparison is True, False, or None: not decided.

* *Above* (or *below*) a value: held when the whole interval lies on that side; not held when it lies on the other, or
  so close around the value that the two are level.
* *Level*: held when the interval lies within the margin of 10 % on both sides of the value; not held when it lies
  wholly outside.
* *No less* (or *no more*): held when the interval stays on the good side of the margin; not held when it lies beyond
  it. Only one side counts, so the interval is one-sided.

An interval around the value lies within the margin when its half-width is below about 5 %: as many runs as that takes
decide whether two learners are level. Fewer than 8 runs decide nothing, and neither do fewer than 8 tasks beyond one
of each kind where the tasks are the sample (``praemia.statistics.claims``).

If single intervals cover as stated, those of a claim hold together with probability 95 %, in all comparisons and at
each of the numbers of runs 8, 16, 32 … 512 at which ``praemia reproduce --decide`` looks: with m comparisons and 7
looks each of them is taken at 1 − 5 %/(7m). So runs may be added, up to these numbers, until a claim is decided without
making mistakes likelier; looks at other numbers of runs are not counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple, TypeAlias

from praemia.statistics.intervals import CONFIDENCE, Interval

MARGIN = 0.10
MIN_RUNS = 8
MOST_RUNS = 512
LOOKS = 7  # at 8, 16, 32, 64, 128, 256 and 512 runs

TOO_FEW = "too few runs"
TOO_WIDE = "the intervals are too wide"
MISSING = "runs missing"


class Scale(NamedTuple):
    """The value that a comparison is made with, and the margin around it."""

    below: float
    even: float
    above: float

    @classmethod
    def ratio(cls) -> Scale:
        """Return the scale of quotients: equality is 1."""
        return cls(1.0 / (1.0 + MARGIN), 1.0, 1.0 + MARGIN)

    @classmethod
    def around(cls, even: float, margin: float) -> Scale:
        """Return the scale of sums: the margin is a distance."""
        return cls(even - margin, even, even + margin)

    def is_level(self, interval: Interval) -> bool:
        """Tell whether an interval lies within the margin; one without width at the value does, whatever the margin."""
        is_even = interval.low == self.even == interval.high
        return is_even or (self.below < interval.low and interval.high < self.above)

    def read(self, interval: Interval, words: tuple[str, str, str]) -> str:
        """Say what an interval means: above the value, below it, level within the margin, or none of these."""
        above, level, below = words
        near = f", by less than {100 * MARGIN:.0f} %" if self.is_level(interval) else ""
        if interval.low > self.even:
            return above + near
        if interval.high < self.even:
            return below + near
        return level if self.is_level(interval) else "not clear"


class Question(Enum):
    """What is asked of an interval."""

    ABOVE = "above"
    BELOW = "below"
    LEVEL = "level"
    NO_LESS = "no less"
    NO_MORE = "no more"

    @property
    def is_one_sided(self) -> bool:
        return self in (Question.NO_LESS, Question.NO_MORE)

    def judge(self, interval: Interval, scale: Scale) -> bool | None:
        """Return True where the interval shows it, False where it shows the contrary, None where neither."""
        holds, fails = _RULES[self](interval, scale)
        return True if holds else False if fails else None


Rule: TypeAlias = Callable[[Interval, Scale], tuple[bool, bool]]
_RULES: dict[Question, Rule] = {
    Question.ABOVE: lambda i, s: (i.low > s.even, i.high < s.even or s.is_level(i)),
    Question.BELOW: lambda i, s: (i.high < s.even, i.low > s.even or s.is_level(i)),
    Question.LEVEL: lambda i, s: (s.is_level(i), i.high < s.below or i.low > s.above),
    Question.NO_LESS: lambda i, s: (i.low > s.below, i.high < s.below),
    Question.NO_MORE: lambda i, s: (i.high < s.above, i.low > s.above),
}


def bonferroni_level(question: Question, comparisons: int) -> float:
    """Return the confidence level of an interval with which all of a claim's hold together with 95 %, at every look."""
    sides = 2.0 if question.is_one_sided else 1.0
    return 1.0 - sides * (1.0 - CONFIDENCE) / (LOOKS * max(1, comparisons))


Part: TypeAlias = tuple[str, str, str]  # a series, as (study, setting, learner)


@dataclass(frozen=True)
class Line:
    """One comparison: what is compared, its interval, what that says, and of which series it is made.

    ``outcome`` is the comparison's part in the verdict.
    """

    what: str
    interval: Interval
    reading: str
    runs: int
    outcome: bool | None
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True)
class Claim:
    """A claim and its verdict.

    Attributes
    ----------
    key : a short name; statement : the claim in a sentence; rule : when it counts as held.
    source : whether the paper claims it, or it is asked beyond the paper.
    held : True, False, or None: not decided, and ``why`` says why.
    confidence : the level of each interval, at which all hold together.
    evidence : the comparisons that decide; context : comparisons shown beside them.
    more_runs_help : whether runs can decide it that are not there yet.
    """

    key: str
    statement: str
    rule: str
    source: str
    held: bool | None
    confidence: float
    evidence: tuple[Line, ...]
    why: str = ""
    context: tuple[Line, ...] = field(default=())
    more_runs_help: bool = True

    @property
    def outcome(self) -> str:
        """One of three: ``held``, ``did not hold``, ``not decided``."""
        return {True: "held", False: "did not hold", None: "not decided"}[self.held]

    @property
    def verdict(self) -> str:
        """The outcome, and why there is none."""
        return f"{self.outcome}: {self.why}" if self.held is None else self.outcome

    @property
    def summary(self) -> str:
        """How often the deciding comparisons read which way."""
        counts = Counter(line.reading for line in self.evidence)
        total = len(self.evidence)
        if total == 1:
            return self.evidence[0].reading
        return "; ".join(f"{reading} in {count} of {total}" for reading, count in counts.most_common())


def decide(lines: Sequence[Line | None]) -> tuple[bool | None, str]:
    """Return the verdict on a claim, and why there is none; a line is None where its runs are missing.

    One comparison that fails is enough; a claim holds when none is missing and all hold.
    """
    there = [line for line in lines if line is not None]
    if any(line.outcome is False for line in there):
        return False, ""
    if len(there) < len(lines) or not lines:
        return None, MISSING
    few = min((line.runs for line in there if line.runs < MIN_RUNS), default=None)
    if few is not None:
        return None, f"{TOO_FEW} ({few}; at least {MIN_RUNS} are needed)"
    wide = sum(line.outcome is None for line in there)
    if wide:
        return None, TOO_WIDE + (f", in {wide} of {len(there)} comparisons" if len(there) > 1 else "")
    return True, ""


def verdict_lines(claims: Iterable[Claim]) -> list[str]:
    """Return the verdicts as lines of text: the outcome, the claim, and why there is no outcome."""
    lines = []
    for claim in claims:
        why = f" ({claim.why})" if claim.held is None else ""
        lines.append(f"{claim.outcome:<13} {claim.statement}{why}")
    return lines
