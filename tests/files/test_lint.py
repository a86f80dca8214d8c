"""What the check points at, and what it leaves alone."""

from __future__ import annotations

import numpy as np
import pytest

from praemia import envs
from praemia.files.lint import Finding, lint
from praemia.machines.builder import MachineBuilder
from praemia.machines.labels import LabelRule
from praemia.machines.machine import RewardMachine
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.reachability import reachable_observations
from praemia.tasks.task import Task

# 0 → 1 → 1, and 2 → 0, which nothing reaches.
ROWS = {(0, 0): {1: 1.0}, (1, 0): {1: 1.0}, (2, 0): {0: 1.0}}
LABELS = [LabelRule(frozenset({"one"}), target=1), LabelRule(frozenset({"two"}), source=2)]


def _task(machine: RewardMachine, start: int = 0) -> Task:
    return Task(LabeledMDP.from_rows(3, 1, ROWS, LABELS, start), machine, 3)


def _texts(findings: list[Finding]) -> list[str]:
    return [str(finding) for finding in findings]


def test_a_task_of_which_every_part_matters_is_left_alone() -> None:
    machine = MachineBuilder("s").edge("s", "one & !two", "t", reward=1).edge("t", "two | one", "s").build()
    assert lint(_task(machine, start=2)) == []


def test_parts_that_cannot_matter_are_named() -> None:
    machine = (
        MachineBuilder("s", ("one", "two", "three"))
        .edge("s", "one", "t", reward=1)
        .edge("s", "two & !one", "u")
        .edge("u", "one", "s")
        .build()
    )
    assert _texts(lint(_task(machine))) == [
        "warning: 1 of 3 observations cannot be reached from the start: 2",
        "warning: machine state 'u' cannot be reached",
        "warning: state 's' on 'two & !one': this rule never fires; no label that occurs satisfies its guard",
        "info: from machine state 't' on, no reward can be earned",
        "info: no rule reads the propositions three",
        "warning: rules read propositions that never occur: two",
        "info: without a discount a policy may dawdle: a reward at the last step has the same value; "
        "with 'discount: 0.99' earlier is better",
    ]


def test_a_task_that_pays_nothing_is_warned_about() -> None:
    machine = MachineBuilder("s", ("one", "two")).edge("s", "one", "s").edge("s", "two & !one", "s").build()
    assert "warning: from machine state 's' on, no reward can be earned" in _texts(lint(_task(machine, start=2)))


def test_a_machine_alone_is_judged_on_all_labels() -> None:
    machine = MachineBuilder("s", ("a", "b")).edge("s", "a & !a", "t", reward=1).edge("s", "a", "s", reward=0.5).build()
    assert _texts(lint(machine)) == [
        "warning: machine state 't' cannot be reached",
        "warning: state 's' on 'a & !a': this rule never fires; no label satisfies its guard",
        "info: no rule reads the propositions b",
    ]


@pytest.mark.parametrize("start", [0, 1, 2])
def test_reachability_agrees_with_the_powers_of_the_kernel(start: int) -> None:
    mdp = LabeledMDP.from_rows(3, 1, ROWS, (), start)
    steps = np.linalg.matrix_power(mdp.to_dense()[:, 0] + np.eye(3), 3)
    np.testing.assert_array_equal(reachable_observations(mdp), steps[start] > 0)


def test_the_warehouse_has_only_its_end_to_note() -> None:
    assert _texts(lint(envs.warehouse(size=3))) == ["info: from machine state 'done' on, no reward can be earned"]


def test_a_rule_that_earlier_ones_hide_is_named_as_it_was_written() -> None:
    builder = MachineBuilder("s", ("a", "b"), first_match=True)
    machine = builder.edge("s", "a | b", "t", reward=1).edge("s", "b & a", "s", reward=2).edge("t", "a", "s").build()
    assert _texts(lint(machine)) == [
        "warning: state 's' on 'b & a': this rule never fires; earlier rules take every label that satisfies its guard"
    ]


def test_a_machine_from_a_formula_is_judged_on_its_diagrams() -> None:
    machine = RewardMachine.from_ltlf(" & ".join(f"F a{i}" for i in range(10)))
    assert _texts(lint(machine)) == ["info: from machine state 'done' on, no reward can be earned"]
    assert "rules" not in machine.__dict__  # they were never written out
