"""Loading tasks and machines, and the place of every mistake."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from task_texts import TASK

from praemia import Task, envs
from praemia.envs.gymnasium_table import from_gymnasium
from praemia.errors import FileError, PraemiaError, UnknownNameError
from praemia.files.building import parse_task
from praemia.files.load_save import load, load_machine, load_task, save_machine
from praemia.files.resolving import resolve_task
from praemia.files.writing import dump
from praemia.machines.builder import MachineBuilder
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward

EXAMPLES = sorted(Path(__file__).parents[2].glob("examples/*.yaml"))
MACHINE = TASK[TASK.index("  states") : TASK.index("horizon")].replace("\n  ", "\n")[2:]


def _file(folder: Path, text: str, name: str = "task.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def _message(path: Path) -> str:
    with pytest.raises(PraemiaError) as caught:
        load_task(path)
    return str(caught.value)


def _machine() -> RewardMachine:
    return (
        MachineBuilder("out", ("goal", "left"))
        .edge("out", "goal & !left", "back", probability=0.5, reward=1)
        .edge("out", "goal & !left", "out", probability=0.5)
        .edge("back", "left", "out", reward=0.25)
        .build()
    )


def test_a_task_file_says_the_mdp_the_machine_and_the_horizon(tmp_path: Path) -> None:
    task = load_task(_file(tmp_path, TASK))
    expected = [[[1.0, 0.0], [0.25, 0.75]], [[0.0, 1.0], [1.0, 0.0]]]
    np.testing.assert_array_equal(task.mdp.to_dense(), expected)
    labels = [task.mdp.label_sets[number] for number in task.mdp.labels]
    assert labels == [set(), set(), {"goal"}, {"goal"}, {"left"}]
    assert task.mdp.action_names == ("stay", "go")
    assert task.machine == _machine()
    assert (task.horizon, task.name) == (2, "task")


def test_the_line_of_a_message_is_that_of_the_rule_it_is_about(tmp_path: Path) -> None:
    overlap, unknown = "    - {from: out, when: goal, to: back}\n", "    - {from: out, when: left, to: nowhere}\n"
    path = _file(tmp_path, TASK.replace("    - {from: back", f"{overlap}{unknown}    - {{from: back"))
    message = _message(path)
    assert message.startswith((f"{path}:19: state 'out': rules", f"{path}:20: state 'out' on 'left': unknown state"))


def test_all_mistakes_of_form_are_reported_at_once(tmp_path: Path) -> None:
    text = TASK.replace("horizon: 2", "horizon: 0").replace("start: 0", "begin: 0").replace("0.25}", "two}")
    lines = _message(_file(tmp_path, text)).splitlines()
    assert len(lines) == 4
    assert sorted(int(line.split(":")[1]) for line in lines) == [4, 7, 19, 20]


@pytest.mark.parametrize("text", ["just words", "[1, 2]", "3", "null"])
def test_a_file_without_keys_is_refused(tmp_path: Path, text: str) -> None:
    assert "expected keys with values" in _message(_file(tmp_path, text))


def test_episodes_start_in_the_first_observation_unless_said_otherwise(tmp_path: Path) -> None:
    text = TASK.replace("observations: 2", "observations: ['0', '1']").replace("  start: 0\n", "")
    np.testing.assert_array_equal(load_task(_file(tmp_path, text)).mdp.start_probs, [1.0, 0.0])
    text = TASK.replace("start: 0", "start: 1")
    np.testing.assert_array_equal(load_task(_file(tmp_path, text)).mdp.start_probs, [0.0, 1.0])


def test_a_machine_may_stand_in_a_file_of_its_own(tmp_path: Path) -> None:
    _file(tmp_path, MACHINE, "machine.yaml")
    text = TASK[: TASK.index("machine:")] + "machine: machine.yaml\nhorizon: 2\n"
    assert load_task(_file(tmp_path, text)).machine == _machine()
    assert load(tmp_path / "machine.yaml") == _machine()
    assert load_machine(tmp_path / "machine.yaml") == load_machine(tmp_path / "task.yaml")


def test_rules_may_be_tried_in_order_and_end_with_else(tmp_path: Path) -> None:
    text = """\
states: [a, b]
initial: a
propositions: [x, "at(A)"]
first_match: true
transitions:
  - {from: a, when: '"at(A)"', to: b, reward: 1}
  - {from: a, when: x, to: a, reward: 0.5}
  - {from: b, when: else, to: a, reward: 0.25}
  - {from: b, when: x, to: b}
"""
    machine = load_machine(_file(tmp_path, text))
    assert [out.reward.mean for out in machine.outcomes("a", {"x", "at(A)"})] == [1.0]
    assert [out.reward.mean for out in machine.outcomes("a", {"x"})] == [0.5]
    assert [out.target for out in machine.outcomes("b", {"at(A)"})] == ["a"]
    assert [out.target for out in machine.outcomes("b", {"x"})] == ["b"]
    in_a_task = "environment: {name: office}\nmachine:\n" + "".join(f"  {line}\n" for line in text.splitlines())
    assert load_machine(_file(tmp_path, in_a_task)).rules == machine.rules


def test_a_mistake_in_a_machine_file_names_that_file_and_an_absent_one_its_name(tmp_path: Path) -> None:
    machine = _file(tmp_path, MACHINE.replace("out: 0.5}", "out: 0.25}"), "machine.yaml")
    path = _file(tmp_path, "environment: {name: warehouse}\nmachine: machine.yaml\n")
    assert _message(path).startswith(f"{machine}:5: state 'out' on 'goal & !left': probabilities sum to 0.75")
    machine.unlink()
    message = _message(path)
    assert message.startswith(f"{path}:2: ")
    assert "machine.yaml: cannot be read: No such file" in message


def test_a_machine_alone_is_no_task(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="just a machine"):
        load_task(_file(tmp_path, MACHINE))


def test_an_environment_brings_its_machine_and_horizon_and_takes_others(tmp_path: Path) -> None:
    text = "environment: {name: warehouse, size: 3}\n"
    task, built_in = load_task(_file(tmp_path, text)), envs.make("warehouse-3")
    assert (task.machine, task.horizon) == (built_in.machine, built_in.horizon)
    np.testing.assert_array_equal(task.mdp.probs, built_in.mdp.probs)
    text += "horizon: 5\nmachine: {states: [s], initial: s, propositions: [item], transitions: []}"
    task = load_task(_file(tmp_path, text))
    assert (task.horizon, task.machine.states) == (5, ("s",))


GYMNASIUM = """\
gymnasium:
  id: FrozenLake-v1
  options: {is_slippery: false}
  labels:
    - {to: 15, label: [goal]}
machine: {states: [s], initial: s, propositions: [goal], transitions: []}
horizon: 10
"""


def test_a_gymnasium_environment_is_read_with_its_options_and_labels(tmp_path: Path) -> None:
    task = load_task(_file(tmp_path, GYMNASIUM))
    assert (task.num_observations, task.num_actions) == (16, 4)
    assert set(task.mdp.probs) == {1.0}  # without slipping every move is sure
    assert set(task.mdp.label_sets) == {frozenset(), frozenset({"goal"})}


ENVIRONMENT = "environment: {name: warehouse, size: 3}\n"


def test_guards_rewards_and_names_take_yaml_values_as_they_are_meant(tmp_path: Path) -> None:
    text = """
states: [0, 1]
initial: 0
propositions: [p]
transitions:
  - {from: 0, when: true, to: {1: {reward: {bernoulli: 0.25}}}}
  - from: 1
    when: p
    to: {0: {probability: 0.5, reward: {values: [0, 0.5], probabilities: [0.5, 0.5]}}, 1: 0.5}
"""
    expected = (
        MachineBuilder("0", ("p",))
        .edge("0", "true", "1", reward=Reward.bernoulli(0.25))
        .edge("1", "p", "0", probability=0.5, reward=Reward((0.0, 0.5), (0.5, 0.5)))
        .edge("1", "p", "1", probability=0.5)
        .build()
    )
    assert load_machine(_file(tmp_path, text)) == expected


def test_a_task_is_resolved_from_a_file_or_a_built_in_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert resolve_task("warehouse-3").name == "warehouse-3"
    _file(tmp_path, TASK, "warehouse-3")
    assert resolve_task("warehouse-3").num_observations == 2
    with pytest.raises(FileError, match=r"absent\.yaml: cannot be read"):
        resolve_task("absent.yaml")
    with pytest.raises(FileError, match=r"no/such: cannot be read"):
        resolve_task("no/such")
    with pytest.raises(UnknownNameError, match="did you mean 'warehouse-4'"):
        resolve_task("warehose-4")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_every_example_loads(example: Path) -> None:
    assert isinstance(load(example), RewardMachine) or load_task(example).horizon > 0


@pytest.mark.parametrize("is_there", [True, False])
def test_a_stored_text_opens_no_file_with_a_machine(tmp_path: Path, is_there: bool) -> None:
    path = tmp_path / "machine.yaml"
    if is_there:
        save_machine(_machine(), path)
    text = f"environment: {{name: warehouse-2}}\nmachine: {json.dumps(str(path))}\n"
    with pytest.raises(FileError) as caught:
        parse_task(text, "stored")
    # The message must not tell whether there is such a file.
    assert str(caught.value).startswith(f"stored:2: the machine is in another file, {str(path)!r}; a stored task opens")


@pytest.mark.parametrize("name", ["../machine.yaml", "/etc/shadow", "link.yaml", "keys", ".netrc"])
def test_a_task_file_names_only_machine_files_below_its_folder_and_quotes_no_other(tmp_path: Path, name: str) -> None:
    save_machine(_machine(), tmp_path / "machine.yaml")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "link.yaml").symlink_to(tmp_path / "machine.yaml")
    for secret in ("keys", ".netrc"):
        (folder / secret).write_text("secret: 42\n")
    message = _message(_file(folder, f"environment: {{name: warehouse}}\nmachine: {name}\n"))
    assert message.startswith(f"{folder / 'task.yaml'}:2: ")
    assert "secret" not in message
    assert "leads out of" in message or "expected a file of a machine" in message


def test_names_stay_as_they_are_spelled(tmp_path: Path) -> None:
    text = "states: [007, 0x1F, 1]\ninitial: 007\npropositions: []\n"
    assert load_machine(_file(tmp_path, text)).states == ("007", "0x1F", "1")


def test_a_state_called_like_a_key_gets_the_hints_of_its_own_part(tmp_path: Path) -> None:
    text = MACHINE.replace("back", "reward").replace("probability: 0.5", "probabilty: 0.5")
    with pytest.raises(FileError, match=r"unknown key 'probabilty' \(did you mean 'probability'\?\)"):
        load(_file(tmp_path, text))


def test_a_very_long_name_is_refused_at_once(tmp_path: Path) -> None:
    """Comparing it with the known names, character by character, would take hours."""
    with pytest.raises(PraemiaError, match="unknown state"):
        load(_file(tmp_path, MACHINE.replace("to: out", f"to: {'b' * 1_000_000}")))


def test_a_task_that_names_a_task_as_its_machine_is_refused(tmp_path: Path) -> None:
    message = _message(_file(tmp_path, "environment: {name: warehouse}\nmachine: task.yaml\n"))
    assert "task.yaml:1:1: unknown key 'environment'" in message


def test_a_stored_text_makes_no_environment_that_may_open_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gymnasium.make", lambda *_, **__: pytest.fail("an environment may open files"))
    for other in ("Ant-v5", "Unknown-v0"):
        with pytest.raises(FileError, match=f"stored:2: the observations are Gymnasium's, of '{other}'; a"):
            parse_task(GYMNASIUM.replace("FrozenLake-v1", other), "stored")


@pytest.mark.parametrize("id", ["FrozenLake-v1", "CliffWalking-v1"])
def test_a_stored_text_keeps_the_map_of_gymnasiums_own_tables(tmp_path: Path, id: str) -> None:
    text = GYMNASIUM.replace("FrozenLake-v1", id)
    task = load_task(_file(tmp_path, text))
    again = parse_task(dump(task), "stored")
    assert again.mdp.has_transitions_of(task.mdp)
    assert again.mdp.label_sets == task.mdp.label_sets
    assert again.mdp.map.picture() == task.mdp.map.picture()
    assert dump(again) == dump(task)


def test_a_map_that_is_another_each_time_is_written_as_its_transitions() -> None:
    mdp = from_gymnasium("FrozenLake-v1", {15: "goal"}, desc=None, map_name=None)
    task = Task(mdp, RewardMachine.from_ltlf("F goal"), horizon=10)
    assert dump(task).startswith("mdp:")
    assert parse_task(dump(task), "stored").mdp.has_transitions_of(mdp)
