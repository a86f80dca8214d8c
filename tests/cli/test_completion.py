"""What a shell offers while a command is typed, and how little it takes to find out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from praemia import envs, learners
from praemia.cli import COMMANDS

COMPILERS = ("numba", "llvmlite", "scipy", "gymnasium")


def offered(typed: str, folder: Path) -> list[tuple[str, str]]:
    """Return what bash would offer at the end of a line, each with its kind; nothing that compiles is imported."""
    code = (
        "import sys, atexit; from praemia.cli import main\n"
        f"atexit.register(lambda: print([name for name in {COMPILERS!r} if name in sys.modules], file=sys.stderr))\n"
        "main()"
    )
    words = {"_PRAEMIA_COMPLETE": "bash_complete", "COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split(" ")) - 1)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **words},
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr.strip() == "[]"
    lines = done.stdout.split()
    return [(text, kind) for kind, _, text in (line.partition(",") for line in lines)]


def plain(names: list[str]) -> list[tuple[str, str]]:
    return [(name, "plain") for name in names]


def test_commands_are_offered(tmp_path: Path) -> None:
    assert offered("praemia re", tmp_path) == plain([name for name in sorted(COMMANDS) if name.startswith("re")])


@pytest.mark.parametrize("command", ["run", "solve", "draw", "bound", "explore", "league --task", "plan data --task"])
def test_tasks_are_offered_with_the_files_beside(command: str, tmp_path: Path) -> None:
    for name in ("warehouse.yaml", "warehouse.txt", "other.yaml"):
        (tmp_path / name).touch()
    built_in = [name for name in envs.names() if name.startswith("ware")]
    assert offered(f"praemia {command} ware", tmp_path) == plain([*built_in, "warehouse.yaml"])
    assert offered(f"praemia {command} ../ta", tmp_path) == [("../ta", "file")], "the shell finds the others"


@pytest.mark.parametrize("command", ["run warehouse-3", "league", "tune"])
def test_learners_are_offered_with_python_files(command: str, tmp_path: Path) -> None:
    (tmp_path / "ucb.py").touch()
    built_in = [name for name in learners.names() if name.startswith("uc")]
    assert offered(f"praemia {command} --learner uc", tmp_path) == plain([*built_in, "ucb.py"])


def test_environments_are_offered_to_the_command_that_shows_them(tmp_path: Path) -> None:
    assert offered("praemia envs off", tmp_path) == plain([name for name in envs.names() if name.startswith("off")])
    assert offered("praemia envs x", tmp_path) == []


def test_files_and_options_are_offered(tmp_path: Path) -> None:
    assert offered("praemia check ta", tmp_path) == [("ta", "file")]
    assert ("--episodes", "plain") in offered("praemia run --ep", tmp_path)


def test_an_unknown_command_offers_nothing(tmp_path: Path) -> None:
    assert all(kind == "plain" for _, kind in offered("praemia nonsense w", tmp_path))
