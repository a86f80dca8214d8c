"""What a shell offers while a command is typed, and how little it takes to find out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import BashComplete

from praemia import envs, learners
from praemia.cli import COMMANDS, praemia

COMPILERS = ("numba", "llvmlite", "scipy", "gymnasium")
TASK_PLACES = ("run", "solve", "show", "explore", "reproduce --task", "plan data --task")
LEARNER_PLACES = ("run warehouse-3", "reproduce")


def variables(typed: str) -> dict[str, str]:
    """Return the variables in which bash tells what was typed."""
    return {"COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split(" ")) - 1)}


def parsed(answer: str) -> list[tuple[str, str]]:
    return [(text, kind) for kind, _, text in (line.partition(",") for line in answer.split())]


class Shell:
    """A shell in an empty folder."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self._monkeypatch = folder, monkeypatch
        monkeypatch.chdir(folder)

    def offered(self, typed: str) -> list[tuple[str, str]]:
        """Return what bash would offer at the end of a line, each with its kind."""
        for name, value in variables(typed).items():
            self._monkeypatch.setenv(name, value)
        return parsed(BashComplete(praemia, {}, "praemia", "_PRAEMIA_COMPLETE").complete())


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    return Shell(tmp_path, monkeypatch)


def plain(names: list[str]) -> list[tuple[str, str]]:
    return [(name, "plain") for name in names]


def test_commands_are_offered_by_the_command_itself(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from praemia.cli import main; main()"],
        env={**os.environ, "_PRAEMIA_COMPLETE": "bash_complete", **variables("praemia re")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert parsed(done.stdout) == plain([name for name in sorted(COMMANDS) if name.startswith("re")])


def test_nothing_that_compiles_is_imported_to_find_out(tmp_path: Path) -> None:
    code = (
        "import os, sys\nfrom click.shell_completion import BashComplete\nfrom praemia.cli import praemia\n"
        "for typed in sys.argv[1:]:\n"
        "    os.environ.update(COMP_WORDS=typed, COMP_CWORD=str(len(typed.split(' ')) - 1))\n"
        "    assert BashComplete(praemia, {}, 'praemia', '_PRAEMIA_COMPLETE').complete(), typed\n"
        f"print([name for name in {COMPILERS!r} if name in sys.modules])"
    )
    typed = [f"praemia {place} ware" for place in TASK_PLACES]
    typed += [f"praemia {place} --learner uc" for place in LEARNER_PLACES]
    typed += ["praemia envs off", "praemia check ta", "praemia run --ep"]
    command = [sys.executable, "-c", code, *typed]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")


@pytest.mark.parametrize("place", TASK_PLACES)
def test_tasks_are_offered_with_the_files_beside(place: str, shell: Shell) -> None:
    for name in ("warehouse.yaml", "warehouse.txt", "other.yaml"):
        (shell.folder / name).touch()
    built_in = [name for name in envs.names() if name.startswith("ware")]
    assert shell.offered(f"praemia {place} ware") == plain([*built_in, "warehouse.yaml"])
    assert shell.offered(f"praemia {place} ../ta") == [("../ta", "file")], "the shell finds the others"


@pytest.mark.parametrize("place", LEARNER_PLACES)
def test_learners_are_offered_with_python_files(place: str, shell: Shell) -> None:
    (shell.folder / "ucb.py").touch()
    built_in = [name for name in learners.names() if name.startswith("uc")]
    assert shell.offered(f"praemia {place} --learner uc") == plain([*built_in, "ucb.py"])


def test_environments_are_offered_to_the_command_that_shows_them(shell: Shell) -> None:
    assert shell.offered("praemia envs off") == plain([name for name in envs.names() if name.startswith("off")])
    assert shell.offered("praemia envs x") == []


def test_files_and_options_are_offered(shell: Shell) -> None:
    assert shell.offered("praemia check ta") == [("ta", "file")]
    assert ("--episodes", "plain") in shell.offered("praemia run --ep")


def test_an_unknown_command_offers_nothing(shell: Shell) -> None:
    assert all(kind == "plain" for _, kind in shell.offered("praemia nonsense w"))
