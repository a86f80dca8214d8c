"""Standings of the league, on made-up runs: ranks, ratios, intervals, worst and linear runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from praemia.analysis.league import Board, is_linear, standings
from praemia.analysis.league_page import HEADER, league_text, regret_rows, standing_cells, write_league
from praemia.analysis.results import Series
from praemia.experiments.records import Record
from praemia.experiments.settings import Job, LearnerChoice, TaskText

EPISODES = 1000


def record(task: str, title: str, run: int, ends: Sequence[float]) -> Record:
    """Return a run whose regret rises linearly to each of the ends, over parts of equal length."""
    job = Job(TaskText.builtin(task), LearnerChoice.of("eqo", title), EPISODES, (0, run))
    part = EPISODES // len(ends)
    gaps = np.diff([0.0, *ends]) / part
    return Record(
        job=job,
        versions={},
        optimal_value=1.0,
        plan_episodes=np.arange(len(ends)) * part,
        plan_values=1.0 - gaps,
        optimistic_values=np.ones(len(ends)),
        return_means=np.zeros(1),
        seconds=0.5,
    )


def board(regrets: Mapping[str, Mapping[str, Sequence[float]]]) -> Board:
    """Return a board from final regrets by task and learner; all is lost in the first half of a run."""
    return Board.of(
        {
            task: [
                Series(task, title, tuple(record(task, title, run, (end, end)) for run, end in enumerate(ends)))
                for title, ends in members.items()
            ]
            for task, members in regrets.items()
        }
    )


CLEAR = board(
    {
        "warehouse-3": {"UCBVI-PRM": [10, 10, 10], "low": [5, 4, 6], "high": [80, 80, 80]},
        "warehouse-4": {"UCBVI-PRM": [20, 20, 20], "low": [2.5, 2.5, 2.5], "high": [40, 40, 10]},
    }
)


def test_ranks_and_ratios_are_those_of_the_mean_regrets() -> None:
    low, prm, high = standings(CLEAR)
    assert [low.learner, prm.learner, high.learner] == ["low", "UCBVI-PRM", "high"]
    assert [line.rank.estimate for line in (low, prm, high)] == [1.0, 2.0, 3.0]
    assert low.ratio.estimate == pytest.approx(np.sqrt(5 / 10 * 2.5 / 20))
    assert high.ratio.estimate == pytest.approx(np.sqrt(8 * 1.5))
    assert prm.ratio.estimate == prm.ratio.low == prm.ratio.high == 1.0
    assert [line.firsts for line in (low, prm, high)] == [2, 0, 0]


def test_intervals_hold_their_estimates_and_are_points_where_nothing_varies() -> None:
    for line in standings(CLEAR):
        assert line.rank.low <= line.rank.estimate <= line.rank.high
        assert line.ratio.low <= line.ratio.estimate <= line.ratio.high
    low = standings(CLEAR)[0]
    assert low.rank.low == low.rank.high == 1.0
    assert low.ratio.low < low.ratio.high  # the two tasks disagree


def test_equal_regrets_share_the_mean_of_their_ranks() -> None:
    tied = board({"warehouse-3": {"UCBVI-PRM": [4.0], "a": [4.0], "b": [9.0]}})
    assert sorted(line.rank.estimate for line in standings(tied)) == [1.5, 1.5, 3.0]


def test_the_worst_run_is_told_against_the_mean_with_its_task() -> None:
    low = standings(CLEAR)[0]
    assert low.worst == pytest.approx(6 / 5)
    assert low.worst_task == "warehouse-3"


def test_a_learner_without_some_task_is_left_out_and_named() -> None:
    partly = board({"warehouse-3": {"a": [1.0], "b": [2.0]}, "warehouse-4": {"a": [1.0]}})
    assert (partly.learners, partly.left_out) == (("a",), ("b",))
    assert "left out: b" in league_text(partly, standings(partly))


def test_ratios_are_to_the_first_learner_where_the_reference_does_not_play() -> None:
    others = board({"warehouse-3": {"a": [8.0], "b": [2.0]}})
    assert {line.learner: line.ratio.estimate for line in standings(others)} == pytest.approx({"b": 0.25, "a": 1.0})


def test_a_regret_of_nothing_has_a_rank() -> None:
    first = standings(board({"warehouse-3": {"UCBVI-PRM": [3.0], "none": [0.0]}}))[0]
    assert first.learner == "none"
    assert np.isfinite(first.worst)


@pytest.mark.parametrize(
    ("ends", "linear"),
    [
        ((50.0, 100.0), True),  # never learns
        ((90.0, 100.0), False),  # loses 20 per 1,000 at the end, a fifth of its average
        ((60.0, 100.0), True),
        ((2.0, 4.0), False),  # linear, but by less than 1 % of the optimum
        ((0.0, 0.0), False),
        ((100.0, 100.0), False),
    ],
)
def test_a_run_that_still_loses_at_the_end_is_linear(ends: Sequence[float], linear: bool) -> None:
    assert is_linear(record("warehouse-3", "a", 0, ends)) == linear


def test_linear_runs_are_counted_by_task() -> None:
    runs = (record("warehouse-3", "a", 0, (50.0, 100.0)), record("warehouse-3", "a", 1, (50.0, 50.0)))
    (line,) = standings(Board.of({"warehouse-3": [Series("warehouse-3", "a", runs)]}))
    assert line.linear == {"warehouse-3": 1}
    assert standing_cells(line)[HEADER.index("linear")] == "1/2"


def test_text_and_page_show_every_learner_and_task(tmp_path: Path) -> None:
    table = standings(CLEAR)
    text = league_text(CLEAR, table)
    paths = write_league(CLEAR, table, tmp_path)
    page = paths[0].read_text(encoding="utf-8")
    assert {path.name for path in paths} == {"league.html", "league.png", "league.svg"}
    for line in table:
        assert line.learner in text
        assert line.learner in page
    for row in regret_rows(CLEAR):
        assert row[0] in page
    assert "http" not in page.replace("http-equiv", "")


def test_the_same_runs_give_the_same_standings() -> None:
    assert standings(CLEAR) == standings(CLEAR)
