"""``praemia reproduce --decide``: it plays on where claims are open, looks at 8, 16 … 512 runs, and can be resumed."""

from __future__ import annotations

from pathlib import Path

import pytest

from praemia.cli import execute

# Six series; the one claim that is made of them, "observations", needs four.
TINY = ("reproduce", "--only", "river-length", "--episodes", "40", "--jobs", "1", "--no-policies")


def runs_of(folder: Path) -> dict[tuple[str, str], int]:
    """Return the number of stored runs by task and learner."""
    return {
        (kind.parent.name, kind.name.rpartition("-")[0]): len(list(kind.glob("run-*.npz")))
        for kind in folder.glob("*/*-*")
        if kind.is_dir()
    }


def test_too_few_runs_are_said_to_be_too_few(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute([*TINY, "--runs", "2", "--out", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "not decided   The regret of UCBVI-PRM grows more slowly with the number of observations" in shown
    assert "(too few runs (2; at least 8 are needed))" in shown


def test_decide_plays_on_only_where_a_claim_is_open_until_it_is_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("praemia.report.page.write_report", lambda *given, **options: [])  # figures take long
    assert execute([*TINY, "--runs", "2", "--out", str(tmp_path), "--decide"]) == 0
    captured = capsys.readouterr()
    assert "1 of 1 claims is not decided; up to 8 runs of each" in captured.err
    (verdict,) = [line for line in captured.out.splitlines() if "number of observations than" in line]
    assert verdict.startswith(("held", "did not hold"))
    found = runs_of(tmp_path)
    assert {n for (task, _), n in found.items() if task == "riverswim-10-horizon-40"} == {2}
    assert {n for (_, learner), n in found.items() if learner == "UCRL2-RM-L"} == {2}
    (most,) = {n for (task, learner), n in found.items() if "-10-" not in task and learner != "UCRL2-RM-L"}
    assert most in {8, 16, 32, 64, 128, 256, 512}
    files = sorted(tmp_path.glob("*/*/run-*.npz"))
    times = [path.stat().st_mtime_ns for path in files]
    assert execute([*TINY, "--runs", "2", "--out", str(tmp_path), "--decide"]) == 0
    assert verdict in capsys.readouterr().out
    assert [path.stat().st_mtime_ns for path in sorted(tmp_path.glob("*/*/run-*.npz"))] == times


def test_decide_does_not_go_with_shards(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute([*TINY, "--decide", "--shard", "1/2", "--out", str(tmp_path / "new")]) == 2
    assert "--decide" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
