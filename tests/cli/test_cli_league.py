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
    for name in ("report.html", "figures/league-ranks.png", "figures/league-ranks.svg"):
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
    league = ["league", "--task", "generated-lake-42", *names, "--out", str(tmp_path)]
    assert execute(league) == 0
    assert "not decided   headroom is first in the league on tasks that nobody tuned on." in capsys.readouterr().out
    assert execute([*league, "--json"]) == 0
    claims = json.loads(capsys.readouterr().out)["claims"]
    outcomes = {claim["key"]: (claim["outcome"], claim["why"]) for claim in claims}
    assert outcomes["headroom-first"] == ("not decided", "too few runs (2; at least 8 are needed)")


@pytest.mark.usefixtures("no_page")
def test_of_tasks_of_ones_own_nothing_is_claimed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ("--learner", "headroom", "--learner", "ucbvi-prm", "--runs", "2", "--episodes", "100", "--jobs", "1")
    assert execute(["league", "--task", "rooms-9", *names, "--out", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "headroom" in out
    assert "not decided" not in out


@pytest.mark.usefixtures("no_page")
def test_the_papers_settings_are_printed_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ("--learner", "eqo", "--learner", "told-support", "--runs", "1", "--episodes", "60", "--jobs", "1")
    league = ["league", "--task", "generated-chain-3", "--task", "riverswim-5", *names, "--out", str(tmp_path)]
    assert execute(league) == 0
    shown = capsys.readouterr().out
    assert "Tasks on which constants were chosen, the paper's settings among them:" in shown
    assert "oracle baselines, which know part of p" in shown
    assert execute([*league, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["tasks"], found["paper"]["tasks"]) == (["generated-chain-3"], ["riverswim-5"])
    assert found["yardsticks"] == ["told-support"]


@pytest.mark.usefixtures("no_page")
def test_a_parameter_is_set_for_every_learner_that_has_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tiny = ["league", "--task", "riverswim-5", "--learner", "eqo", "--learner", "headroom", "--runs", "1"]
    tiny += ["--episodes", "20", "--jobs", "1", "--out", str(tmp_path / "league"), "--json"]
    assert execute([*tiny, "--set", "bonus_scale=0.5"]) == 0
    titles = {line["learner"] for line in json.loads(capsys.readouterr().out)["standings"]}
    assert titles == {"eqo (bonus_scale=0.5)", "headroom"}
    assert execute([*tiny, "--set", "bonus=0.5"]) == 2
    assert "has no parameter 'bonus'" in capsys.readouterr().err
    assert execute([*tiny, "--suite", "office", "--set", "bonus_scale=0.5"]) == 2


@pytest.mark.usefixtures("no_page")
def test_an_experiment_ends_with_its_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "small.yaml"
    file.write_text("tasks: [riverswim-3, riverswim-4]\nlearners: [optimal, random]\nruns: 2\nepisodes: 10\n")
    assert execute(["experiment", str(file), "--out", str(tmp_path / "out"), "--jobs", "1"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("riverswim")]
    assert [row[:5] for row in rows] == [
        [task, learner, "10", "0", "2"] for task in ("riverswim-3", "riverswim-4") for learner in ("optimal", "random")
    ]


def test_parameters_are_searched_on_any_task(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task = tmp_path / "mine.yaml"
    task.write_text("environment: {name: riverswim-3}\n")
    search = ["tune", "--task", str(task), "--task", "riverswim-4", "--learner", "eqo", "--try", "bonus_scale=0.01,1"]
    search += ["--runs", "2", "--episodes", "20", "--jobs", "1", "--out", str(tmp_path / "out")]
    assert execute([*search, "--json"]) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    assert [entry["task"] for entry in results] == ["mine", "riverswim-4"]
    assert execute(search) == 0
    header, *rows = capsys.readouterr().out.splitlines()
    assert header.split()[:4] == ["task", "learner", "parameters", "regret"]
    assert len(rows) == 4
    assert [row.split()[0] for row in rows if row.endswith("best")] == ["mine", "riverswim-4"]
    assert execute([*search, "--only", "warehouse-3"]) == 2
    assert "--task and --only together" in capsys.readouterr().err
