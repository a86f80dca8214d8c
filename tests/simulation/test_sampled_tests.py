"""The sampled test of optimality: Welch's, and that it changes nothing in a run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from line_walks import arrival, box, walk

from praemia import envs, learners, simulate, solve
from praemia.errors import PraemiaError
from praemia.experiments.jobs import Job
from praemia.simulation.sampled_tests import OptimalityTest


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


def test_tests_are_part_of_what_was_asked_for() -> None:
    run = simulate(walk(arrival()), learners.make("qr-max"), num_steps=200, test_every=100)
    assert Job.of(run).test_every == 100
    assert replace(Job.of(run), test_every=None).digest != Job.of(run).digest


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
