"""``praemia convert``, and other tools' files wherever a machine file is taken."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from txt_machines import PLAIN

from praemia import envs
from praemia.cli import execute
from praemia.files.load_save import load_machine, load_task


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder, which is the current one, with a machine as a text file and a task that names it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.txt").write_text(PLAIN)
    (tmp_path / "task.yaml").write_text("environment: {name: office}\nmachine: m.txt\nhorizon: 5\n")
    return tmp_path


def test_a_machine_becomes_one_of_our_files(files: Path) -> None:
    machine = load_machine("m.txt")
    for before, after in pairwise(["m.txt", "m.yaml", "m.json"]):
        assert execute(["convert", before, after]) == 0
        assert load_machine(after) == machine
    assert json.loads((files / "m.json").read_text())["initial"] == "0"


def test_a_task_becomes_a_task_file_or_an_explicit_model(files: Path) -> None:
    assert execute(["convert", "warehouse-3", "w.json"]) == 0
    assert load_task("w.json").machine == envs.make("warehouse-3").machine
    assert execute(["convert", "w.json", "w.drn"]) == 0
    assert (files / "w.drn").read_text().count("\nstate ") == 27


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["m.txt", "m.drn"], "m.drn: unknown file extension for a machine; expected one of .yaml"),
        (["absent.hoa", "m.yaml"], "absent.hoa: cannot be read: No such file"),
        (["warehouse-3", "w.hoa"], "w.hoa: unknown file extension for a task; expected one of .yaml .yml .json .drn"),
        (["bad.txt", "m.yaml"], "bad.txt:6: RewardControl depends on the environment's own step"),
        (["nowhere-3", "m.yaml"], "unknown environment"),
        (["m.txt", "m.yaml", "--from", "htm"], "htm"),
    ],
)
def test_what_cannot_be_converted_is_one_message_and_no_file(
    files: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (files / "bad.txt").write_text(PLAIN.replace("ConstantRewardFunction(1)", "RewardControl()"))
    before = sorted(files.iterdir())
    assert execute(["convert", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ")
    assert message in captured.err
    assert sorted(files.iterdir()) == before


def test_an_automaton_is_rewarded_as_requested(files: Path) -> None:
    (files / "m.hoa").write_bytes((Path(__file__).parents[2] / "examples/response.hoa").read_bytes())
    for pay in ("first", "each"):
        assert execute(["convert", "m.hoa", f"{pay}.yaml", "--pay", pay]) == 0
        assert load_machine(f"{pay}.yaml") == load_machine("m.hoa", pay=pay)


def test_commands_take_any_machine_file(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["check", "m.txt"]) == 0
    assert "ok: a machine with 3 machine states" in capsys.readouterr().out
    assert execute(["draw", "m.txt"]) == 0
    assert "else | 0" in capsys.readouterr().out
    assert load_task("task.yaml").machine.rules == load_machine("m.txt").rules
    (files / "task.yaml").write_text("environment: {name: office}\nmachine: task.yaml\n")
    assert execute(["check", "task.yaml"]) == 2
    assert "unknown key 'environment'" in capsys.readouterr().err


@pytest.mark.parametrize("option", [("--pay", "first"), ("--reward", "coffee=1"), ("--from", "hoa")])
def test_options_of_machine_files_are_refused_for_a_built_in_task(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: tuple[str, str]
) -> None:
    target = tmp_path / "task.yaml"
    assert execute(["convert", "warehouse-3", str(target), *option]) == 2
    assert "'warehouse-3' is a built-in task" in capsys.readouterr().err
    assert not target.exists()
