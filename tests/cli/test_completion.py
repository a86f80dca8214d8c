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

COMPILERS = ("numba", "llvmlite", "scipy")
TASK_PLACES = ("run", "solve", "show", "explore", "reproduce --task", "plan data --task")
LEARNER_PLACES = ("run warehouse-3", "reproduce")


def variables(typed: str) -> dict[str, str]:
    """Return the variables in which bash says what was typed."""
    return {"COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split(" ")) - 1)}


def parsed(answer: str) -> list[tuple[str, str]]:
    return [(text, kind) for kind, _, text in (line.partition(",") for line in answer.split())]


def offered(typed: str, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Return what bash would offer at the end of a line, each with its kind."""
    for name, value in variables(typed).items():
        monkeypatch.setenv(name, value)
    return parsed(BashComplete(praemia, {}, "praemia", "_PRAEMIA_COMPLETE").complete())


def plain(names: list[str], start: str) -> list[tuple[str, str]]:
    return [(name, "plain") for name in names if name.startswith(start)]


def test_commands_are_offered_by_the_command_itself_and_nothing_that_compiles_is_imported_to_find_out(
    tmp_path: Path,
) -> None:
    for typed in ("re", "run ware", "reproduce --task ware", "run warehouse-3 --learner uc", "envs off", "check ta"):
        done = subprocess.run(
            [sys.executable, "-m", "praemia"],
            env={
                **os.environ,
                **variables(f"praemia {typed}"),
                "_PRAEMIA_COMPLETE": "bash_complete",
                "PYTHONPROFILEIMPORTTIME": "1",
            },
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        offers = parsed(done.stdout)
        assert offers == plain(sorted(COMMANDS), typed) if typed == "re" else offers
        imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
        assert "praemia.cli" in imported
        assert imported.isdisjoint(COMPILERS)


def test_names_are_offered_with_the_files_beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("warehouse.yaml", "warehouse.txt", "other.yaml", "ucb.py"):
        (tmp_path / name).touch()
    for place in TASK_PLACES:
        tasks = plain([*envs.names(), "warehouse.yaml"], "ware")
        assert offered(f"praemia {place} ware", monkeypatch) == tasks
        assert offered(f"praemia {place} ../ta", monkeypatch) == [("../ta", "file")], "the shell finds the others"
    for place in LEARNER_PLACES:
        known = plain([*learners.names(), "ucb.py"], "uc")
        assert offered(f"praemia {place} --learner uc", monkeypatch) == known
    assert offered("praemia envs off", monkeypatch) == plain(envs.names(), "off")
    assert offered("praemia envs x", monkeypatch) == []
    assert offered("praemia check ta", monkeypatch) == [("ta", "file")]
    assert ("--episodes", "plain") in offered("praemia run --ep", monkeypatch)
    assert all(kind == "plain" for _, kind in offered("praemia nonsense w", monkeypatch))
