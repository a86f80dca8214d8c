"""Baselines that do not learn: acting at random, and playing the optimum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from praemia.learners.base import Experience, Learner, LearnerPlan
from praemia.planning.exact import solve


@dataclass(frozen=True, kw_only=True)
class Random(Learner):
    """Act uniformly at random.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.make("warehouse-3")
    >>> run = praemia.simulate(task, praemia.Random(), num_episodes=100, seed=0)
    >>> bool(run.plan_values.max() - run.plan_values.min() < 1e-12)  # it learns nothing
    True
    """

    name: ClassVar[str] = "random"
    summary: ClassVar[str] = "acts uniformly at random: the regret of learning nothing"
    reference: ClassVar[str] = "—"

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        if previous is not None:
            return previous
        spec = experience.spec
        shape = (spec.horizon, spec.num_machine_states, spec.num_observations, spec.num_actions)
        return LearnerPlan(np.full(shape, 1.0 / spec.num_actions))


@dataclass(frozen=True, kw_only=True)
class Optimal(Learner):
    """Play the optimal policy of the true task, which it is told: its regret is 0.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.make("warehouse-3")
    >>> run = praemia.simulate(task, praemia.Optimal(), num_episodes=100, seed=0)
    >>> bool(abs(run.regret[-1]) < 1e-9)
    True
    """

    name: ClassVar[str] = "optimal"
    summary: ClassVar[str] = "is told the task and plays its optimal policy: regret 0"
    reference: ClassVar[str] = "—"
    privileged: ClassVar[bool] = True

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        if previous is not None:
            return previous
        assert experience.truth is not None
        plan = solve(experience.truth, keep_values=False)
        return LearnerPlan(plan.policy, plan.values[0])
