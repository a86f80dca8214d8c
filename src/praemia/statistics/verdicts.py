"""Verdicts: what an interval answers to a question about it: yes, no, or not decided.

* *Above* (or *below*) a value: held when the whole interval lies on that side; not held when it lies on the other, or
  so close around the value that the two are level.
* *Level*: held when the interval lies within the margin of 10% on both sides of the value; not held when it lies
  wholly outside.
* *No less* (or *no more*): held when the interval stays on the good side of the margin; not held when it lies beyond
  it. Only one side counts, so the interval is one-sided.

An interval around the value lies within the margin when its half-width is below about 5%: as many runs as that takes
decide whether two learners are level. Fewer than 8 runs decide nothing, and neither do fewer than 8 tasks beyond one
of each kind where the tasks are the sample (``praemia.statistics.claims``).

If single intervals cover as stated, those of a claim hold together with probability 95%, in all comparisons and at
each of the numbers of runs 8, 16, 32 … 512 at which ``praemia reproduce --decide`` looks: with m comparisons and 7
looks each of them is taken at 1 − 5%/(7m). So runs may be added, up to these numbers, until a claim is decided without
making mistakes likelier; looks at other numbers of runs are not counted.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple, TypeAlias

from praemia.statistics.intervals import CONFIDENCE, Interval

MARGIN = 0.10
MIN_RUNS = 8
MOST_RUNS = 512
LOOKS = 7  # at 8, 16, 32, 64, 128, 256 and 512 runs


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
        """Say what an interval means: above the value, below it, level within the margin, or which two it can be."""
        above, level, below = words
        near = f", by less than {100 * MARGIN:.0f}%" if self.is_level(interval) else ""
        if interval.low > self.even:
            return above + near
        if interval.high < self.even:
            return below + near
        if self.is_level(interval):
            return level
        possible = [above] * (interval.high >= self.above) + [level] + [below] * (interval.low <= self.below)
        return " or ".join(possible) if len(possible) == 2 else "not clear"


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
    """Return the confidence level of an interval with which all of a claim's hold together with 95%, at every look."""
    sides = 2.0 if question.is_one_sided else 1.0
    return 1.0 - sides * (1.0 - CONFIDENCE) / (LOOKS * max(1, comparisons))
