"""A whole run of UCBVI-PRM against a plain transcription of the algorithm that meets the same chances."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import plain_ucbvi_prm as plain
import pytest

from praemia import envs, learners, simulate
from praemia.learners.base import Experience, LearnerPlan
from praemia.learners.ucbvi import UCBVIPRM

CLOSE = 1e-9


def watched(plans: list[LearnerPlan], **parameters: object) -> UCBVIPRM:
    """Return a UCBVI-PRM that adds each of its plans to a list."""

    class Watched(UCBVIPRM):
        def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
            made = super().plan(experience, previous, rng)
            plans.append(replace(made, policy=made.policy.copy()))
            return made

    return Watched(**parameters)


@pytest.mark.parametrize("replan", ["doubling", "episode"])
@pytest.mark.parametrize(("name", "num_episodes"), [("riverswim-5", 30), ("riverswim-prm-5", 30), ("warehouse-3", 20)])
def test_a_run_plans_when_and_what_the_plain_algorithm_does(name: str, num_episodes: int, replan: str) -> None:
    task = envs.make(name)
    plans: list[LearnerPlan] = []
    run = simulate(task, watched(plans, bonus_scale=0.01, replan=replan), num_episodes, 3)
    policies = [made.policy.transpose(0, 2, 1) for made in plans]
    again = plain.run(task, num_episodes, 3, scale=0.01, replan=replan, follow=policies)
    assert again.plan_episodes == run.plan_episodes.tolist()
    assert again.returns == pytest.approx(run.returns.tolist(), abs=CLOSE)
    for made, policy, values, qval in zip(plans, policies, again.values, again.action_values, strict=True):
        np.testing.assert_allclose(made.values.T, values, rtol=0.0, atol=CLOSE)
        chosen = np.take_along_axis(np.array(qval), policy[..., None].astype(np.int64), axis=-1)[..., 0]
        assert chosen == pytest.approx(np.max(qval, axis=-1), abs=CLOSE)


def test_a_plain_run_on_its_own_learns_as_much_as_a_run() -> None:
    """Ties are drawn differently, so the runs differ; 20 of each have mean returns within 5 standard errors."""
    task, learner = envs.make("riverswim-5"), learners.make("ucbvi-prm")
    ours = [simulate(task, learner, 40, seed).returns.mean() for seed in range(20)]
    theirs = [float(np.mean(plain.run(task, 40, seed).returns)) for seed in range(20)]
    error = np.sqrt((np.var(ours) + np.var(theirs)) / 20)
    assert abs(np.mean(ours) - np.mean(theirs)) < 5 * error
