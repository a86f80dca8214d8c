"""The league as data: who plays, where, and at which setting."""

from __future__ import annotations

import pytest

from praemia import envs, learners
from praemia.errors import PraemiaError
from praemia.experiments.league import OFFICE, TASKS, TUNED_ON, contestants, league


def test_every_learner_that_plans_plays() -> None:
    assert set(contestants()) == set(learners.names()) - {"random", "optimal", "q-learning", "crm"}


def test_one_setting_per_learner_for_all_tasks() -> None:
    experiment = league(num_runs=1)
    assert [setting.name for setting in experiment.settings] == [*TASKS, OFFICE.name]
    first = experiment.settings[0].choices
    assert all(setting.choices is first for setting in experiment.settings)


def test_the_papers_learners_play_at_the_papers_coefficients() -> None:
    scales = {choice.title: choice.parameters.get("bonus_scale") for choice in league().settings[0].choices}
    expected = {"UCBVI-PRM": 0.001, "UCBVI": 0.001, "UCRL2-RM-L": 0.5, "UCRL2-RM-B": 0.1, "UCRL2-RM-B 0.03": 0.03}
    assert {title: scales[title] for title in expected} == expected
    assert not any(choice.parameters.get("as_published") for choice in league().settings[0].choices)


def test_others_play_at_their_defaults() -> None:
    for choice in league(names=["eqo", "qr-max", "crm"]).settings[0].choices:
        assert choice.parameters == learners.parameters_of(choice.name)


def test_tasks_and_learners_join_by_name() -> None:
    experiment = league(["riverswim-7", "random-4x2x2-9"], ["psrl"], 2, 100)
    assert [setting.name for setting in experiment.settings] == ["riverswim-7", "random-4x2x2-9"]
    assert len(experiment.jobs()) == 4


def test_all_tasks_of_the_league_can_be_made_and_most_were_tuned_on_by_nobody() -> None:
    for name in TASKS:
        envs.make(name)
    assert len(set(TASKS) - set(TUNED_ON)) > len(TUNED_ON)


@pytest.mark.parametrize("arguments", [(["riverswin-5"], []), (["riverswim-5"], ["uucbvi"])])
def test_unknown_names_are_refused_with_a_hint(arguments: tuple[list[str], list[str]]) -> None:
    with pytest.raises(PraemiaError, match="did you mean"):
        league(*arguments)
