"""Files from somebody else: names with control characters are shown escaped, and no file of ours is read."""

from __future__ import annotations

import json
import sys
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest

import praemia
from praemia._support.text_tables import Table
from praemia.cli import execute
from praemia.errors import FileError

NAME = "a\x1b[2J\x1b]52;c;aGk=\x07\x9b31m\u202e\r"
SHOWN = "a\\x1b[2J\\x1b]52;c;aGk=\\x07\\x9b31m\\u202e\\r"
COMMANDS = [
    "check machine.yaml",
    "check task.yaml",
    "check traces.jsonl",
    "infer traces.jsonl",
    "solve task.yaml",
    "show task.yaml",
    "machine FORMULA",
    "machine FORMULA --trace TRACE",
    "show machine.yaml",
    "show task.yaml --episode 1",
    "watch task.yaml --episodes 5 -o page.html",
    "explore task.yaml --episodes 5 --out data.npz",
    "plan data.npz --task task.yaml",
    "run task.yaml --episodes 5 --runs 1 --out store",
    "report store --json",
    "check absent.yaml" + NAME,
    "run NAME --episodes 5",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("strange")
    machine = praemia.MachineBuilder(NAME).edge(NAME, f'"{NAME}"', "b", reward=1).build()
    mdp = praemia.LabeledMDP.from_dense(
        [[[0.5, 0.5]], [[1.0, 0.0]]],
        [praemia.LabelRule(NAME, target=1)],
        observations=[NAME, "b"],
        actions=[NAME],
    )
    praemia.save_machine(machine, folder / "machine.yaml")
    praemia.save_task(praemia.Task(mdp, machine, 3), folder / "task.yaml")
    (folder / "traces.jsonl").write_text(f"[[[{json.dumps(NAME)}], 1.0]]\n" * 9)
    return folder


def controls(text: str) -> list[str]:
    return [char for char in text if unicodedata.category(char) in ("Cc", "Cf") and char != "\n"]


@pytest.mark.parametrize("command", COMMANDS)
def test_no_control_character_reaches_the_terminal(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], command: str
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr("click.utils.should_strip_ansi", lambda *_: False)  # as on a terminal
    words = {"FORMULA": f'F "{NAME}"', "TRACE": f'"{NAME}"', "NAME": NAME}
    execute([words.get(word, word) for word in command.split(" ")])
    said = "".join(capfd.readouterr())
    assert said
    assert not controls(said), repr(said)


def test_errors_and_tables_escape_names_in_python_too() -> None:
    assert str(FileError(f"unknown {NAME}\nnext")) == f"unknown {SHOWN}\nnext"
    table = str(Table((NAME, "n"), [(f"{NAME}\n", "1")]))
    assert table.splitlines() == [f"{SHOWN}    n", f"{SHOWN}\\n  1"]


def test_what_python_prints_escapes_names(folder: Path) -> None:
    task = praemia.load_task(folder / "task.yaml")
    run = praemia.simulate(replace(task, name=NAME), "random", 5)
    policy = praemia.solve(task).policy
    things = [
        *(run, run.policy, praemia.rollout(task, policy), task.machine.draw(), praemia.compare(task, ["random"], 5)),
        praemia.errors.PraemiaWarning(NAME),
    ]
    assert not [thing for thing in things if controls(f"{thing}{thing!r}".replace(r"\n", ""))]


def test_showing_a_strangers_run_reads_none_of_our_files(tmp_path: Path) -> None:
    """A run has the text of its task, which could name any file as that of its machine."""
    secret, stored = tmp_path / "secret.yaml", tmp_path / "run.npz"
    secret.write_text("states: [ours]\ninitial: ours\npropositions: [item, delivery]\n", encoding="utf-8")
    run = praemia.simulate(praemia.envs.warehouse(size=2), praemia.Optimal(), num_episodes=20)
    text = f"environment: {{name: warehouse-2}}\nmachine: {secret}\n"
    replace(run, task_text=text).save(stored)
    opened: list[Path] = []

    def note(event: str, arguments: tuple[object, ...]) -> None:
        if event == "open" and str(arguments[0]).startswith(str(tmp_path)):
            opened.append(Path(str(arguments[0])))

    sys.addaudithook(note)  # it cannot be taken away, but no other test has this folder
    execute(["show", "warehouse-2", "--policy", str(stored)])
    assert set(opened) == {stored}
