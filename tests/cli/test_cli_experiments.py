"""``praemia experiment``, ``reproduce`` and ``report``: deciding claims, and what becomes of wrong folders."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from stored_runs import CORRECT, PRM, fill, paper

from praemia.cli import execute
from praemia.experiments.store import FORMAT, MARKER, Store

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
def store(tmp_path: Path) -> Store:
    return fill(Store.create(tmp_path / "store"), REGRETS, paper(num_runs=3))


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


def test_decide_does_not_go_with_shards(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["reproduce", "--decide", "--shard", "1/2", "--out", str(tmp_path / "new")]) == 2
    assert "--decide" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


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


def test_a_report_as_json_is_one_object(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["report", str(store.folder), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    (group,) = found["groups"]
    assert {(entry["task"], entry["learner"]) for entry in group["results"]} == set(REGRETS)
    assert {entry["runs"] for entry in group["results"]} == {3}
    assert {entry["low"] for entry in group["results"]} == {None}  # three runs have no interval
    assert found["damaged"] == []


def test_results_are_exported_and_need_pandas(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "runs.csv"
    assert execute(["report", str(store.folder), "--csv", str(file)]) == 0
    assert len(file.read_text(encoding="utf-8").splitlines()) == 1 + 9
    assert "wrote" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert execute(["report", str(store.folder), "--csv", str(file)]) == 2
    assert "pip install 'pandas>=" in capsys.readouterr().err


def test_a_damaged_file_is_reported_and_the_others_are_shown(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    damaged = store.files()[0]
    damaged.write_bytes(damaged.read_bytes()[:100])
    assert execute(["report", str(store.folder)]) == 0
    captured = capsys.readouterr()
    assert captured.err.startswith("warning: ")
    assert damaged.name in captured.err
    assert "warehouse-3" in captured.out


def test_what_is_not_a_store_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        assert execute(["report", str(folder)]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.startswith("error: ")
        assert captured.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_an_empty_store_has_no_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / MARKER).write_text(json.dumps({"what": "runs of praemia", "format": FORMAT}))
    assert execute(["report", str(tmp_path)]) == 2
    assert "no runs to report on" in capsys.readouterr().err
    assert not (tmp_path / "report.html").exists()


def test_a_report_is_written_where_it_is_wanted(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "there" / "mine.html"
    assert execute(["report", str(store.folder), "-o", str(out)]) == 0
    assert str(out) in capsys.readouterr().out
    assert "Not decided: runs missing." in out.read_text(encoding="utf-8")
    blocked = store.files()[0] / "report.html"
    assert execute(["report", str(store.folder), "-o", str(blocked)]) == 2
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["paper", "tuning", "suite-office", "league"])
def test_the_name_of_a_file_is_a_label(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It chooses neither claims nor a kind of page."""
    pages = []
    for stem in (name, "mine"):
        (tmp_path / f"{stem}.yaml").write_text(f"title: one\n{OPEN}".replace("runs: 2", "runs: 1"))
        out = tmp_path / f"out-{stem}"
        assert execute(["experiment", str(tmp_path / f"{stem}.yaml"), "--jobs", "1", "--out", str(out), "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        pages.append([claim["say"] for claim in found["claims"]])
        assert "Lower" in (out / "report.html").read_text(encoding="utf-8")
    assert pages[0] == pages[1] == ["Lower", "Worse than nothing"]


def test_a_narrower_command_leaves_a_fuller_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = tmp_path / "two.yaml", tmp_path / "out"
    file.write_text("tasks: [riverswim-3, riverswim-4]\nlearners: [random, optimal]\nruns: 1\nepisodes: 20\n")
    command = ["experiment", str(file), "--jobs", "1", "--out", str(out), "--json"]
    found = []
    for narrower in ([], ["--task", "riverswim-3"], ["--learner", "random"]):
        assert execute([*command, *narrower]) == 0
        found.append(json.loads(capsys.readouterr().out)["groups"])
    assert found[0] == found[1] == found[2]
    assert len(found[0][0]["results"]) == 4
