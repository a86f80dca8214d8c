"""Verdicts: every question with each of its three outcomes, and that looking again does not make mistakes likelier."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from praemia.statistics.intervals import Interval, quotient_interval
from praemia.statistics.measurements import (
    MISSING,
    Measurement,
    Quantity,
    Statement,
    check,
    decide,
    verdict_lines,
)
from praemia.statistics.verdicts import (
    LOOKS,
    MIN_RUNS,
    MOST_RUNS,
    Question,
    Scale,
    bonferroni_level,
)

RATIO = Scale.ratio()
WORDS = ("ours is lower", "level", "other is lower")
HELD, FAILED, OPEN = True, False, None


def test_exact_zeros_are_level_though_a_tenth_of_nothing_is_nothing() -> None:
    nothing, zero = Scale.around(0.0, 0.0), Interval(0.0, 0.0, 0.0)
    assert nothing.read(zero, WORDS) == "level"
    assert Question.ABOVE.judge(zero, nothing) is FAILED
    assert Question.LEVEL.judge(zero, nothing) is HELD
    assert Question.LEVEL.judge(Interval(0.0, -0.1, 0.1), nothing) is OPEN


@pytest.mark.parametrize(
    ("question", "low", "high", "outcome"),
    [
        (Question.ABOVE, 1.01, 1.9, HELD),
        (Question.ABOVE, 0.5, 0.99, FAILED),
        (Question.ABOVE, 0.95, 1.05, FAILED),  # level: any difference is below 10 %
        (Question.ABOVE, 0.95, 1.2, OPEN),
        (Question.ABOVE, 0.8, 1.05, OPEN),
        (Question.BELOW, 0.5, 0.99, HELD),
        (Question.BELOW, 1.01, 1.9, FAILED),
        (Question.BELOW, 0.95, 1.05, FAILED),
        (Question.BELOW, 0.8, 1.05, OPEN),
        (Question.LEVEL, 0.92, 1.09, HELD),
        (Question.LEVEL, 1.02, 1.06, HELD),  # not the same, but by less than 10 %
        (Question.LEVEL, 1.11, 1.5, FAILED),
        (Question.LEVEL, 0.5, 0.9, FAILED),
        (Question.LEVEL, 0.9, 1.05, OPEN),
        (Question.LEVEL, 0.5, 2.0, OPEN),
        (Question.NO_LESS, 0.92, 3.0, HELD),
        (Question.NO_LESS, 0.92, 0.97, HELD),
        (Question.NO_LESS, 0.5, 0.9, FAILED),
        (Question.NO_LESS, 0.9, 0.95, OPEN),
        (Question.NO_MORE, 0.3, 1.09, HELD),
        (Question.NO_MORE, 1.11, 1.2, FAILED),
        (Question.NO_MORE, 1.0, 1.2, OPEN),
    ],
)
def test_every_question_has_three_outcomes(question: Question, low: float, high: float, outcome: bool | None) -> None:
    assert question.judge(Interval(math.sqrt(low * high), low, high), RATIO) is outcome


@given(st.floats(0.2, 5.0), st.floats(1.0, 1.047))
def test_a_half_width_below_five_percent_decides_between_lower_higher_and_level(middle: float, half: float) -> None:
    interval = Interval(middle, middle / half, middle * half)
    assert Question.ABOVE.judge(interval, RATIO) is not None
    assert Question.BELOW.judge(interval, RATIO) is not None


@given(st.floats(0.2, 5.0), st.floats(1.0, 3.0))
def test_no_interval_holds_above_and_below_at_once(middle: float, half: float) -> None:
    interval = Interval(middle, middle / half, middle * half)
    above, below = Question.ABOVE.judge(interval, RATIO), Question.BELOW.judge(interval, RATIO)
    assert not (above and below)
    if above or below:
        assert {above, below} == {True, False}


def line(low: float, high: float, runs: int = 16, question: Question = Question.ABOVE) -> Measurement:
    claim = check(statement(low, high, runs, question), {})
    return claim.evidence[0]


def statement(low: float, high: float, runs: int = 16, question: Question = Question.ABOVE) -> Statement:
    measured = Interval(math.sqrt(low * high), low, high), RATIO, runs
    quantity = Quantity("a ÷ b", (), WORDS, lambda *_: measured)
    return Statement("key", "A first", "source", "A is lower.", "rule", question, [quantity])


@pytest.mark.parametrize(
    ("low", "high", "reading"),
    [
        (1.2, 1.5, "ours is lower"),
        (1.02, 1.05, "ours is lower, by less than 10%"),
        (0.95, 1.05, "level"),
        (0.5, 0.8, "other is lower"),
        (0.95, 1.5, "ours is lower or level"),
        (0.8, 1.05, "level or other is lower"),
        (0.5, 1.5, "not clear"),
    ],
)
def test_readings_tell_level_from_not_clear(low: float, high: float, reading: str) -> None:
    assert line(low, high).reading == reading


@given(st.floats(0.2, 5.0), st.floats(1.0, 3.0), st.sampled_from(Question))
def test_what_held_never_reads_not_clear(middle: float, half: float, question: Question) -> None:
    measurement = line(middle / half, middle * half, question=question)
    assert not (measurement.outcome and measurement.reading == "not clear")


def test_fewer_than_eight_runs_decide_nothing_however_clear_they_are() -> None:
    for low, high in ((5.0, 5.0), (0.2, 0.2)):
        few = line(low, high, runs=MIN_RUNS - 1)
        assert (few.outcome, few.reading) == (None, "too few runs")
        assert decide([few]) == (None, "too few runs (7; at least 8 are needed)")
    assert decide([line(5.0, 5.0, runs=MIN_RUNS)]) == (True, "")


def test_a_claim_holds_when_all_comparisons_do_and_fails_with_one() -> None:
    yes, no, unclear = line(1.5, 2.0), line(0.5, 0.8), line(0.5, 2.0)
    assert decide([yes, yes]) == (True, "")
    assert decide([yes, no, unclear, None]) == (False, "")
    assert decide([yes, unclear]) == (None, "the intervals are too wide, in 1 of 2 comparisons")
    assert decide([unclear]) == (None, "the intervals are too wide")
    assert decide([yes, None]) == decide([]) == (None, MISSING)


def test_the_verdict_says_which_of_three_and_why() -> None:
    texts = []
    for low, high in ((1.5, 2.0), (0.5, 0.8), (0.5, 2.0)):
        claim = check(statement(low, high), {})
        texts += [claim.verdict, *verdict_lines([claim])]
    assert texts == [
        "held",
        "held          A is lower.",
        "did not hold",
        "did not hold  A is lower.",
        "not decided: the intervals are too wide",
        "not decided   A is lower. (the intervals are too wide)",
    ]


def test_levels_share_five_percent_among_comparisons_and_looks() -> None:
    assert 1 + math.log2(MOST_RUNS / MIN_RUNS) == LOOKS
    assert bonferroni_level(Question.ABOVE, 6) == pytest.approx(1.0 - 0.05 / 42.0)
    assert bonferroni_level(Question.NO_LESS, 6) == pytest.approx(1.0 - 0.10 / 42.0)


def test_playing_on_until_it_is_decided_makes_few_mistakes() -> None:
    """Two learners are equal, and 2 comparisons ask at 8, 16 … 512 runs whether the first is lower or higher.

    At most 5 % of claims may be wrong at any look, so of 400 at most 34 with a probability above 99.9 % (a binomial
    tail). Plain 95 % intervals would be wrong in about a third.
    """
    rng = np.random.default_rng(1)
    wrong = careless = 0
    for _ in range(400):
        samples = rng.gamma(4.0, 1.0, size=(2, 2, MOST_RUNS))
        looks = [(pair, MIN_RUNS * 2**k) for k in range(LOOKS) for pair in samples]
        for level in (bonferroni_level(Question.ABOVE, 2), 0.95):
            found = [quotient_interval(pair[:, :n], [1, -1], level) for pair, n in looks]
            mistaken = any(interval.low > 1.0 or interval.high < 1.0 for interval in found)
            wrong, careless = (wrong + mistaken, careless) if level > 0.95 else (wrong, careless + mistaken)
    assert wrong <= 34
    assert careless > 80
