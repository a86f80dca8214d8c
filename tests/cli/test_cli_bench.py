"""``praemia bench`` measures and prints; how fast anything is, no test says."""

from __future__ import annotations

import json
from functools import partial

import pytest

from praemia.cli import bench, execute
from praemia.cli.bench import between, bytes_per_step, threads_compared, warehouse_task
from praemia.planning.exact import solve
from praemia.tasks.product import product


def test_bench_prints_one_record_or_a_page_and_tells_its_progress_elsewhere(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "NUMBERS", 1 << 12)  # the memory's speed is not what this is about
    assert execute(["bench", "--quick", "--json"]) == 0
    captured = capsys.readouterr()
    record = json.loads(captured.out)
    assert {"planning", "steps_per_second", "runs", "plan_seconds"} <= set(record)
    assert all(run["seconds"] > 0 for run in (*record["planning"]["runs"], *record["runs"].values()))
    assert captured.err.count("…") == len(record)
    measured_before = {name: (name, partial(record.get, name)) for name in record}
    monkeypatch.setattr(bench, "_parts", lambda quick: measured_before)
    assert execute(["bench", "--quick"]) == 0
    output = capsys.readouterr().out
    assert "ns per product state and step" in output
    assert "a run of headroom" in output


def test_a_median_far_from_the_best_is_shown_beside_it() -> None:
    assert between(1.0, 1.1, "{:.1f}") == "1.0"
    assert between(1.0, 3.0, "{:.1f}") == "1.0 … 3.0"
    assert between(9.0, 3.0, "{:.0f}") == "9 … 3", "speeds: the best is the largest"


@pytest.mark.parametrize(
    ("one", "two", "said"),
    [
        ((2.0, 2.1), (1.0, 1.1), "2 threads are 2.0 × as fast as one"),
        ((1.0, 1.1), (3.0, 3.1), "2 threads are 3.0 × as slow as one"),
        ((1.0, 2.0), (0.9, 2.0), "one thread and 2 cannot be told apart from noise here"),
    ],
)
def test_threads_are_compared_only_as_far_as_noise_allows(
    one: tuple[float, float], two: tuple[float, float], said: str
) -> None:
    runs = [
        {"threads": threads, "seconds": best, "median_seconds": median}
        for threads, (best, median) in ((1, one), (2, two))
    ]
    assert threads_compared(runs) == said


def test_the_task_to_measure_with_can_be_solved_and_pays() -> None:
    task = warehouse_task(3, 4, 12)
    explicit = product(task)
    values = 0.0
    for _ in range(task.horizon):
        values = (explicit.transitions @ (explicit.start_probs * 0 + values)).reshape(-1, task.num_actions)
        values = (values + explicit.rewards).max(axis=1)
    assert solve(task).value == pytest.approx(explicit.start_probs @ values)
    assert solve(task).value > 0


def test_the_bytes_of_a_step_are_those_of_its_tables_edges_and_policy() -> None:
    """2 × 2 cells; 5 machine states are padded to 8; extra rows are written, read, and looked up once."""
    task = warehouse_task(2, 5, 1)
    edges, extra = len(task.mdp.probs), len(task.model.arrays.extra_rows)
    assert bytes_per_step(task) == 2 * 8 * 8 * (4 + extra) + 12 * edges + 8 * (4 * 5 + 1) + 8 * extra + 4 * 5
