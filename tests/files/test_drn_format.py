"""A task in Storm's explicit format is the cross product, and Storm finds our optimal value."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import praemia
from praemia import envs
from praemia.errors import ModelError
from praemia.files.formats.drn import write_drn
from praemia.machines.builder import MachineBuilder
from praemia.machines.labels import LabelRule
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.task import Task


def random_start() -> Task:
    """Return a small task with a random start, chance everywhere and names that need care."""
    probs = np.random.default_rng(3).dirichlet(np.ones(3), size=(3, 2))
    mdp = LabeledMDP.from_dense(probs, [LabelRule("goal", target=2)], {0: 0.3, 1: 0.7}, actions=["go left", "right"])
    machine = (
        MachineBuilder("init")
        .edge("init", "goal", "two words", probability=0.5, reward=0.7)
        .edge("init", "goal", "init", probability=0.5)
        .edge("two words", "else", "init", reward=0.1)
        .build()
    )
    return Task(mdp, machine, 7)


def value(text: str) -> float:
    """Plan backwards in an explicit MDP, read by a few patterns; the horizon is that of the query."""
    horizon = int(re.findall(r"C<=(\d+)\]", text)[0])
    states: list[list[tuple[float, dict[int, float]]]] = []
    initial = -1
    for line in text[text.index("@model") :].splitlines()[1:]:
        if line.startswith("state "):
            initial = len(states) if " init" in line else initial
            states.append([])
        elif line.startswith("\taction "):
            states[-1].append((float(line.partition("[")[2].rstrip("]")), {}))
        else:
            target, _, probability = line.partition(" : ")
            states[-1][-1][1][int(target)] = float(probability)
    values = [0.0] * len(states)
    for _ in range(horizon):
        values = [max(r + sum(p * values[z] for z, p in row.items()) for r, row in choices) for choices in states]
    return values[initial]


@pytest.mark.parametrize("task", [envs.make("warehouse-3"), envs.make("riverswim-prm-5"), random_start()], ids=repr)
def test_the_text_is_the_cross_product(task: Task, tmp_path: Path) -> None:
    praemia.save_task(task, tmp_path / "task.drn")
    text = (tmp_path / "task.drn").read_text(encoding="utf-8")
    assert value(text) == pytest.approx(praemia.solve(task).value, rel=1e-12)
    assert text.count("\nstate ") == int(re.findall(r"@nr_states\n(\d+)", text)[0])
    assert text.count("\taction ") == int(re.findall(r"@nr_choices\n(\d+)", text)[0])
    assert text.count(" init") == 1


def test_a_machine_state_that_cannot_be_a_label_is_named() -> None:
    task = envs.make("warehouse-3").with_machine(MachineBuilder('a "b"', ["item", "delivery"]).build())
    with pytest.raises(ModelError, match="the machine state 'a \"b\"'"):
        write_drn(task)


@pytest.mark.slow
@pytest.mark.parametrize("task", [envs.make("warehouse-3"), envs.make("office-coffee"), random_start()], ids=repr)
def test_storm_finds_the_optimal_value(task: Task, tmp_path: Path) -> None:
    stormpy = pytest.importorskip("stormpy")
    praemia.save_task(task, tmp_path / "task.drn")
    query = (tmp_path / "task.drn").read_text(encoding="utf-8").splitlines()[0].partition(": ")[2]
    model = stormpy.build_model_from_drn(str(tmp_path / "task.drn"))
    result = stormpy.model_checking(model, stormpy.parse_properties(query)[0])
    found = result.get_value_vector()[model.initial_states[0]]
    assert found == pytest.approx(praemia.solve(task).value, rel=1e-9)


def test_control_characters_in_a_label_are_escaped() -> None:
    task = envs.make("warehouse-3").with_machine(MachineBuilder("a\x1b[2J\x9b\r", ["item", "delivery"]).build())
    assert "machine=a\\x1b[2J\\x9b\\r" in write_drn(task)
