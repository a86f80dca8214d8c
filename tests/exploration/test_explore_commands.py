"""``praemia explore`` and ``praemia plan``: files in, files out, one message for bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import praemia
from praemia.cli import execute
from praemia.envs import warehouse
from praemia.exploration import Dataset
from praemia.planning.exact import evaluate, solve
from praemia.policies.policy import Policy

MACHINE = """
states: [seek, done]
initial: seek
propositions: [{name}]
transitions:
  - {{from: seek, when: {name}, to: done, reward: 1}}
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.npz"
    arguments = ["explore", "warehouse-3", "--episodes", "300", "--out", str(path)]
    assert execute(arguments) == 0
    return path


def machine_file(folder: Path, name: str) -> str:
    path = folder / f"{name}.yaml"
    path.write_text(MACHINE.format(name=name))
    return str(path)


def test_a_plan_for_another_machine_says_what_is_proven_what_is_likely_and_what_is_true(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy, machine = tmp_path / "policy.npz", machine_file(tmp_path, "delivery")
    capsys.readouterr()
    plan = ["plan", str(data), "--machine", machine, "--task", "warehouse-3", "--draws", "99", "--seed", "4"]
    assert execute([*plan, "--out", str(policy), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["machines"]
    proven, likely = found["certificate"], found["likely_loss"]
    assert (likely["draws"], likely["seed"], likely["level"]) == (99, 4, 0.95)
    assert likely["monte_carlo"][0] <= likely["loss"] <= likely["monte_carlo"][1]
    assert likely["loss"] < proven["bound"]
    assert found["loss"] <= proven["bound"]
    assert proven["exceeds_value"] == (proven["bound"] > found["value"])
    assert not likely["exceeds_value"]
    truth = warehouse(3).with_machine(praemia.load_machine(machine))
    assert found["optimum"] == pytest.approx(solve(truth).value)
    assert found["true_value"] == pytest.approx(evaluate(truth, Policy.load(policy)).value)
    assert execute(plan) == 0
    text = capsys.readouterr().out
    assert f"with probability 0.95 under the posterior the plan loses at most {likely['loss']:.4g}" in text
    assert ("* exceeds the plan's value" in text) == proven["exceeds_value"]


def test_appending_keeps_what_was_there(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["explore", "warehouse-3", "--episodes", "5e1", "--out", str(data), "--append", "--seed", "1"]
    capsys.readouterr()
    assert execute([*arguments, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["episodes"] == Dataset.load(data).num_episodes == 350


@pytest.mark.parametrize(("until", "status"), [("0.3", 0), ("0.000001", 1)])
def test_exploring_until_a_loss_ends_with_a_status_and_keeps_the_data(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], until: str, status: int
) -> None:
    path = tmp_path / "data.npz"
    machine = machine_file(tmp_path, "delivery")
    goal = ["--until", until, "--machine", machine]
    explore = ["explore", "warehouse-3", *goal, "--episodes", "400", "--out", str(path)]
    assert execute(explore) == status
    output = capsys.readouterr()
    assert ("not reached: after" in output.out) == bool(status)
    assert "likely loss (Bayesian, probability 0.95 under the posterior)" in output.out
    assert "\n100 episodes: likely loss " in f"\n{output.err}"  # progress may come before, on a slow machine
    assert execute([*explore, "--json"]) == status
    record = json.loads(capsys.readouterr().out)
    assert record["reached"] == (status == 0)
    assert record["episodes"] == record["checks"][-1][0] == Dataset.load(path).num_episodes


def test_without_a_machine_the_plan_is_for_that_of_the_task(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["plan", str(data), "--task", "warehouse-3", "--json"]) == 0
    (record,) = json.loads(capsys.readouterr().out)["machines"]
    assert record["machine"] == "warehouse-3"
    assert record["optimum"] == solve(warehouse(3)).value
    assert execute(["plan", str(data)]) == 2
    assert "nothing to plan for; give --machine, or --task" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["explore", "warehouse-3", "--episodes", "0", "--out", "{new}"], "not in the range 1 … 1,000,000,000"),
        (["explore", "warehouse-3", "--episodes", "5", "--out", "{folder}/no/x.npz"], "there is no folder"),
        (["explore", "warehouse-3", "--episodes", "5", "--out", "{folder}"], "is a directory"),
        (["explore", "warehous-3", "--out", "{new}"], "did you mean"),
        (["explore", "warehouse-3", "--until", "1", "--machine", "{machine}", "--out", "{new}"], "'coffee', which"),
        (["explore", "warehouse-3", "--until", "1", "--append", "--out", "{data}"], "leave --append out"),
        (["explore", "warehouse-3", "--append", "--out", "{data}"], "with seed 0: they are not independent"),
        (["explore", "warehouse-4", "--append", "--seed", "1", "--out", "{data}"], "different observations: 9 and 16"),
        (["explore", "warehouse-3", "--episodes", "1.5", "--out", "{new}"], "not an integer"),
        (["plan", "{folder}/none.npz"], "cannot be read"),
        (["plan", "{machine}"], "damaged, or not a dataset"),
        (["plan", "{data}", "--machine", "{machine}"], "'coffee', which the labels of this data never produce"),
        (["plan", "{data}", "--task", "warehouse-4"], "'warehouse-4' has 16 and 5"),
        (["plan", "{data}", "--machine", "{known}", "--machine", "{known}", "--out", "{new}"], "one --machine"),
        (["plan", "{data}", "--machine", "{known}", "--draws", "18"], "a level of 0.95 needs 19 at least"),
    ],
)
def test_bad_input_is_one_message_and_nothing_is_written(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    new, before = tmp_path / "new.npz", data.read_bytes()
    files = {"machine": machine_file(tmp_path, "coffee"), "known": machine_file(tmp_path, "delivery")}
    places = {"new": new, "folder": tmp_path, "data": data, **files}
    capsys.readouterr()
    assert execute([part.format(**places) for part in arguments]) == 2
    output = capsys.readouterr()
    assert message in output.err
    assert output.err.startswith("error: ")
    assert output.out == ""
    assert not new.exists()
    assert data.read_bytes() == before


def test_a_machine_without_rewards_has_a_plan_and_a_certificate(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    free = tmp_path / "free.yaml"
    free.write_text(MACHINE.format(name="delivery").replace("reward: 1", "reward: 0"))
    plan = ["plan", str(data), "--machine", str(free), "--machine", machine_file(tmp_path, "item")]
    capsys.readouterr()
    assert execute([*plan, "--task", "warehouse-3"]) == 0
    assert "vacuous" not in capsys.readouterr().out
    assert execute([*plan, "--json"]) == 0
    certificate = json.loads(capsys.readouterr().out)["machines"][0]["certificate"]
    assert (certificate["bound"], certificate["largest"], certificate["vacuous"]) == (0.0, 0.0, False)


def test_labels_that_contradict_lose_no_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A threshold inside a cell labels one transition in two ways; the command says so, and writes what was played."""
    task, file = tmp_path / "car.yaml", tmp_path / "data.npz"
    task.write_text(
        "gymnasium: {id: MountainCar-v0, observations: {position: 3, velocity: 1}}\n"
        "labels: {left: position < -0.52}\nmachine: {ltlf: F left}\nhorizon: 20\n"
    )
    explore = ["explore", str(task), "--episodes", "30"]
    assert execute([*explore, "--out", str(file)]) == 0
    assert "plan_from needs one label for each (o, a, o')" in capsys.readouterr().err
    assert Dataset.load(file).num_episodes == 30
    machine, checked = machine_file(tmp_path, "left"), tmp_path / "checked.npz"
    assert execute([*explore, "--until", "0.1", "--machine", machine, "--out", str(checked)]) == 2
    assert f"what was explored until then is kept in {checked}" in capsys.readouterr().err
    assert Dataset.load(checked).num_episodes == 30
