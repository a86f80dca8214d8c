"""The four experiments that are shipped: who plays where, at which setting, and what was published."""

from __future__ import annotations

import pytest

from praemia import envs, learners, solve
from praemia.envs.generated_tasks import KINDS
from praemia.errors import PraemiaError
from praemia.experiments import BUILT_IN
from praemia.experiments.experiment import Experiment
from praemia.experiments.jobs import Job, TaskText
from praemia.experiments.loading import Changes, load_experiment, read_record

NOT_IN_THE_LEAGUE = {"random", "optimal", "q-learning", "crm", "told-support"}
TOLD = "QR-Max, machine known"


@pytest.fixture(scope="module")
def built_in() -> dict[str, Experiment]:
    return {name: load_experiment(name) for name in BUILT_IN}


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_record_of_an_experiment_is_a_file_that_says_the_same(built_in: dict[str, Experiment], name: str) -> None:
    experiment = built_in[name]
    again = read_record(experiment.record(), "here")
    assert [(job.digest, job.seed) for job in again.jobs()] == [(job.digest, job.seed) for job in experiment.jobs()]
    assert again.record() == experiment.record()
    assert [group.part.claims for group in again.groups] == [group.part.claims for group in experiment.groups]


def test_the_paper_has_six_settings_and_all_its_learners(built_in: dict[str, Experiment]) -> None:
    first = built_in["paper"].groups[0]
    assert [first.cells[name, "headroom"].task.make().horizon for name in first.tasks] == [10, 20, 30, 9, 12, 15]
    choices = {title: job.learner for (_, title), job in first.cells.items()}
    assert {own.name for own in choices.values()} == {"ucbvi-prm", "ucbvi", "ucrl2-rm-l", "ucrl2-rm-b", "headroom"}
    assert (first.part.runs, {job.num_episodes for job in first.cells.values()}) == (16, {10_000})
    scales = {title: own.parameters.get("bonus_scale") for title, own in choices.items()}
    expected = {"UCBVI-PRM": 0.001, "UCBVI": 0.001, "UCRL2-RM-L": 0.5, "UCRL2-RM-B": 0.1, "UCRL2-RM-B 0.03": 0.03}
    assert {title: scales[title] for title in expected} == expected
    horizons = built_in["paper"].groups[3]
    assert [horizons.cells[name, "UCBVI-PRM"].task.make().horizon for name in horizons.tasks] == [20, 40, 80]


def test_every_learner_that_plans_plays_in_the_league_at_one_setting(built_in: dict[str, Experiment]) -> None:
    held_out, tuned_on = built_in["league"].groups
    players = {held_out.cells[cell].learner.name for cell in held_out.chosen}
    assert players == {*learners.names()} - NOT_IN_THE_LEAGUE | {"told-support"}
    assert held_out.yardsticks == {"told-support"}
    choices = {cell[1]: job.learner for cell, job in held_out.cells.items()}
    assert all(job.learner == choices[cell[1]] for own in (held_out, tuned_on) for cell, job in own.cells.items())
    for title, choice in choices.items():
        if title == choice.name:
            assert choice.parameters == learners.make(choice.name).parameters
    assert not any(choice.parameters.get("as_published") for choice in choices.values())


def test_the_held_out_tasks_are_of_all_kinds_and_the_papers_are_not_among_them(built_in: dict[str, Experiment]) -> None:
    held_out, tuned_on = built_in["league"].groups
    assert len(held_out.tasks) == len(held_out.part.tasks) == 24 * len(KINDS)
    assert {own.kind for own in held_out.part.tasks} == set(KINDS)
    assert all(f"generated-{own.kind}-" in name for name, own in held_out.tasks.items())
    assert [*tuned_on.tasks] == [*built_in["paper"].groups[0].tasks]


def test_tasks_that_constants_were_chosen_on_are_not_among_those_that_are_held_out(
    built_in: dict[str, Experiment],
) -> None:
    """By name, and because two seeds could by chance give the same task, by all that a task consists of."""
    tuned_on = [f"generated-{kind}-{seed}" for kind in KINDS for seed in range(1020, 1024)]
    held_out = built_in["league"].groups[0].tasks
    assert set(held_out).isdisjoint(tuned_on)
    made = {name: TaskText.builtin(name).make() for name in (*held_out, *tuned_on)}
    parts = {name: (task.mdp.probs.tobytes(), repr(task.machine), task.horizon) for name, task in made.items()}
    assert len(set(parts.values())) == len(parts)
    for name in held_out:
        assert solve(made[name], keep_values=False).value > 0.05, name


def _benchmarks() -> list[Job]:
    groups = (*load_experiment("office").groups, *load_experiment("craft").groups)
    return [group.cells[name, "headroom"] for group in groups for name in group.tasks]


def test_the_office_and_craft_have_the_budgets_thresholds_and_figures_that_were_published(
    built_in: dict[str, Experiment],
) -> None:
    slipping, still = built_in["office"].groups
    budgets = {name: own.steps for name, own in slipping.tasks.items()}
    assert len(budgets) == 17
    assert (budgets["office-map1-exp1"], budgets["office-map3-exp5"]) == (109_640, 147_170)
    assert all(own.steps == 10 * own.published[TOLD] for own in slipping.part.tasks)
    for name in slipping.tasks:  # ⌈39/(1 + M)⌉ with M machine states that go on
        job = slipping.cells[name, TOLD]
        task = job.task.make()
        going_on = task.num_machine_states - len(task.done_states)
        assert job.learner.parameters["known_after"] == -(-39 // (1 + going_on))
        assert (task.discount, task.until_done, job.test_every) == (0.95, True, 1000)
    crm = slipping.cells["office-map1-exp1", "CRM"].learner
    assert (crm.parameters["learning_rate"], crm.parameters["discount"]) == (0.2, 0.95)
    assert slipping.tasks["office-map1-exp1"].published["CRM"] == 66_693
    assert [*still.tasks] == [f"office-jair-t{number}" for number in (1, 2, 3, 4)]
    assert {(job.num_steps, job.test_every) for job in still.cells.values()} == {(100_000, None)}
    assert still.tasks["office-jair-t3"].published["CRM"] == 22_000
    (craft,) = built_in["craft"].groups
    assert [*craft.tasks] == [f"craft-{seed}-task10" for seed in range(10)]
    assert {(job.num_steps, job.test_every) for job in craft.cells.values()} == {(2_000_000, None)}


@pytest.mark.parametrize(("number", "steps"), [(1, 15), (2, 29), (3, 29), (4, 30)])
def test_the_office_without_chance_is_worth_what_its_shortest_way_is(number: int, steps: int) -> None:
    task = envs.make(f"office-jair-t{number}")
    assert solve(task, keep_values=False).value == pytest.approx(0.9 ** (steps - 1), rel=1e-12)


@pytest.mark.parametrize("job", _benchmarks(), ids=lambda job: job.task.name)
def test_after_the_horizon_less_than_a_ten_thousandth_of_the_optimum_can_be_earned(job: Job) -> None:
    task = job.task.make()
    value, most = solve(task, keep_values=False).value, task.machine.reward_range.high
    assert task.horizon is not None
    assert task.discount**task.horizon * most <= 1.001e-4 * value
    assert task.discount ** (task.horizon - 1) * most > 0.999e-4 * value


def test_named_learners_play_as_the_file_says_and_others_join_at_their_defaults() -> None:
    changed = load_experiment("office", Changes(["office-map1-exp1"], ["crm", "psrl"], runs=3))
    jobs = changed.jobs()
    assert [(job.learner.title, job.seed[1]) for job in jobs] == [(t, run) for run in range(3) for t in ("psrl", "CRM")]
    assert jobs[1].learner.parameters["initial_value"] == 2.0
    assert jobs[0].learner.parameters == learners.make("psrl").parameters
    assert len(changed.groups[0].tasks) == 17  # the rest of the experiment is still part of it


def test_new_tasks_join_as_a_group_of_their_own() -> None:
    changed = load_experiment("league", Changes(["riverswim-7", "warehouse-3"], ["psrl"], 2, 100))
    assert [(job.task.name, job.learner.title) for job in changed.jobs()] == [
        *[("warehouse-3", "psrl")] * 2,
        *[("riverswim-7", "psrl")] * 2,
    ]
    assert changed.groups[-1].part.claims == []


@pytest.mark.parametrize(
    ("name", "changes"),
    [("leage", Changes()), ("league", Changes(["riverswin-5"])), ("league", Changes(["riverswim-5"], ["uucbvi"]))],
)
def test_unknown_names_are_refused_with_a_hint(name: str, changes: Changes) -> None:
    with pytest.raises(PraemiaError, match=r"unknown .*did you mean"):
        load_experiment(name, changes)
