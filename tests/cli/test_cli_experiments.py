"""``praemia experiment``, ``reproduce`` and ``report``: deciding claims, and what becomes of wrong folders."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from stored_runs import CORRECT, PRM, fill, paper

from praemia.cli import execute
from praemia.experiments.store import StoredRuns

REGRETS = {("riverswim-5", PRM): 3.0, ("riverswim-5", CORRECT): 2.0, ("warehouse-3", PRM): 30.0}
# Equal learners: more runs cannot decide whether one is lower, until both are level.
OPEN = """
tasks: [riverswim-3]
learners: [{learner: random, title: one}, {learner: random, title: other}, optimal]
runs: 2
episodes: 20
claims:
  - {say: Lower, measure: ratio, of: one, than: other, question: below}
  - {say: Worse than nothing, measure: ratio, of: one, than: optimal, question: above}
"""


@pytest.fixture
def store(tmp_path: Path) -> StoredRuns:
    return fill(StoredRuns.create(tmp_path / "store"), REGRETS, paper(num_runs=3))


def test_decide_plays_on_where_claims_are_open_and_can_be_resumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "open.yaml", tmp_path / "out"
    file.write_text(OPEN)
    command = ["experiment", str(file), "--jobs", "1", "--out", str(out)]
    assert execute(command) == 0
    assert "not decided   Lower (too few runs (2; at least 8 are needed))" in capsys.readouterr().out
    assert execute([*command, "--decide"]) == 0
    shown = capsys.readouterr()
    assert "2 of 2 claims are not decided; up to 8 runs of each" in shown.err
    assert "did not hold  Lower" in shown.out  # the same runs: level
    assert "held          Worse than nothing" in shown.out
    times = {path: path.stat().st_mtime_ns for path in out.glob("*/run-*.npz")}
    assert len(times) == 2 * 8  # two titles of one learner share their runs
    assert execute([*command, "--decide"]) == 0
    assert {path: path.stat().st_mtime_ns for path in out.glob("*/run-*.npz")} == times


def test_reproduce_is_the_experiment_paper(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chosen = ["--task", "riverswim-5", "--learner", "headroom", "--runs", "1", "--episodes", "20", "--jobs", "1"]
    for command in (["reproduce"], ["experiment", "paper"]):
        assert execute([*command, *chosen, "--out", str(tmp_path / command[0]), "--json"]) == 0
    first, second = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert first["groups"] == second["groups"]
    assert first["claims"][0]["say"] == "Warehouses: lower regret than UCBVI"
    assert {claim["outcome"] for claim in first["claims"]} == {"not decided"}


def test_a_shard_writes_no_report_and_all_shards_together_are_the_whole(tmp_path: Path) -> None:
    file, out = tmp_path / "open.yaml", tmp_path / "out"
    file.write_text(OPEN)
    for shard in ("1/2", "2/2"):
        assert execute(["experiment", str(file), "--jobs", "1", "--out", str(out), "--shard", shard]) == 0
        assert not (out / "report.html").exists()
    assert len(list(out.glob("*/run-*.npz"))) == 4
    assert execute(["report", str(out)]) == 0
    assert "Lower" in (out / "report.html").read_text(encoding="utf-8")


def test_a_report_as_json_is_one_object_that_names_damaged_files(
    store: StoredRuns, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["report", str(store.folder), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    (group,) = found["groups"]
    assert {(entry["task"], entry["learner"]) for entry in group["results"]} == set(REGRETS)
    assert {entry["runs"] for entry in group["results"]} == {3}
    assert {entry["low"] for entry in group["results"]} == {None}  # three runs have no interval
    assert found["damaged"] == []
    store.files()[0].write_bytes(store.files()[0].read_bytes()[:100])
    assert execute(["report", str(store.folder), "--json"]) == 0
    captured = capsys.readouterr()
    (damaged,) = json.loads(captured.out)["damaged"]
    assert store.files()[0].name in damaged
    assert captured.err.startswith(f"warning: {damaged}")
    out, blocked = store.folder / "there" / "mine.html", store.files()[0] / "report.html"
    assert execute(["report", str(store.folder), "-o", str(out)]) == 0
    assert "Not decided: runs missing." in out.read_text(encoding="utf-8")
    assert execute(["report", str(store.folder), "-o", str(blocked)]) == 2
    assert "cannot be written" in capsys.readouterr().err
