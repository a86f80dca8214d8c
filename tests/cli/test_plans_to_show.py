"""The policy that ``plan`` writes can be shown, and a plan from data prints itself in a few lines."""

from __future__ import annotations

from pathlib import Path

import pytest

import praemia
from praemia.cli import main


def command(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    return int(ended.value.code or 0)


def test_what_plan_writes_show_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task, data, machine, policy = (tmp_path / name for name in ("task.yaml", "data.npz", "machine.yaml", "policy.npz"))
    praemia.save_task(praemia.envs.riverswim(size=4), task)
    praemia.save_machine(praemia.envs.riverswim(size=4).machine, machine)
    assert command("explore", str(task), "--episodes", "50", "--out", str(data)) == 0
    assert command("plan", str(data), "--machine", str(machine), "--draws", "40", "--out", str(policy)) == 0
    assert command("show", str(task), "--policy", str(policy)) == 0
    capsys.readouterr()
    assert praemia.Policy.load(policy).table.shape[2] == 4


def test_a_plan_from_data_is_printed_in_a_few_lines() -> None:
    task = praemia.envs.riverswim(size=4)
    plan = praemia.plan_from(praemia.explore(task, num_episodes=50), task.machine)
    assert len(repr(plan)) < 1000
    assert len(str(plan)) < 1000
