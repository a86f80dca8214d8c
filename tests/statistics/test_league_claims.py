"""What is claimed of Headroom, on made-up leagues: held, not held, and not decided."""

from __future__ import annotations

from collections.abc import Mapping

from league_runs import made, study

from praemia.experiments.paper import RIVERSWIMS, WAREHOUSES
from praemia.experiments.settings import Experiment, LearnerChoice, Setting, TaskText
from praemia.statistics.claims import check_claims
from praemia.statistics.measurements import Claim, further_runs
from praemia.statistics.stored_runs import Series, Study

OTHERS = ("UCBVI-PRM", "UCBVI", "UCRL2-RM-L", "UCRL2-RM-B", "UCRL2-RM-B 0.03")
UNTOUCHED = ("rooms-9", "random-5x2x3-0", "flower-5", *(f"generated-lake-{i}" for i in range(10)))
TASKS = (*RIVERSWIMS, *WAREHOUSES, *UNTOUCHED)
KEYS = ("headroom-first", "headroom-tails", "headroom-linear")


def league(own: float, changes: Mapping[tuple[str, str], float] | None = None, runs: int = 64) -> Study:
    """Return a league in which Headroom has a regret near ``own`` and the others one near 10."""
    regrets = {(task, title): 10.0 for task in TASKS for title in OTHERS} | {(task, "headroom"): own for task in TASKS}
    regrets |= changes or {}
    return study(
        {
            task: {
                title: [regrets[task, title] * (1.0 + 0.01 * (run % 4)) for run in range(runs)]
                for title in (*OTHERS, "headroom")
            }
            for task in TASKS
        }
    )


def checked(found: Study) -> dict[str, Claim]:
    return {claim.key: claim for claim in check_claims([found])}


def held(own: float, changes: Mapping[tuple[str, str], float] | None = None, runs: int = 64) -> dict[str, bool | None]:
    return {key: claim.held for key, claim in checked(league(own, changes, runs)).items()}


def test_a_league_that_headroom_wins_everywhere_holds_every_claim() -> None:
    assert held(5.0) == dict.fromkeys(KEYS, True)


def test_tasks_that_somebody_tuned_on_do_not_count_for_the_first_place() -> None:
    assert held(5.0, {(task, "headroom"): 99.0 for task in RIVERSWIMS})["headroom-first"] is True
    assert held(5.0, {(task, "UCBVI"): 1.0 for task in UNTOUCHED})["headroom-first"] is False


def test_kinds_of_task_that_disagree_leave_the_first_place_open_and_runs_do_not_help() -> None:
    claim = checked(league(5.0, {("rooms-9", "UCBVI"): 2.0}))["headroom-first"]
    assert claim.verdict == "not decided: 4 kinds of task (13 tasks) are too few, or do not agree"
    assert claim.more_runs_help is False
    readings = {item.quantity.what: item.reading for item in claim.evidence}
    assert readings["regret of UCBVI ÷ that of headroom"] == "not clear"


def test_few_runs_decide_nothing() -> None:
    claims = checked(league(5.0, runs=4))
    assert {claim.verdict for claim in claims.values()} == {"not decided: too few runs (4; at least 8 are needed)"}


def test_many_tasks_of_each_kind_decide_the_first_place_with_few_runs() -> None:
    """The tasks are the sample then, not the runs."""

    def first(tasks: int, runs: int = 4) -> Claim:
        names = [f"generated-{kind}-{seed}" for kind in ("lake", "queue") for seed in range(tasks)]
        regrets = {name: {"UCBVI-PRM": [10.0] * runs, "headroom": [5.0] * runs} for name in names}
        return checked(study(regrets))["headroom-first"]

    assert first(5).held is True
    assert first(5, runs=1).verdict == "not decided: too few runs (1; at least 8 are needed)"
    assert first(4).verdict == "not decided: 2 kinds of task (8 tasks) are too few, or do not agree"


def test_where_runs_are_too_few_for_the_first_place_more_of_them_are_asked_for() -> None:
    found = league(5.0, runs=4)
    claim = checked(found)["headroom-first"]
    settings = tuple(
        Setting(TaskText.builtin(task), tuple(LearnerChoice.of("eqo", title) for title in (*OTHERS, "headroom")), 4)
        for task in TASKS
    )
    (asked,) = further_runs([claim], [Experiment(found.name, "", settings)])
    assert {setting.name for setting in asked.settings} == set(UNTOUCHED)
    assert {(len(setting.choices), setting.num_runs) for setting in asked.settings} == {(len(OTHERS) + 1, 8)}


def test_that_linear_runs_are_rare_takes_many_runs_to_show_and_many_linear_ones_to_refute() -> None:
    assert held(5.0, runs=16)["headroom-linear"] is None  # 304 runs without one: up to 1.6 % are possible
    found = league(5.0)
    outcomes = []
    for linear in (8, 64):
        members = found.settings["rooms-9"]
        (own,) = [series for series in members if series.title == "headroom"]
        broken = tuple(made("rooms-9", "headroom", run, (50.0, 100.0)) for run in range(linear))
        changed = [s for s in members if s.title != "headroom"]
        changed.append(Series((*broken, *own.runs[linear:])))
        found.settings["rooms-9"] = changed
        claim = checked(found)["headroom-linear"]
        assert f"{linear} of 1,216 runs" in claim.evidence[0].quantity.what
        outcomes.append((claim.held, claim.summary))
    assert outcomes == [(None, "not clear"), (False, "more than 1%")]


def test_tails_hold_while_the_worst_run_of_most_tasks_is_below_twice_the_mean() -> None:
    found = league(5.0)
    outcomes = []
    for broken in (1, 13):
        for task in UNTOUCHED[:broken]:
            (own,) = [series for series in found.settings[task] if series.title == "headroom"]
            runs = (made(task, "headroom", 0, (30.0, 30.0)), *own.runs[1:])
            others = [series for series in found.settings[task] if series.title != "headroom"]
            found.settings[task] = [*others, Series(runs)]
        outcomes.append(checked(found)["headroom-tails"].held)
    assert outcomes == [True, False]


def test_without_headroom_or_without_company_nothing_is_claimed() -> None:
    assert check_claims([study({"warehouse-3": {"UCBVI-PRM": [1, 2], "b": [1, 2]}})]) == []
    assert check_claims([study({"warehouse-3": {"headroom": [1, 2]}})]) == []


def test_where_tasks_are_missing_nothing_is_decided() -> None:
    lone = study({"generated-lake-42": {"headroom": [1.0] * 8, "UCBVI-PRM": [3.0] * 8}})
    found = {claim.key: claim.verdict for claim in check_claims([lone])}
    assert found["headroom-linear"] == "not decided: the intervals are too wide"


def test_nothing_is_claimed_of_tasks_that_are_not_the_leagues() -> None:
    for task in ("warehouse-3", "rooms-9"):
        assert check_claims([study({task: {"headroom": [1.0] * 8, "UCBVI-PRM": [3.0] * 8}})]) == []
