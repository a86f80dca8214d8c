"""What is written loads back to the same thing."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import machines, tasks

from praemia import envs, solve
from praemia.errors import FileError, ModelError, ParameterError
from praemia.files.load_save import load_machine, load_task, save_machine, save_task
from praemia.files.writing import dump
from praemia.machines.builder import MachineBuilder
from praemia.machines.formula import proposition
from praemia.machines.labels import LabelRule
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import Outcome, Rule
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.task import Task

NAMES = st.lists(st.text(max_size=6), min_size=3, max_size=3, unique=True)


def _again(task: Task, folder: Path) -> Task:
    save_task(task, folder / "task.yaml")
    return load_task(folder / "task.yaml")


def _require_same(task: Task, again: Task) -> None:
    assert again.machine == task.machine
    assert again.horizon == task.horizon
    assert again.mdp.observation_names == task.mdp.observation_names
    assert again.mdp.action_names == task.mdp.action_names
    for name in ("indptr", "successors", "probs", "start_probs"):
        np.testing.assert_array_equal(getattr(again.mdp, name), getattr(task.mdp, name))
    labels = [task.mdp.label_sets[number] for number in task.mdp.labels]
    assert [again.mdp.label_sets[number] for number in again.mdp.labels] == labels


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("files")


@given(machines())
def test_a_machine_loads_back_equal(folder: Path, machine: RewardMachine) -> None:
    save_machine(machine, folder / "machine.yaml")
    assert load_machine(folder / "machine.yaml") == machine


@given(tasks())
def test_a_task_loads_back_with_the_same_arrays(folder: Path, task: Task) -> None:
    _require_same(task, _again(task, folder))


@given(NAMES, NAMES, NAMES)
def test_names_of_any_kind_survive(
    folder: Path, states: list[str], observations: list[str], actions: list[str]
) -> None:
    rules = (Rule(states[0], proposition("p"), (Outcome(states[1], 0.5, Reward((0.1,))), Outcome(states[2], 0.5))),)
    machine = RewardMachine(tuple(states), states[1], ("p",), rules)
    kernel = np.full((3, 3, 3), 1 / 3)
    labels = [LabelRule(frozenset("p"), 0, 1, 2)]
    mdp = LabeledMDP.from_dense(kernel, labels, start=1, observations=observations, actions=actions)
    task = Task(mdp, machine, 1)
    for suffix in (".yaml", ".json"):
        save_task(task, folder / f"task{suffix}")
        _require_same(task, load_task(folder / f"task{suffix}"))


def test_a_formula_longer_than_a_key_of_yaml_survives_in_json(tmp_path: Path) -> None:
    machine = RewardMachine.from_ltlf({" | ".join(f"F a{i % 3}" for i in range(300)): 1.0, "F b": 2.0})
    save_machine(machine, tmp_path / "machine.json")
    assert load_machine(tmp_path / "machine.json") == machine


@pytest.mark.parametrize("name", envs.names())
def test_every_built_in_task_survives(folder: Path, name: str) -> None:
    task = envs.make(name)
    _require_same(task, _again(task, folder))


def test_a_labelling_by_a_function_is_written_for_what_can_happen(folder: Path) -> None:
    mdp = LabeledMDP.from_dense(
        [[[0.5, 0.5]], [[1.0, 0.0]]], lambda o, a, z: {"up"} if z > o else ({"down"} if z < o else set())
    )
    task = Task(mdp, MachineBuilder("s", ("up", "down")).build(), 3)
    _require_same(task, _again(task, folder))
    assert dump(task).count("label: [") == 2


def test_sums_that_are_off_by_rounding_survive(folder: Path) -> None:
    probs = np.array([[[0.1 + 0.2, 0.7]], [[0.0, 1.0 + 1e-10]]])
    task = Task(LabeledMDP.from_dense(probs), MachineBuilder("s").build(), 1)
    _require_same(task, _again(task, folder))


@pytest.mark.parametrize("name", ["", "a\nb"])
def test_a_guard_that_would_read_differently_is_refused(name: str) -> None:
    rule = Rule("s", proposition(name), (Outcome("s"),))
    with pytest.raises(ModelError):
        dump(RewardMachine(("s",), "s", (name,), (rule,)))


@pytest.mark.parametrize("name", ["machine.ymal", "machine", "machine.svg", "machine.txt"])
def test_an_ending_that_says_no_format_is_refused_with_those_that_do(tmp_path: Path, name: str) -> None:
    for save, what in ((save_machine, MachineBuilder("s").build()), (save_task, envs.make("warehouse-3"))):
        with pytest.raises(ParameterError, match=r"expected one of \.yaml \.yml \.json"):
            save(what, tmp_path / name)  # type: ignore[operator]
    assert not list(tmp_path.iterdir())


def test_drn_is_for_tasks_and_is_written_only(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"unknown file extension for a machine; expected one of \.yaml"):
        save_machine(MachineBuilder("s").build(), tmp_path / "m.drn")
    save_task(envs.make("warehouse-3"), tmp_path / "t.drn")
    with pytest.raises(FileError, match="is written but not read"):
        load_task(tmp_path / "t.drn")


def test_observations_in_which_an_episode_has_ended_survive_a_round_trip(tmp_path: Path) -> None:
    lake = envs.from_gymnasium("FrozenLake-v1", [LabelRule("goal", target=15)], is_slippery=False)
    lake = replace(lake, map=None)  # it does not know how it was made
    machine = MachineBuilder("wait", ["goal"]).edge("wait", "!goal", "wait", reward=1).build()
    task = Task(lake, machine, 10)
    save_task(task, tmp_path / "lake.yaml")
    text = (tmp_path / "lake.yaml").read_text()
    assert "ended: [5, 7, 11, 12, 15]" in text.replace("'", "").replace('"', "")
    again = load_task(tmp_path / "lake.yaml")
    assert again.mdp.ends.tolist() == lake.ends.tolist()
    first, second = ([mdp.label_sets[number] for number in mdp.labels] for mdp in (lake, again.mdp))
    assert first == second
    assert solve(again).value == solve(task).value


def test_single_transitions_that_end_an_episode_survive_a_round_trip(tmp_path: Path) -> None:
    """From 1 an episode ends at home, where others start; from 0 to 1 it goes on."""
    o, a, z, ends = [0, 1, 1], [0, 0, 0], [1, 0, 1], [False, True, False]
    mdp = LabeledMDP.from_entries(2, 1, o, a, z, [1.0, 0.5, 0.5], [LabelRule("home", target=0)], ends=ends)
    machine = MachineBuilder("q").edge("q", "home", "q", reward=1).build()
    save_task(Task(mdp, machine, 9), tmp_path / "task.yaml")
    again = load_task(tmp_path / "task.yaml").mdp
    assert again.ends.tolist() == mdp.ends.tolist()
    assert again.successors.tolist() == mdp.successors.tolist()


def test_a_transition_that_ends_an_episode_only_at_times_cannot_be_written(tmp_path: Path) -> None:
    mdp = LabeledMDP.from_entries(1, 1, [0, 0], [0, 0], [0, 0], [0.5, 0.5], ends=[True, False])
    with pytest.raises(ModelError, match="observation 0, action 0 leads to 0 both with and without an end"):
        save_task(Task(mdp, MachineBuilder("q").build(), 9), tmp_path / "task.yaml")


def test_a_link_is_followed_and_a_device_is_written_to_not_replaced(tmp_path: Path) -> None:
    target, link, pipe = tmp_path / "target.yaml", tmp_path / "link.yaml", tmp_path / "null.yaml"
    target.write_text("old")
    link.symlink_to(target)
    pipe.symlink_to(os.devnull)
    machine = MachineBuilder("s").build()
    save_machine(machine, link)
    save_machine(machine, pipe)
    assert link.is_symlink()
    assert load_machine(target) == machine
    assert Path(os.devnull).is_char_device()


def test_rewards_of_any_size_and_distribution_and_numbers_of_numpy_survive(tmp_path: Path) -> None:
    rewards = (-3.5, 1000.0, Reward.uniform(-1, 2), Reward((-2.0, 0.0, 5.0), (0.25, 0.25, 0.5)), np.int64(2))
    builder = MachineBuilder("0")
    for number, reward in enumerate(rewards):
        builder.edge(str(number), "a", str(number + 1), reward=reward)
    chances = {"a": np.float32(0.5), "b": np.float64(0.25)}
    formula = RewardMachine.from_ltlf("F(a & X F b)", reward=np.int64(2)).with_chance(chances)
    for machine in (builder.build(), formula):
        for name in ("machine.yaml", "machine.json"):
            save_machine(machine, tmp_path / name)
            assert load_machine(tmp_path / name) == machine


def test_what_has_mapped_rewards_is_not_written(tmp_path: Path) -> None:
    """A file would lose the rewards of steps on which nothing happens, and of those after the end of an episode."""
    machine = RewardMachine.from_ltlf('F "right-end"', reward=-1)
    with pytest.raises(ModelError, match=r"mapped into \[0, 1\]"):
        save_machine(machine.in_unit_range, tmp_path / "m.yaml")
    with pytest.raises(ModelError, match=r"mapped into \[0, 1\]"):
        dump(envs.riverswim().with_machine(machine).in_unit_range)
    assert not list(tmp_path.iterdir())
