"""Runs of a task in which nothing can go wrong unnoticed: several starts, labels, successors and machine moves."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import oracles
import pytest
from learner_oracles import Watched, replay, shown_policy
from strategies import full_task

from praemia import Learner, LearnerPlan, Run, learners, simulate
from praemia.learners.replanning import BETWEEN_EPISODES
from praemia.tasks.task import Task

ARRAYS = ("plan_episodes", "plan_values", "optimistic_values", "returns", "final_policy")


def assert_replayed(task: Task, watched: Watched, run: Run, rule: str) -> None:
    """Compare a run with a plain replay of its policies, and each plan's value with a plain evaluation."""
    diary = replay(task, watched.policies, rule, run.seed, run.num_episodes)
    assert run.returns.tolist() == pytest.approx(diary.returns, abs=1e-12)
    assert run.plan_episodes.tolist() == diary.plan_episodes
    for policy, value in zip(watched.policies, run.plan_values, strict=True):
        values = oracles.evaluate(task, shown_policy(task, policy))[0]
        expected = sum(p * values[start] for start, p in oracles.start(task).items())
        assert value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("rule", BETWEEN_EPISODES)
@pytest.mark.parametrize("name", ["ucbvi-prm", "ucbvi", "headroom"])
def test_a_run_is_its_plain_replay_and_the_same_in_one_compiled_loop(name: str, rule: str) -> None:
    task, learner = full_task(5), learners.make(name, replan=rule)
    watched = Watched(learner)
    run, alone = simulate(task, watched, 40, (5,)), simulate(task, learner, 40, (5,))
    assert run.num_plans > 5
    assert_replayed(task, watched, run, rule)
    for array in ARRAYS:
        assert getattr(run, array).tobytes() == getattr(alone, array).tobytes(), array


class Wavering(Learner):
    """Draw the probabilities of actions anew for every plan."""

    name: ClassVar[str] = "wavering"

    def plan(self, experience: Any, previous: Any, rng: np.random.Generator) -> LearnerPlan:
        spec = experience.spec
        shape = (spec.horizon, spec.num_machine_states, spec.num_observations)
        return LearnerPlan(rng.dirichlet(np.ones(spec.num_actions), size=shape))


@pytest.mark.parametrize("rule", BETWEEN_EPISODES)
def test_policies_that_draw_their_actions_are_replayed_and_valued_too(rule: str) -> None:
    task, watched = full_task(5), Watched(Wavering(replan=rule))
    assert_replayed(task, watched, simulate(task, watched, 40, (5,)), rule)


def test_no_plan_is_lost_however_many_there_are() -> None:
    task, learner = full_task(3, horizon=1), learners.make("ucbvi-prm", replan="episode")
    watched = Watched(learner)
    run, alone = simulate(task, watched, 300, (5,)), simulate(task, learner, 300, (5,))
    assert run.plan_episodes.tolist() == alone.plan_episodes.tolist() == list(range(300))
    assert_replayed(task, watched, run, "episode")
    assert run.plan_values.tobytes() == alone.plan_values.tobytes()
