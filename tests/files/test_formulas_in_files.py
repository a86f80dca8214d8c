"""Task files and machine files may hold a formula or an expression in place of states and rules."""

import numpy as np
import pytest

from praemia import envs
from praemia.files.building import parse_task
from praemia.files.load_save import load_machine, load_task
from praemia.files.writing import dump
from praemia.machines.labels import LabelRule
from praemia.machines.machine import RewardMachine
from praemia.planning.exact import solve
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.task import Task

CELLS = """\
mdp:
  observations: 2
  actions: 1
  transitions: [[0, 0, {1: 1}], [1, 0, {0: 1}]]
  labels: [{to: 1, label: [item]}, {to: 0, label: [delivery, home]}]
machine:
  ltlf: "F(item & X F delivery)"
horizon: 2
"""


def test_a_formula_stands_in_the_place_of_rules():
    task = parse_task(CELLS, "cells.yaml")
    assert solve(task).value == 1.0
    assert task.machine.propositions == ("item", "delivery", "home")
    assert solve(parse_task(dump(task), "again.yaml")).value == 1.0


def test_the_warehouse_of_the_paper_is_a_formula_with_chances(tmp_path):
    path = tmp_path / "task.yaml"
    path.write_text(
        "environment: {name: warehouse, size: 3}\n"
        'machine: {ltlf: "F(item & X F delivery)", chance: {item: 0.8, delivery: 0.9}}\n'
    )
    assert solve(load_task(path)).value == pytest.approx(solve(envs.warehouse(size=3)).value)


@pytest.mark.parametrize(
    ("text", "machine"),
    [
        (
            'ltlf: {F a: 0.5, "G !b": 0.25}\npay: each\n',
            RewardMachine.from_ltlf({"F a": 0.5, "G !b": 0.25}, pay="each"),
        ),
        ('regex: ". a"\nreward: 0.5\n', RewardMachine.from_regex(". a", reward=0.5)),
        ("ltlf: F a\npropositions: [b, a]\n", RewardMachine.from_ltlf("F a", propositions=["b", "a"])),
    ],
)
def test_a_machine_file_may_hold_just_a_formula(text, machine, tmp_path):
    path = tmp_path / "machine.yaml"
    path.write_text(text)
    assert load_machine(path) == machine


def test_a_task_keeps_its_formula_when_it_is_written():
    conjunction = " & ".join(f"F a{i}" for i in range(7))
    machine = RewardMachine.from_ltlf(conjunction, reward=2.0).with_chance({"a1": 0.5})
    mdp = LabeledMDP.from_dense(np.ones((1, 1, 1)), [LabelRule("a1", source=0)])
    task = Task(mdp, machine, 3)
    text = dump(task)
    assert conjunction in text
    assert "transitions" not in text.partition("machine:")[2]
    again = parse_task(text, "again")
    assert again.machine == machine
    sums = RewardMachine.from_ltlf({"F a1": 1.0, "F a2": -0.5}, pay="each")
    assert parse_task(dump(Task(mdp, sums, 3)), "again").machine == sums
