"""Suites: what they hold, how steps to the optimum are read from a run, and the published test."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from line_walks import arrival, box, walk
from scipy.stats import ttest_ind

from praemia import Run, envs, learners, simulate, solve
from praemia.errors import PraemiaError
from praemia.experiments.experiment_file import load_experiment
from praemia.experiments.requests import as_record, from_record
from praemia.experiments.settings import Job
from praemia.experiments.suites import SUITES, Benchmark, find, suite_experiment
from praemia.simulation.sampled_tests import OptimalityTest, welch
from praemia.statistics.stored_runs import Series
from praemia.statistics.suite_lines import (
    share_curve,
    steps_of_plans,
    steps_to,
    steps_to_learn,
    steps_to_pass,
    steps_to_play,
    suite_lines,
)

OFFICE = SUITES["office"]


def run_with(shares: list[float], *, tests: Any = None) -> Run:
    """Return a run whose i-th plan is worth a share of the optimum .5; an episode takes ten steps, a plan two."""
    count = len(shares)
    return Run(
        task="office-map1-exp1",
        learner="eqo",
        parameters={},
        seed=(0,),
        num_episodes=2 * count,
        optimal_value=0.5,
        plan_episodes=np.arange(count) * 2,
        plan_values=0.5 * np.array(shares),
        optimistic_values=np.ones(count),
        returns=np.zeros(2 * count),
        steps=np.full(2 * count, 10),
        tests=None if tests is None else np.array(tests),
    )


def test_a_share_is_reached_for_good_when_no_later_plan_falls_below_it() -> None:
    run = run_with([0.1, 0.95, 0.8, 0.96, 1.0])
    assert steps_of_plans(run).tolist() == [0, 20, 40, 60, 80]
    assert [steps_to(run, share) for share in (0.05, 0.9, 0.95, 0.99)] == [0.0, 60.0, 60.0, 80.0]
    assert steps_to(run_with([1.0, 0.5]), 0.9) == math.inf


def test_what_is_played_is_near_the_optimum_when_every_later_part_loses_little() -> None:
    """Ten steps an episode, an optimum of .5; a part has two episodes, so one that loses .1 costs a tenth of it."""
    lost = np.zeros(40)
    lost[:5], lost[20] = 0.5, 0.1
    run = replace(run_with([1.0] * 20), path_losses=lost)
    assert steps_to_play(run, 0.89) == 60.0  # the episodes 4 and 5 are the third part
    assert steps_to_play(run, 0.95) == 220.0
    lost[39] = 0.5
    assert steps_to_play(replace(run, path_losses=lost), 0.9) == math.inf


def test_the_published_criterion_is_met_when_a_test_is_passed_for_the_first_time() -> None:
    tests = [[1000, 0.01, 0, 0.45], [2000, math.nan, 0.2, 0.5], [3000, 0.2, 0.1, 0.47], [4000, 0.05, 0.3, 0.5]]
    run = run_with([1.0], tests=tests)
    assert [steps_to_pass(run, learned=learned) for learned in (False, True)] == [3000.0, 2000.0]
    assert steps_to_pass(run_with([1.0], tests=tests[:2])) == math.inf


def test_a_share_is_learned_when_no_later_learned_policy_falls_below_it() -> None:
    tests = [[1000, 0, 0, 0.45], [2000, 0, 0, 0.5], [3000, 0, 0, 0.47], [4000, 0, 0, 0.48]]
    run = run_with([1.0], tests=tests)
    assert [steps_to_learn(run, share) for share in (0.8, 0.92, 0.95, 0.99)] == [1000.0, 2000.0, 4000.0, math.inf]


def test_curves_are_medians_of_what_the_last_plan_is_worth() -> None:
    members = [run_with([0.0, 1.0]), run_with([0.0, 0.5]), run_with([0.2, 0.6])]
    curve = share_curve(Series(tuple(members)), np.array([0.0, 19.0, 20.0, 39.0]))
    np.testing.assert_allclose(curve, [0.0, 0.0, 0.6, 0.6])


def test_a_suite_has_the_budgets_and_thresholds_that_were_published() -> None:
    experiment = suite_experiment(OFFICE)
    budgets = {setting.name: setting.num_steps for setting in experiment.settings}
    assert len(budgets) == 17
    assert budgets["office-map1-exp1"] == 109_640
    assert budgets["office-map3-exp5"] == 147_170
    told = {s.name: s.choices[1].parameters["known_after"] for s in experiment.settings}
    # ⌈39/(1 + M)⌉ with M = 2, 4 and 8 machine states that go on.
    assert [told[f"office-map2-exp{exp}"] for exp in (1, 2, 3, 4, 5)] == [13, 13, 8, 8, 5]
    task = experiment.settings[0].task.make()
    assert (task.horizon, task.discount, task.until_done) == (111, 0.9, True)


def test_suites_without_chance_have_the_length_of_the_published_runs_and_need_no_test() -> None:
    jair, craft = (suite_experiment(SUITES[name]) for name in ("office-jair", "craft"))
    assert [setting.name for setting in jair.settings] == [f"office-jair-t{number}" for number in (1, 2, 3, 4)]
    assert [setting.name for setting in craft.settings] == [f"craft-{seed}-task10" for seed in range(10)]
    assert {(s.num_steps, s.test_every) for s in jair.settings} == {(100_000, None)}
    assert {(s.num_steps, s.test_every) for s in craft.settings} == {(2_000_000, None)}
    crm = jair.settings[2].choices[1]
    assert (crm.title, crm.parameters["learning_rate"], crm.parameters["epsilon"]) == ("CRM", 0.5, 0.1)
    assert SUITES["office-jair"].benchmarks[2].published["CRM"] == 22_000


@pytest.mark.parametrize(("number", "steps"), [(1, 15), (2, 29), (3, 29), (4, 30)])
def test_the_office_without_chance_is_worth_what_its_shortest_way_is(number: int, steps: int) -> None:
    task = SUITES["office-jair"].benchmarks[number - 1].task
    assert solve(envs.make(task), keep_values=False).value == pytest.approx(0.9 ** (steps - 1), rel=1e-12)


@pytest.mark.parametrize("item", [item for suite in SUITES.values() for item in suite.benchmarks], ids=lambda i: i.task)
def test_after_the_horizon_less_than_a_ten_thousandth_of_the_optimum_can_be_earned(item: Benchmark) -> None:
    task = envs.make(item.task).with_horizon(item.horizon)
    value, most = solve(task, keep_values=False).value, task.machine.reward_range.high
    assert 0.9**item.horizon * most <= 1.001e-4 * value
    assert 0.9 ** (item.horizon - 1) * most > 0.999e-4 * value


def test_named_learners_play_as_published_and_others_at_their_defaults() -> None:
    crm, psrl = suite_experiment(OFFICE, ["crm", "psrl"], 3).settings[0].choices
    assert crm.title == "CRM"
    assert crm.parameters["initial_value"] == 2.0
    assert psrl.parameters == learners.parameters_of("psrl")


def test_lines_are_in_the_order_of_the_suite_and_have_the_published_figure() -> None:
    first, second = OFFICE.benchmarks[:2]
    members = [Series((replace(run_with([0.5, 1.0]), task=item.task, title="CRM"),)) for item in (second, first)]
    lines = suite_lines(OFFICE, {series.task: [series] for series in members})
    assert [line.task for line in lines] == [first.task, second.task]
    assert [line.published for line in lines] == [66_693, 129_804]
    assert lines[0].steps == {0.9: [20.0], 0.95: [20.0], 0.99: [20.0]}


# The published test


def test_welchs_test_is_scipys() -> None:
    rng = np.random.default_rng(0)
    for shift in (0.0, 0.3, 2.0):
        first, second = rng.random(100), shift + 2.0 * rng.random(100)
        expected = ttest_ind(first, second, equal_var=False).pvalue
        assert welch(first, second) == pytest.approx(expected, rel=1e-9)
    assert math.isnan(welch(np.zeros(5), np.zeros(5)))


def test_an_optimal_policy_passes_and_one_that_fails_does_not() -> None:
    """An optimal policy has p ≤ .001 once in 1,000 tests: 20 tests at an error level of .02, seeds fixed."""
    task = envs.make("office-map1-exp1").with_horizon(60)
    best = solve(task).policy
    for seed in range(20):
        test = OptimalityTest(task, (seed,))
        assert test.p_value(best) > 0.001
        assert test.p_value(np.zeros_like(best)) < 0.001


@pytest.mark.parametrize("name", ["qr-max", "ucbvi", "crm"])
def test_tests_change_nothing_in_a_run(name: str) -> None:
    task, learner = envs.make("warehouse-3").with_until_done(), learners.make(name)
    plain, tested = (simulate(task, learner, num_steps=3_000, seed=4, test_every=every) for every in (None, 500))
    np.testing.assert_array_equal(plain.returns, tested.returns)
    np.testing.assert_array_equal(plain.plan_values, tested.plan_values)
    assert tested.tests is not None
    assert tested.tests.shape == (6, 4)
    ends = np.cumsum(tested.steps)
    assert set(tested.tests[:, 0]) <= set(ends)
    assert np.all(np.diff(tested.tests[:-1, 0], prepend=0) >= 500)


def test_tests_are_stored_with_a_run_and_part_of_what_was_asked_for(tmp_path: Path) -> None:
    run = simulate(walk(arrival()), learners.make("qr-max"), num_steps=200, test_every=100)
    run.save(tmp_path / "run.npz")
    read = Run.load(tmp_path / "run.npz")
    np.testing.assert_array_equal(read.tests, run.tests)
    assert Job.of(read).test_every == 100
    experiment = suite_experiment(OFFICE, ["crm"], 2)
    (again,) = from_record(as_record([experiment]), "here")
    assert [job.digest for job in again.jobs()] == [job.digest for job in experiment.jobs()]
    untested = [replace(job, test_every=None) for job in experiment.jobs()]
    assert untested[0].digest != experiment.jobs()[0].digest


@pytest.mark.parametrize(
    ("world", "options"),
    [
        (walk(arrival()), {"num_episodes": 5, "test_every": 10}),
        (box(arrival()), {"num_steps": 50, "test_every": 10}),
        (walk(arrival()), {"num_steps": 50, "test_every": 0}),
    ],
    ids=["episodes", "box", "zero"],
)
def test_tests_that_cannot_be_made_are_refused(world: Any, options: dict[str, int]) -> None:
    with pytest.raises(PraemiaError, match="test_every"):
        simulate(world, learners.make("qr-max"), **options)


# Files


def test_a_file_may_ask_for_a_suite(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("suite: office\nlearners: [crm, {learner: psrl, title: mine}]\nruns: 3\nseed: 2\n")
    experiment = load_experiment(file)
    assert experiment.name == "suite-office"
    assert [choice.title for choice in experiment.settings[0].choices] == ["CRM", "mine"]
    assert {(s.num_runs, s.seed) for s in experiment.settings} == {(3, 2)}
    file.write_text("suite: office\n")
    assert load_experiment(file).jobs() == suite_experiment(find("office")).jobs()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("suite: offices\n", "unknown suite 'offices'"),
        ("suite: office\ntasks: [warehouse-3]\n", "found suite beside tasks"),
        ("suite: office\nsteps: 100\n", "found suite beside"),
        ("learners: [eqo]\n", "expected tasks and learners, or a suite"),
        ("tasks: [warehouse-3]\n", "expected tasks and learners, or a suite"),
    ],
)
def test_a_file_that_asks_for_no_suite_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "bad.yaml").write_text(text)
    with pytest.raises(PraemiaError, match=message):
        load_experiment(tmp_path / "bad.yaml")
