"""``praemia.compare``: the runs of ``praemia run``, tables with intervals, and learners told apart by their titles."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import praemia
from praemia._support.text_tables import number
from praemia.cli import execute
from praemia.errors import ParameterError
from praemia.statistics.intervals import mean_interval, quotient_interval

TASK = praemia.envs.riverswim(3)


def test_the_runs_are_those_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    learners = ["--learner", "headroom", "--learner", "random"]
    execute(["run", "riverswim-3", *learners, "--episodes", "60", "--runs", "3", "--seed", "4", "--json"])
    rows = json.loads(capsys.readouterr().out)["learners"]
    result = praemia.compare(TASK, ["headroom", "random"], 60, num_runs=3, seed=4)
    assert {series.title: series.final.tolist() for series in result.series} == {
        row["learner"]: row["regret"] for row in rows
    }


def test_the_tables_have_the_intervals_of_the_runs() -> None:
    result = praemia.compare(TASK, ["headroom", "random"], 60, num_runs=3)
    samples = np.array(
        [[praemia.simulate(TASK, learner, 60, (0, r)).regret[-1] for r in range(3)]
         for learner in (praemia.Headroom(), praemia.Random())]
    )  # fmt: skip
    for row, values in zip(result.table.rows, samples, strict=True):
        interval = mean_interval(values)
        assert list(row[1:4]) == [number(x) for x in (interval.estimate, interval.low, interval.high)]
    ratio = quotient_interval(samples, [1, -1])
    assert list(result.ratios.rows[0][2:5]) == [number(x) for x in (ratio.estimate, ratio.low, ratio.high)]
    assert str(result).count("headroom") == 2


def test_the_figure_says_the_mean_regret_of_each_learner() -> None:
    result = praemia.compare(TASK, ["random", "optimal"], 30, num_runs=2)
    ends = [line.split() for line in str(result.figure).splitlines()[1:]]
    assert ends == [[series.title, number(series.final.mean())] for series in result.series]


@pytest.mark.parametrize(
    ("learners", "titles"),
    [
        ([praemia.UCBVIPRM(), praemia.UCBVIPRM(bonus_scale=0.5)], ["ucbvi-prm", "ucbvi-prm (bonus_scale=0.5)"]),
        (["ucrl2-rm-l", "ucrl2-rm-b"], ["ucrl2-rm-l", "ucrl2-rm-b"]),  # of one class
    ],
)
def test_learners_are_told_apart_by_their_names_and_parameters(learners: list[Any], titles: list[str]) -> None:
    assert [series.title for series in praemia.compare(TASK, learners, 5, num_runs=1).series] == titles


def test_a_learner_of_the_users_own_needs_no_registration() -> None:
    class Mine(praemia.Random):
        pass

    result = praemia.compare(TASK, [Mine(), "random"], 20, num_runs=2)
    mine, other = result.series
    assert mine.title == "mine"
    assert mine.final.tolist() == other.final.tolist()


def test_a_seed_of_several_integers_is_continued_by_the_number_of_the_run() -> None:
    (series,) = praemia.compare(TASK, ["random"], 20, num_runs=2, seed=(1, 2)).series
    assert [run.seed for run in series.runs] == [(1, 2, 0), (1, 2, 1)]
    alone = [praemia.simulate(TASK, "random", 20, (1, 2, r)).regret[-1] for r in range(2)]
    assert series.final.tolist() == alone


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"task": "riverswim-3"}, "expected a Task"),
        ({"learners": "headroom"}, "expected a list of names"),
        ({"learners": []}, "expected a list of names"),
        ({"learners": [3]}, "learner=3"),
        ({"learners": ["random", praemia.Random()]}, "two learners 'random'"),
        ({"num_runs": 0}, "num_runs=0"),
        ({"num_episodes": 0}, "num_episodes=0"),
        ({"seed": (1, -2)}, r"seed=\(1, -2\); expected an integer"),
    ],
)
def test_what_cannot_be_compared_is_refused_before_any_work(arguments: dict[str, Any], message: str) -> None:
    usual: dict[str, Any] = {"task": TASK, "learners": ["random"], "num_episodes": 5, "num_runs": 1}
    with pytest.raises(ParameterError, match=message):
        praemia.compare(**{**usual, **arguments})


def test_workers_play_the_same_runs_and_the_runs_can_be_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = (praemia.compare(TASK, ["headroom", "random"], 30, num_runs=2, jobs=jobs) for jobs in (1, 2))
    for first, second in zip(one.series, two.series, strict=True):
        assert first.title == second.title
        assert first.final.tolist() == second.final.tolist()
    assert one.to_frame()["regret"].tolist() == [value for series in one.series for value in series.final.tolist()]
    one.save(tmp_path / "runs")
    assert sorted(run.learner for run in praemia.load_runs(tmp_path / "runs")) == ["headroom"] * 2 + ["random"] * 2
    assert execute(["report", str(tmp_path / "runs")]) == 0
    assert "riverswim-3, 30 episodes, seed 0" in capsys.readouterr().out
    with pytest.raises(ParameterError, match="jobs=0"):
        praemia.compare(TASK, ["random"], 5, num_runs=1, jobs=0)


def test_workers_do_not_execute_the_script_that_starts_them(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import praemia\nprint('begun')\n"
        "print(len(praemia.compare(praemia.envs.riverswim(3), ['random'], 5, num_runs=2, jobs=2).series))\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("begun\n1\n", 0), done.stderr


def test_a_regret_that_is_only_rounding_is_nothing() -> None:
    result = praemia.compare(praemia.envs.make("warehouse-3"), ["optimal", "random"], 50, num_runs=4)
    assert result.table.rows[0][1] == "0"
    assert "×10" not in str(result)
    assert list(result.table.strong) == [0]
