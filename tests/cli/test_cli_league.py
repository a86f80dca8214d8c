"""``praemia league``: a tiny league from the command to the page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from praemia.cli import COMMANDS, execute

TASKS = ("--task", "warehouse-3", "--task", "riverswim-5")
TINY = ("league", *TASKS, "--learner", "eqo", "--learner", "ucbvi-prm", "--runs", "2", "--episodes", "200")


@pytest.fixture
def no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw no figures: they take longest, and are not what a test is about."""
    monkeypatch.setattr("praemia.report.page.write_report", lambda *given, **options: [])


def test_a_tiny_league_prints_a_table_and_writes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "league"
    assert execute([*TINY, "--jobs", "1", "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "eqo" in shown
    assert "UCBVI-PRM" in shown
    for name in ("report.html", "figures/league.png", "figures/league.svg"):
        assert (out / name).stat().st_size > 1000
    assert len(list(out.glob("*/*/run-*.npz"))) == 8


@pytest.mark.usefixtures("no_page")
def test_json_is_one_object_with_the_standings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute([*TINY, "--jobs", "1", "--out", str(tmp_path / "league"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["tasks"] == ["warehouse-3", "riverswim-5"]
    assert {line["learner"] for line in found["standings"]} == {"eqo", "UCBVI-PRM"}
    assert sum(line["rank"] for line in found["standings"]) == 3.0
    assert {line["learner"]: line["ratio"]["low"] for line in found["standings"]}["UCBVI-PRM"] == 1.0
    assert found["claims"] == []  # headroom does not play
    assert found["paper"] is None  # nothing else is played
    assert set(found["regret"]["riverswim-5"]) == {"eqo", "UCBVI-PRM"}


def test_shards_do_the_runs_and_leave_the_table_to_the_last_call(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for shard in ("1/2", "2/2"):
        assert execute([*TINY, "--jobs", "1", "--out", str(tmp_path / "league"), "--shard", shard]) == 0
    assert capsys.readouterr().out == ""
    assert len(list(tmp_path.glob("league/*/*/run-*.npz"))) == 8


@pytest.mark.parametrize("arguments", [("--task", "warehose-3"), ("--learner", "ucbvi-pmr")])
def test_a_wrong_name_is_refused_before_anything_runs(
    arguments: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["league", *arguments, "--out", str(tmp_path / "league")]) == 2
    assert "did you mean" in capsys.readouterr().err
    assert not (tmp_path / "league").exists()


def test_the_command_is_listed() -> None:
    assert "league" in COMMANDS


@pytest.mark.usefixtures("no_page")
def test_what_is_claimed_of_headroom_is_printed_with_its_outcome(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("--learner", "headroom", "--learner", "ucbvi-prm", "--runs", "2", "--episodes", "100", "--jobs", "1")
    league = ["league", "--task", "rooms-9", *names, "--out", str(tmp_path)]
    assert execute(league) == 0
    assert "not decided   headroom is first in the league on tasks that nobody tuned on." in capsys.readouterr().out
    assert execute([*league, "--json"]) == 0
    claims = json.loads(capsys.readouterr().out)["claims"]
    outcomes = {claim["key"]: (claim["outcome"], claim["why"]) for claim in claims}
    assert outcomes["headroom-first"] == ("not decided", "too few runs (2; at least 8 are needed)")
    assert outcomes["headroom-baselines"] == ("not decided", "runs missing")


@pytest.mark.usefixtures("no_page")
def test_the_papers_settings_are_printed_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ("--learner", "eqo", "--learner", "told-most", "--runs", "1", "--episodes", "60", "--jobs", "1")
    league = ["league", "--task", "drawn-chain-3", "--task", "riverswim-5", *names, "--out", str(tmp_path)]
    assert execute(league) == 0
    shown = capsys.readouterr().out
    assert "Tasks on which constants were chosen, the paper's settings among them:" in shown
    assert "oracle baselines, which know part of p" in shown
    assert execute([*league, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["tasks"], found["paper"]["tasks"]) == (["drawn-chain-3"], ["riverswim-5"])
    assert found["yardsticks"] == ["told-most"]
