"""The league as data: who plays, where, and at which setting."""

from __future__ import annotations

import pytest

from praemia import learners, solve
from praemia.envs.generated_tasks import KINDS
from praemia.errors import PraemiaError
from praemia.experiments.league import (
    LARGE,
    SETTINGS_OF_THE_PAPER,
    TUNING_SEEDS,
    UNTOUCHED,
    YARDSTICKS,
    contestants,
    is_untouched,
    league,
    task_kind,
)
from praemia.experiments.settings import TaskText


def test_every_learner_that_plans_plays() -> None:
    assert set(contestants()) == set(learners.names()) - {"random", "optimal", "q-learning", "crm", *YARDSTICKS}


def test_one_setting_per_learner_for_all_tasks() -> None:
    experiment = league(num_runs=1)
    assert [setting.name for setting in experiment.settings] == [*UNTOUCHED, *SETTINGS_OF_THE_PAPER]
    first = experiment.settings[0].choices
    assert all(setting.choices is first for setting in experiment.settings)


def test_the_papers_learners_play_at_the_papers_coefficients() -> None:
    choices = league(["riverswim-5"]).settings[0].choices
    scales = {choice.title: choice.parameters.get("bonus_scale") for choice in choices}
    expected = {"UCBVI-PRM": 0.001, "UCBVI": 0.001, "UCRL2-RM-L": 0.5, "UCRL2-RM-B": 0.1, "UCRL2-RM-B 0.03": 0.03}
    assert {title: scales[title] for title in expected} == expected
    assert not any(choice.parameters.get("as_published") for choice in choices)


def test_others_play_at_their_defaults() -> None:
    for choice in league(["riverswim-5"], ["eqo", "qr-max", "crm"]).settings[0].choices:
        assert choice.parameters == learners.parameters_of(choice.name)


def test_tasks_and_learners_join_by_name() -> None:
    experiment = league(["riverswim-7", "random-4x2x2-9"], ["psrl"], 2, 100)
    assert [setting.name for setting in experiment.settings] == ["riverswim-7", "random-4x2x2-9"]
    assert len(experiment.jobs()) == 4


def test_there_are_forty_untouched_tasks_of_eight_kinds_at_least_and_the_papers_six() -> None:
    assert len(set(UNTOUCHED)) >= 40
    assert {task_kind(task) for task in UNTOUCHED} == set(KINDS)
    assert len(KINDS) >= 8
    assert len(SETTINGS_OF_THE_PAPER) == 6
    assert not any(map(is_untouched, SETTINGS_OF_THE_PAPER))
    assert all(map(is_untouched, (*UNTOUCHED, *LARGE)))
    usual, full = ({setting.name: setting for setting in league(full=full).settings} for full in (False, True))
    assert set(full) == {*usual, *LARGE}
    assert all(full[name].num_runs > setting.num_runs for name, setting in usual.items())


def test_tasks_that_constants_were_chosen_on_are_not_among_those_that_are_reported() -> None:
    """By name, and because two seeds could by chance draw the same task, by all that a task consists of."""
    tuned_on = [f"generated-{kind}-{seed}" for kind in KINDS for seed in TUNING_SEEDS[20:24]]
    assert {*UNTOUCHED, *LARGE}.isdisjoint(tuned_on)
    made = {name: TaskText.builtin(name).make() for name in (*UNTOUCHED, *LARGE, *tuned_on)}
    parts = {name: (task.mdp.probs.tobytes(), repr(task.machine), task.horizon) for name, task in made.items()}
    assert len(set(parts.values())) == len(parts)


@pytest.mark.parametrize(
    ("task", "untouched"),
    [
        ("generated-lake-300", True),
        ("generated-lake-1000", False),
        ("generated-lake-large-1000", False),
        ("random-20x4x5-2", False),
        ("office-mail", False),
        ("random-4x2x2-9", True),
        ("generated-lake-" + "1" * 5_000, True),  # a stored run may be called anything
        ("generated-by-hand", True),  # the name of a task of one's own
    ],
)
def test_tasks_that_constants_were_chosen_on_are_not_untouched(task: str, untouched: bool) -> None:
    assert is_untouched(task) is untouched


def test_something_can_be_earned_in_every_task() -> None:
    for name in UNTOUCHED:
        assert solve(TaskText.builtin(name).make(), keep_values=False).value > 0.05, name


@pytest.mark.parametrize(
    ("task", "kind"),
    [
        ("generated-lake-3", "lake"),
        ("generated-lake-large-0", "lake"),
        ("riverswim-prm-5", "riverswim"),
        ("my-own-task", "my-own-task"),
    ],
)
def test_kinds_are_read_from_names(task: str, kind: str) -> None:
    assert task_kind(task) == kind


@pytest.mark.parametrize("arguments", [(["riverswin-5"], []), (["riverswim-5"], ["uucbvi"])])
def test_unknown_names_are_refused_with_a_hint(arguments: tuple[list[str], list[str]]) -> None:
    with pytest.raises(PraemiaError, match="did you mean"):
        league(*arguments)
