"""Files from others: they name no file of ours to be read."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import Any

import pytest

import praemia
from praemia.cli import main

SECRET = "states: [ours]\ninitial: ours\npropositions: [item, delivery]\n"


def command(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    return int(ended.value.code or 0)


def test_showing_a_strangers_run_reads_none_of_our_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run has the text of its task, which could name any file as that of its machine."""
    secret, stored = tmp_path / "secret.yaml", tmp_path / "run.npz"
    secret.write_text(SECRET, encoding="utf-8")
    run = praemia.simulate(praemia.envs.warehouse(size=2), praemia.Optimal(), num_episodes=20)
    text = f"environment: {{name: warehouse-2}}\nmachine: {secret}\n"
    dataclasses.replace(run, task_text=text).save(stored)
    opened = watched_files(tmp_path)
    command("show", "warehouse-2", "--policy", str(stored))
    capsys.readouterr()
    assert {Path(path).name for path in opened} == {stored.name}


def watched_files(folder: Path) -> list[str]:
    """Return a list to which the files in a folder are added from now on when they are opened."""
    opened: list[str] = []

    def note(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and str(arguments[0]).startswith(str(folder)):
            opened.append(str(arguments[0]))

    sys.addaudithook(note)  # it cannot be taken away, but no other test has this folder
    return opened
