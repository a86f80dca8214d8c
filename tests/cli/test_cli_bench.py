"""``praemia bench`` measures and prints; how fast anything is, no test says."""

from __future__ import annotations

import json

import pytest

from praemia.cli import bench, execute
from praemia.cli.bench import between, warehouse_task
from praemia.planning.exact import solve
from praemia.tasks.product import product


def test_bench_prints_one_record_or_a_page_and_tells_its_progress_elsewhere(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert execute(["bench", "--quick", "--json"]) == 0
    captured = capsys.readouterr()
    record = json.loads(captured.out)
    assert {"planning", "steps_per_second", "runs", "plan_seconds"} <= set(record)
    assert all(run["seconds"] > 0 for run in (*record["planning"]["runs"], *record["runs"].values()))
    assert captured.err.count("…") == len(record)
    for name, part in {"exact_planning": "planning", "steps_per_second": "steps_per_second"}.items():
        monkeypatch.setattr(bench, name, lambda *given, part=part: record[part])
    for name, part in {"run_times": "runs", "plan_times": "plan_seconds"}.items():
        monkeypatch.setattr(bench, name, lambda task, player, episodes, part=part: record[part][player.name])
    assert execute(["bench", "--quick"]) == 0
    output = capsys.readouterr().out
    assert "ns per product state and step" in output
    assert "a run of headroom" in output


def test_a_median_far_from_the_best_is_shown_beside_it() -> None:
    assert between(1.0, 1.1, "{:.1f}") == "1.0"
    assert between(1.0, 3.0, "{:.1f}") == "1.0 … 3.0"
    assert between(9.0, 3.0, "{:.0f}") == "9 … 3", "speeds: the best is the largest"


def test_the_task_to_measure_with_can_be_solved_and_pays() -> None:
    task = warehouse_task(3, 4, 12)
    explicit = product(task)
    values = 0.0
    for _ in range(task.horizon):
        values = (explicit.transitions @ (explicit.start_probs * 0 + values)).reshape(-1, task.num_actions)
        values = (values + explicit.rewards).max(axis=1)
    assert solve(task).value == pytest.approx(explicit.start_probs @ values)
    assert solve(task).value > 0
