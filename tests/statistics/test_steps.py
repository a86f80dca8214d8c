"""How steps to the optimum are read from a run."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from praemia import Run
from praemia.statistics.series import Series
from praemia.statistics.steps import share_curve, steps_to, steps_to_learn, steps_to_pass, steps_to_play


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
    assert math.isnan(steps_to_pass(run_with([1.0])))


def test_a_share_is_learned_when_no_later_learned_policy_falls_below_it() -> None:
    tests = [[1000, 0, 0, 0.45], [2000, 0, 0, 0.5], [3000, 0, 0, 0.47], [4000, 0, 0, 0.48]]
    run = run_with([1.0], tests=tests)
    assert [steps_to_learn(run, share) for share in (0.8, 0.92, 0.95, 0.99)] == [1000.0, 2000.0, 4000.0, math.inf]


def test_curves_are_medians_of_what_the_last_plan_is_worth() -> None:
    members = [run_with([0.0, 1.0]), run_with([0.0, 0.5]), run_with([0.2, 0.6])]
    curve = share_curve(Series.of(members), np.array([0.0, 19.0, 20.0, 39.0]))
    np.testing.assert_allclose(curve, [0.0, 0.0, 0.6, 0.6])
