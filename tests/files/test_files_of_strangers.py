"""Files from others: they name no file of ours to be read, and numbers without end are refused in one message."""

from __future__ import annotations

import dataclasses
import os
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


ENDLESS = "1" * 5000
HOA = 'HOA: v1\nStates: {n}\nStart: 0\nAP: 1 "a"\nAcceptance: 1 Inf(0)\n--BODY--\nState: 0 {{0}}\n[t] 0\n--END--\n'


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("m.txt", f"{ENDLESS}\n[2]\n(0,2,'a',ConstantRewardFunction(1))\n"),
        ("m.txt", f"0\n[{ENDLESS}]\n(0,2,'a',ConstantRewardFunction(1))\n"),
        ("m.txt", f"0\n[2]\n(0,{ENDLESS},'a',ConstantRewardFunction(1))\n"),
        ("m.hoa", HOA.format(n=ENDLESS)),
        ("m.hoa", HOA.format(n=1).replace("[t] 0", f"[t] {ENDLESS}")),
    ],
    ids=["initial state", "terminal state", "target", "number of states", "successor"],
)
def test_a_number_of_thousands_of_digits_is_one_message(name: str, text: str, tmp_path: Path) -> None:
    """A state may be called anything, so either it is read, or refused; never a traceback."""
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    assert command("check", str(file)) in (0, 2)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")
@pytest.mark.parametrize("mask", [0o077, 0o027, 0o022])
def test_files_have_the_permissions_that_their_owner_asks_for(mask: int, tmp_path: Path) -> None:
    before = os.umask(mask)
    try:
        praemia.save_task(praemia.envs.riverswim(), tmp_path / "task.yaml")
    finally:
        os.umask(before)
    assert (tmp_path / "task.yaml").stat().st_mode & 0o777 == 0o666 & ~mask
