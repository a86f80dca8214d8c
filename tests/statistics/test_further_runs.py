"""Which runs are added for claims that are not decided."""

from __future__ import annotations

import pytest

from praemia.experiments.settings import Experiment, LearnerChoice, Setting, TaskText
from praemia.statistics.intervals import Interval
from praemia.statistics.measurements import Claim, Measurement, Quantity, Statement, further_runs, next_look
from praemia.statistics.verdicts import Question, Scale

A, B, C = (LearnerChoice.of("eqo", title) for title in "ABC")
CATALOGUE = [
    Experiment("one", "", tuple(Setting(TaskText.builtin(task), (A, B, C), 16) for task in ("warehouse-3", "rooms-9")))
]


def claim(outcomes: list[bool | None], held: bool | None = None, runs: int = 16, *, helps: bool = True) -> Claim:
    """Return a claim that compares A with B in the warehouse, then A with C in the rooms."""
    parts = ((("warehouse-3", "A"), ("warehouse-3", "B")), (("rooms-9", "A"), ("rooms-9", "C")))
    quantities = [Quantity("", own, ("", "", ""), lambda *_: None) for own in parts]
    evidence = tuple(
        Measurement(quantity, Interval(1.0, 0.5, 2.0), Scale.ratio(), runs, outcome, "")
        for outcome, quantity in zip(outcomes, quantities, strict=False)
    )
    statement = Statement("key", "", "", "", "", Question.ABOVE, quantities, "one", more_runs_help=helps)
    return Claim(statement, held, "why", 0.99, evidence)


def wanted(*claims: Claim) -> set[tuple[str, str, int]]:
    return {
        (setting.name, choice.title, setting.num_runs)
        for experiment in further_runs(claims, CATALOGUE)
        for setting in experiment.settings
        for choice in setting.choices
    }


@pytest.mark.parametrize(("runs", "then"), [(1, 8), (7, 8), (8, 16), (20, 32), (256, 512), (512, 512), (700, 700)])
def test_the_next_look_is_the_next_power_of_two_up_to_the_cap(runs: int, then: int) -> None:
    assert next_look(runs) == then


def test_only_open_comparisons_of_open_claims_ask_for_runs() -> None:
    assert wanted(claim([None, True])) == {("warehouse-3", "A", 32), ("warehouse-3", "B", 32)}
    assert wanted(claim([None, None])) == {
        ("warehouse-3", "A", 32),
        ("warehouse-3", "B", 32),
        ("rooms-9", "A", 32),
        ("rooms-9", "C", 32),
    }
    assert wanted(claim([True, True], held=True), claim([None, False], held=False)) == set()


def test_claims_that_runs_do_not_help_or_that_are_at_the_cap_ask_for_none() -> None:
    assert wanted(claim([None, None], helps=False)) == wanted(claim([None], runs=512)) == set()


def test_of_two_claims_the_larger_number_counts() -> None:
    assert wanted(claim([None], runs=4), claim([None], runs=64)) == {
        ("warehouse-3", "A", 128),
        ("warehouse-3", "B", 128),
    }
