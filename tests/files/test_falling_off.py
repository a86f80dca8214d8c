"""A text machine that can fall off: the original's code pays the last edge then, we pay nothing; ``check`` says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from praemia.cli import main

MACHINE = """\
0
[2]
(0,0,'!f&!n',ConstantRewardFunction(0))
(0,1,'f&!n',ConstantRewardFunction(0))
(1,1,'{stays}',ConstantRewardFunction(0))
(1,2,'g&!n',ConstantRewardFunction({reward}))
"""


def findings(folder: Path, capsys: pytest.CaptureFixture[str], stays: str, reward: float) -> set[str]:
    """Return what ``check`` says about the machine."""
    file = folder / "order.txt"
    file.write_text(MACHINE.format(stays=stays, reward=reward), encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        main(["check", str(file), "--json"])
    assert ended.value.code == 0
    return {finding["message"] for finding in json.loads(capsys.readouterr().out)["findings"]}


def test_what_the_original_pays_on_falling_off_is_pointed_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In state 1 no line holds on n: the original then pays the 1 of the edge to the end."""
    matters = findings(tmp_path, capsys, "!g&!n", 1)
    never_falls = findings(tmp_path, capsys, "!g|n", 1)
    assert len(matters - never_falls) == 1
    assert "1" in (matters - never_falls).pop()


def test_nothing_is_said_where_it_makes_no_difference(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The edge to the end pays nothing itself."""
    assert findings(tmp_path, capsys, "!g&!n", 0) <= findings(tmp_path, capsys, "!g|n", 0)
