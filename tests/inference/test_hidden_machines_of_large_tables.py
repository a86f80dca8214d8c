"""A machine that is hidden is found in a large table too: labels that a function gives are not lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import praemia
from praemia.cli import main
from praemia.inference.hidden_machine import play_hidden

SIDE = 16  # O·A·O = 256 · 4 · 256 is too much to tabulate every label


def lake(side: int) -> dict[str, object]:
    """Go right and come back: an open lake on which nobody slips. The optimum is 1."""
    rows = ["S" + "F" * (side - 1), *["F" * side] * (side - 2), "F" * (side - 1) + "G"]
    return {
        "gymnasium": {
            "id": "FrozenLake-v1",
            "options": {"desc": rows, "is_slippery": False},
            "labels": [{"to": 1, "label": ["east"]}, {"to": 0, "label": ["home"]}],
        },
        "machine": {
            "states": ["out", "back", "done"],
            "initial": "out",
            "propositions": ["east", "home"],
            "transitions": [
                {"from": "out", "when": "east", "to": "back"},
                {"from": "back", "when": "home", "to": "done", "reward": 1},
            ],
        },
        "horizon": 4,
    }


@pytest.mark.parametrize("side", [4, SIDE])
def test_the_last_plan_is_as_good_as_the_optimum(side: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "lake.json"
    file.write_text(json.dumps(lake(side)), encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        main(["run", str(file), "--hidden-machine", "--episodes", "400", "--runs", "1", "--json"])
    assert ended.value.code == 0
    said = json.loads(capsys.readouterr().out)
    assert said["optimal_value"] == 1.0
    assert said["runs"][0]["value"] == 1.0


@pytest.mark.parametrize("side", [4, SIDE])
def test_labels_of_a_function_are_not_lost(side: int) -> None:
    """Go right and come back in a row of side² cells: the labels are told by a function alone."""
    size = side * side
    rows = {(o, a): {min(max(o + (1, -1)[a % 2], 0), size - 1): 1.0} for o in range(size) for a in range(4)}

    def labels(o: int, a: int, z: int) -> set[str]:
        return {"east"} if z == 1 else {"home"} if z == 0 else set()

    mdp = praemia.LabeledMDP.from_rows(size, 4, rows, labels=labels, start=0)
    builder = praemia.MachineBuilder("out").edge("out", "east", "back")
    task = praemia.Task(mdp, builder.edge("back", "home", "done", reward=1.0).build(), 4)
    run = play_hidden(task, 400, seed=0)
    assert run.optimal_value == run.value == 1.0
