"""Standings of the league, on made-up runs: ranks, ratios, intervals, worst and linear runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from praemia.analysis.gallery import study_figures
from praemia.analysis.league import Board, is_linear, rank_differences, standings
from praemia.analysis.league_claims import check_league
from praemia.analysis.league_page import HEADER, league_section, league_text, regret_rows, standing_cells
from praemia.analysis.provenance import commands
from praemia.analysis.results import Series, Study
from praemia.experiments.builtin import RIVERSWIMS, WAREHOUSES
from praemia.experiments.settings import TaskText
from praemia.simulation import Run

EPISODES = 1000


def made(task: str, title: str, run: int, ends: Sequence[float]) -> Run:
    """Return a run whose regret rises linearly to each of the ends, over parts of equal length."""
    part = EPISODES // len(ends)
    gaps = np.diff([0.0, *ends]) / part
    return Run(
        task=task,
        learner="eqo",
        title=title,
        parameters={},
        seed=(0, run),
        num_episodes=EPISODES,
        task_text=TaskText.builtin(task).text,
        versions={"praemia": "0"},
        optimal_value=1.0,
        plan_episodes=np.arange(len(ends)) * part,
        plan_values=1.0 - gaps,
        optimistic_values=np.ones(len(ends)),
        returns=np.zeros(EPISODES),
        final_policy=None,
        seconds=0.5,
    )


def study(regrets: Mapping[str, Mapping[str, Sequence[float]]]) -> Study:
    """Return a league from final regrets by task and learner; all is lost in the first half of a run."""
    settings = {
        task: [
            Series(task, title, tuple(made(task, title, run, (end, end)) for run, end in enumerate(ends)))
            for title, ends in members.items()
        ]
        for task, members in regrets.items()
    }
    return Study("league", "a league", settings)


def board(regrets: Mapping[str, Mapping[str, Sequence[float]]]) -> Board:
    return Board.of(study(regrets).settings)


CLEAR_REGRETS = {
    "warehouse-3": {"UCBVI-PRM": [10, 10, 10], "low": [5, 4, 6], "high": [80, 80, 80]},
    "warehouse-4": {"UCBVI-PRM": [20, 20, 20], "low": [2.5, 2.5, 2.5], "high": [40, 40, 10]},
}
CLEAR = board(CLEAR_REGRETS)


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
    assert is_linear(made("warehouse-3", "a", 0, ends)) == linear


def test_linear_runs_are_counted_by_task() -> None:
    runs = (made("warehouse-3", "a", 0, (50.0, 100.0)), made("warehouse-3", "a", 1, (50.0, 50.0)))
    (line,) = standings(Board.of({"warehouse-3": [Series("warehouse-3", "a", runs)]}))
    assert line.linear == {"warehouse-3": 1}
    assert standing_cells(line)[HEADER.index("linear")] == "1/2"


def test_text_and_section_show_every_learner_and_task() -> None:
    table = standings(CLEAR)
    text = league_text(CLEAR, table)
    page = league_section(study(CLEAR_REGRETS))
    for line in table:
        assert line.learner in text
        assert line.learner in page
    for row in regret_rows(CLEAR):
        assert row[0] in page
    assert "<img" in page
    assert "http" not in page


def test_the_same_runs_give_the_same_standings() -> None:
    assert standings(CLEAR) == standings(CLEAR)


def test_differences_of_ranks_are_paired_by_task() -> None:
    """Ranks 2, 1, 3 on one task and 2, 1, 3 on the other: the differences are the same in every draw of tasks."""
    found = rank_differences(
        board({task: {"a": [5], "b": [1], "c": [9]} for task in ("warehouse-3", "warehouse-4")}), "b"
    )
    assert {name: (i.low, i.estimate, i.high) for name, i in found.items()} == {"a": (1, 1, 1), "c": (2, 2, 2)}


# What is claimed of Headroom

OTHERS = ("UCBVI-PRM", "UCBVI", "UCRL2-RM-L", "UCRL2-RM-B", "UCRL2-RM-B 0.03")
UNTOUCHED = ("rooms-9", "random-5x2x3-0")


def claims(
    own: float, *, dearer: Mapping[tuple[str, str], float] | None = None, ends: Mapping[str, tuple[float, float]] = {}
) -> dict[str, bool | None]:
    """Return the verdicts of a league in which Headroom has a regret near ``own`` and the others one near 10."""
    regrets = {
        task: {
            title: [(10.0 if title != "headroom" else own) * (1.0 + 0.01 * run) for run in range(4)]
            for title in (*OTHERS, "headroom")
        }
        for task in (*RIVERSWIMS, *WAREHOUSES, *UNTOUCHED)
    }
    for (task, title), value in (dearer or {}).items():
        regrets[task][title] = [value * (1.0 + 0.01 * run) for run in range(4)]
    found = study(regrets)
    for task, end in ends.items():
        own_series = next(s for s in found.settings[task] if s.title == "headroom")
        broken = Series(task, "headroom", (*own_series.runs[:-1], made(task, "headroom", 3, end)))
        found.settings[task] = [s for s in found.settings[task] if s.title != "headroom"] + [broken]
    return {claim.key: claim.held for claim in check_league(found)}


KEYS = ("headroom-baselines", "headroom-best-ucrl2", "headroom-first", "headroom-linear")


def test_a_league_that_headroom_wins_everywhere_holds_every_claim() -> None:
    assert claims(5.0) == dict.fromkeys(KEYS, True)


def test_one_setting_may_be_unclear_but_not_two_and_none_may_be_lost() -> None:
    level = {(RIVERSWIMS[0], "headroom"): 9.99}
    assert claims(5.0, dearer=level)["headroom-baselines"] is True
    assert claims(5.0, dearer={**level, (RIVERSWIMS[1], "headroom"): 9.99})["headroom-baselines"] is False
    assert claims(5.0, dearer={(RIVERSWIMS[0], "headroom"): 11.0})["headroom-baselines"] is False


def test_a_baseline_that_is_clearly_lower_in_one_setting_decides() -> None:
    verdicts = claims(5.0, dearer={(WAREHOUSES[0], "UCRL2-RM-B 0.03"): 4.0})
    assert verdicts["headroom-best-ucrl2"] is False
    assert verdicts["headroom-baselines"] is True


def test_tasks_that_somebody_tuned_on_do_not_count_for_the_first_place() -> None:
    assert claims(5.0, dearer={(task, "headroom"): 99.0 for task in RIVERSWIMS})["headroom-first"] is True
    assert claims(5.0, dearer={(task, "UCBVI"): 1.0 for task in UNTOUCHED})["headroom-first"] is False


def test_one_linear_run_of_headroom_is_enough() -> None:
    assert claims(5.0, ends={"rooms-9": (50.0, 100.0)})["headroom-linear"] is False


def test_without_headroom_or_without_company_nothing_is_claimed() -> None:
    assert check_league(study({"warehouse-3": {"UCBVI-PRM": [1, 2], "b": [1, 2]}})) == []
    assert check_league(study({"warehouse-3": {"headroom": [1, 2]}})) == []


def test_where_runs_are_missing_nothing_is_decided() -> None:
    found = {c.key: c.held for c in check_league(study({"warehouse-3": {"headroom": [1, 2], "UCBVI-PRM": [3, 4]}}))}
    assert found == {**dict.fromkeys(KEYS[:2], None), "headroom-linear": True}
    alone = check_league(study({"rooms-9": {"headroom": [1], "UCBVI-PRM": [3]}}))
    assert {c.key: c.held for c in alone}["headroom-first"] is None, "one run each has no spread to judge by"


def test_a_league_in_which_nobody_played_everywhere_says_so() -> None:
    scattered = study({"warehouse-3": {"a": [1, 2]}, "warehouse-4": {"b": [1, 2]}})
    assert "No learner has runs on every task" in league_section(scattered)
    assert list(study_figures(scattered)) == []


def test_the_report_says_how_to_play_a_league_again() -> None:
    small = study({"warehouse-3": {"a": [1, 2]}})
    assert "praemia league --runs 2 --episodes 1000 --seed 0 --task warehouse-3 --learner eqo" in commands([small])
