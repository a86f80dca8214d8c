"""Standings of the league, on made-up runs: ratios and their intervals, ranks, worst and linear runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from league_runs import made, study

from praemia.report.league_page import (
    HEADER,
    league_figures,
    league_section,
    league_text,
    ratios_to_best,
    regrets_table,
    standings_table,
)
from praemia.report.rendering import render_page
from praemia.simulation import Run
from praemia.statistics.standings import (
    SMALL_GAP,
    LeagueTable,
    boards,
    is_linear,
    rank_profile,
    regret_ratio,
    settled_after,
)
from praemia.statistics.stored_runs import Series, Study


def board(regrets: Mapping[str, Mapping[str, Sequence[float]]]) -> LeagueTable:
    return LeagueTable.of(study(regrets).settings)


CLEAR_REGRETS = {
    "warehouse-3": {"UCBVI-PRM": [10, 10, 10], "low": [5, 4, 6], "high": [80, 80, 80]},
    "warehouse-4": {"UCBVI-PRM": [20, 20, 20], "low": [2.5, 2.5, 2.5], "high": [40, 40, 10]},
}
CLEAR = board(CLEAR_REGRETS)


def test_ratios_and_ranks_are_those_of_the_mean_regrets() -> None:
    low, prm, high = CLEAR.standings
    assert [low.learner, prm.learner, high.learner] == ["low", "UCBVI-PRM", "high"]
    assert [line.rank for line in (low, prm, high)] == [1.0, 2.0, 3.0]
    assert low.ratio.estimate == pytest.approx(np.sqrt(5 / 10 * 2.5 / 20))
    assert high.ratio.estimate == pytest.approx(np.sqrt(8 * 1.5))
    assert prm.ratio.estimate == prm.ratio.low == prm.ratio.high == 1.0
    assert [line.firsts for line in (low, prm, high)] == [2, 0, 0]


def test_kinds_of_several_tasks_are_fixed_and_their_tasks_vary() -> None:
    """Two warehouses: Student's t with one degree of freedom, the standard error is half their distance."""
    found = regret_ratio(CLEAR, "high", "UCBVI-PRM")  # 8 and 1.5
    half = 12.7062 * np.log(8 / 1.5) / 2
    assert (found.low, found.high) == pytest.approx((12**0.5 / np.exp(half), 12**0.5 * np.exp(half)), rel=1e-4)


def test_a_kind_of_one_task_makes_kinds_what_varies() -> None:
    mixed = board({**CLEAR_REGRETS, "rooms-9": {"UCBVI-PRM": [10], "low": [10], "high": [10]}})
    found = regret_ratio(mixed, "high", "UCBVI-PRM")
    assert found.estimate == pytest.approx(12 ** (1 / 4))  # √12 in the warehouses, 1 in the rooms
    # Student's t with one degree of freedom; the standard error of two values is half their distance.
    half = 12.7062 * np.log(12) / 4
    assert (found.low, found.high) == pytest.approx((12**0.25 / np.exp(half), 12**0.25 * np.exp(half)), rel=1e-4)


def test_a_comparison_does_not_change_when_others_join() -> None:
    tasks = ("warehouse-3", "rooms-9", "flower-5")
    two = {task: {"a": [5.0 + i, 6.0], "b": [9.0, 8.0 - i]} for i, task in enumerate(tasks)}
    many = {task: {**members, "c": [1.0, 1.0], "d": [7.0, 7.0]} for task, members in two.items()}
    assert regret_ratio(board(two), "a", "b") == regret_ratio(board(many), "a", "b")


def test_the_order_is_that_of_the_ratios_and_not_of_the_ranks() -> None:
    """One is first on two tasks of three by a hair, and ten times worse on the third."""
    close = {"UCBVI-PRM": [10.0], "hare": [9.9], "tortoise": [10.0]}
    found = board({"warehouse-3": close, "rooms-9": close, "flower-5": {**close, "hare": [100.0]}}).standings
    assert [line.learner for line in found][-1] == "hare"
    assert min(found, key=lambda line: line.rank).learner == "hare"


def test_equal_regrets_share_the_mean_of_their_ranks() -> None:
    tied = board({"warehouse-3": {"UCBVI-PRM": [4.0], "a": [4.0], "b": [9.0]}})
    assert sorted(line.rank for line in tied.standings) == [1.5, 1.5, 3.0]


def test_a_learner_with_more_runs_counts_with_as_many_as_the_others() -> None:
    uneven = board({"warehouse-3": {"UCBVI-PRM": [4.0, 4.0], "a": [2.0, 2.0, 900.0]}})
    assert uneven.standings[0].learner == "a"
    assert {line.runs for line in uneven.standings} == {2}


def test_the_worst_run_is_told_against_the_mean_with_its_task() -> None:
    low = CLEAR.standings[0]
    assert low.worst == pytest.approx(6 / 5)
    assert low.worst_task == "warehouse-3"


def test_a_learner_without_some_task_is_left_out_and_named() -> None:
    partly = board({"warehouse-3": {"a": [1.0], "b": [2.0]}, "warehouse-4": {"a": [1.0]}})
    assert (partly.learners, partly.left_out) == (("a",), ("b",))
    assert "left out: b" in league_text(partly)


def test_ratios_are_to_the_first_learner_where_the_reference_does_not_play() -> None:
    others = board({"warehouse-3": {"a": [8.0], "b": [2.0]}})
    assert {line.learner: line.ratio.estimate for line in others.standings} == pytest.approx({"b": 0.25, "a": 1.0})


def test_a_regret_of_nothing_counts_as_a_hundredth_of_an_optimal_episode() -> None:
    """The made-up tasks have the optimal value 1."""
    first = board({"warehouse-3": {"UCBVI-PRM": [3.0], "none": [0.0], "rounding": [1e-12]}}).standings
    assert [line.learner for line in first] == ["none", "rounding", "UCBVI-PRM"]
    assert first[0].ratio.estimate == first[1].ratio.estimate == pytest.approx(SMALL_GAP / 3.0)
    assert all(np.isfinite(line.worst) for line in first)


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
    assert is_linear(made("warehouse-3", "a", 0, ends)) == linear


@pytest.mark.parametrize(
    ("ends", "after"),
    [
        ((50.0, 50.0), 500.0),
        ((4.9, 9.8), 0.0),
        ((50.0, 50.0, 90.0, 90.0), 750.0),  # it leaves, and comes back
        ((0.0, 50.0), np.inf),
    ],
)
def test_a_run_has_settled_when_it_stays_within_one_percent(ends: Sequence[float], after: float) -> None:
    """The made-up tasks have the optimal value 1 and 1,000 episodes."""
    assert settled_after(made("warehouse-3", "a", 0, ends)) == after


def charging(ends: Sequence[float]) -> Run:
    """Return a run on a task whose optimum is −1."""
    run = made("warehouse-3", "a", 0, ends)
    return replace(run, optimal_value=-1.0, plan_values=run.plan_values - 2.0)


def test_where_the_optimum_is_negative_one_percent_is_that_of_its_size() -> None:
    perfect, slow = charging((0.0, 0.0)), charging((50.0, 100.0))
    assert not is_linear(perfect)
    assert settled_after(perfect) == 0.0
    assert is_linear(slow)
    assert settled_after(slow) == np.inf
    assert settled_after(charging((50.0, 54.0))) == 500.0


def test_a_regret_of_nothing_counts_as_much_where_the_optimum_is_negative() -> None:
    league = board({"warehouse-3": {"UCBVI-PRM": [3.0], "none": [0.0]}})
    series = {key: replace(s, runs=[replace(s.first, optimal_value=-1.0)]) for key, s in league.series.items()}
    logs = replace(league, series=series).log_regrets_of(["none"])
    assert logs[0, 0] == pytest.approx(np.log(SMALL_GAP))


def test_standings_tell_on_how_many_tasks_half_of_the_runs_settle_and_when() -> None:
    ends = {"warehouse-3": [(50.0, 50.0), (50.0, 50.0), (0.0, 50.0)], "rooms-9": [(50.0, 100.0)] * 3}
    settings = {
        task: [Series(tuple(made(task, "a", run, end) for run, end in enumerate(runs)))] for task, runs in ends.items()
    }
    (line,) = (table := LeagueTable.of(settings)).standings
    assert (line.settled, line.settled_after) == (1, np.inf)
    assert standings_table(table).rows[0][HEADER.index("settled after")] == "never"


def test_tails_are_medians_over_tasks() -> None:
    regrets = {f"generated-lake-{i}": {"a": [1.0, 1.0, 1.0, 1.0 + i]} for i in range(3)}
    (line,) = board(regrets).standings
    assert line.tail.estimate == pytest.approx(2.0 / 1.25)
    assert line.worst == pytest.approx(3.0 / 1.5)
    assert line.worst_task == "generated-lake-2"


def test_ranks_over_time_are_those_of_the_mean_regret_so_far() -> None:
    early, late = (made("rooms-9", "early", 0, (90.0, 90.0)), made("rooms-9", "late", 0, (0.0, 100.0)))
    found = LeagueTable.of({"rooms-9": [Series((run,)) for run in (early, late)]})
    assert rank_profile(found, np.array([0.01, 0.5, 1.0])).tolist() == [[2.0, 2.0, 1.0], [1.0, 1.0, 2.0]]


def test_the_papers_settings_are_told_apart() -> None:
    both = {**CLEAR_REGRETS, "generated-lake-0": {"UCBVI-PRM": [3.0], "low": [2.0], "high": [4.0]}}
    found, apart = boards(study(both).settings)
    assert found.tasks == ("generated-lake-0",)
    assert apart is not None
    assert apart.tasks == tuple(CLEAR_REGRETS)
    assert boards(study(CLEAR_REGRETS).settings)[1] is None
    assert "on which constants were chosen" in league_section(study(both), []).content["apart"]["title"]


def test_yardsticks_have_no_rank_and_are_shown() -> None:
    regrets = {f"generated-lake-{i}": {"UCBVI-PRM": [8.0 + i], "a": [4.0]} for i in range(2)}
    told = {
        task: [*members, Series((replace(made(task, "told", 0, (2.0, 2.0)), learner="told-support"),))]
        for task, members in study(regrets).settings.items()
    }
    found = LeagueTable.of(told)
    assert (found.learners, found.yardsticks) == (("UCBVI-PRM", "a"), ("told",))
    assert [line.learner for line in found.standings] == ["a", "UCBVI-PRM"]
    assert [line.firsts for line in found.standings] == [2, 0]
    assert "told" in league_text(found)
    assert ratios_to_best(found, ["a", "told"]).tolist() == [[1.0], [pytest.approx(0.5)]]


def test_linear_runs_are_counted_by_task() -> None:
    runs = (made("warehouse-3", "a", 0, (50.0, 100.0)), made("warehouse-3", "a", 1, (50.0, 50.0)))
    (line,) = (table := LeagueTable.of({"warehouse-3": [Series(runs)]})).standings
    assert line.linear == {"warehouse-3": 1}
    assert standings_table(table).rows[0][HEADER.index("linear")] == "1/2"


def shown(league: Study) -> str:
    """Return the league's section of the report."""
    return render_page("league.html.j2", content=league_section(league, []).content).decode()


def test_text_and_section_show_every_learner_and_task() -> None:
    text = league_text(CLEAR)
    page = shown(study(CLEAR_REGRETS))
    for line in CLEAR.standings:
        assert line.learner in text
        assert line.learner in page
    for row in regrets_table(CLEAR).rows:
        assert row[0] in page
    assert page.count('<svg class="chart"') == 1  # the mean ranks
    assert page.count("wins") == 1  # one kind of task, one lowest
    assert "http" not in page


def test_a_league_in_which_nobody_played_everywhere_says_so() -> None:
    scattered = study({"warehouse-3": {"a": [1, 2]}, "warehouse-4": {"b": [1, 2]}})
    assert "No learner has runs on every task" in shown(scattered)
    assert list(league_figures(scattered)) == []
