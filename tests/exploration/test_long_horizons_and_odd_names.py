"""Long horizons and names that need quotes are planned for like any others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import praemia
from praemia import LabeledMDP, LabelRule, Task
from praemia.cli import main

ROWS = {(o, 0): {min(3, o + 1): 1.0} for o in range(4)}


def test_a_long_horizon_is_planned_for_without_counting_all_histories() -> None:
    """There are more than 6⁴⁰⁰ histories, more than a float can say."""
    data = praemia.explore(praemia.envs.riverswim(size=3), episodes=60, method="uncertainty")
    plan = praemia.plan_from(data, praemia.CoverageReward([1.0, 1.0, 1.0]), horizon=400)
    assert 0.0 <= plan.value.low <= plan.value.value <= 3.0
    assert plan.likely_loss is None  # too many to enumerate


def test_a_plan_is_made_for_a_machine_over_names_that_need_quotes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = [LabelRule("at(A)", target=3), LabelRule("true", target=1)]
    machine = praemia.MachineBuilder("q", propositions=("at(A)", "true")).edge("q", '"at(A)"', "q", reward=1).build()
    task = Task(LabeledMDP.from_rows(4, 1, ROWS, labels=rules, start=0), machine, 4, "row")
    file, text = tmp_path / "data.npz", tmp_path / "row.yaml"
    praemia.explore(task, episodes=20, method="uncertainty").save(file)
    praemia.save_task(task, text)
    with pytest.raises(SystemExit) as ended:
        main(["plan", str(file), "--machine", str(text), "--draws", "40", "--json"])
    assert ended.value.code == 0
    (plan,) = json.loads(capsys.readouterr().out)["machines"]
    assert plan["value"] == 2.0  # it arrives at 3 in the third step, and stays
