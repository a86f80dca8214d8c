"""EULER (Zanette and Brunskill 2019), lifted to machines: its bonus shrinks with the gap between two value bounds.

It keeps an upper and a lower value; the recursion is written out in ``praemia.kernels.euler``. Where the original has
V over states and a reward known beforehand, here W over next observations stands for V and the reward φ, which depends
on the next observation through the label, is part of the variance. ℓ = ln(4·S·A·T/ρ) with S = Q·O.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from praemia.kernels.euler import plan_euler
from praemia.learners.base import (
    Experience,
    Learner,
    LearnerPlan,
    bonus_scale_parameter,
    failure_prob_parameter,
    tie_seed,
)
from praemia.learners.ucbvi_prm import first_policy
from praemia.models.task import TaskSpec


@dataclass(frozen=True, kw_only=True)
class EULER(Learner):
    """EULER on the factored model, with upper and lower values."""

    name: ClassVar[str] = "euler"
    summary: ClassVar[str] = "upper and lower values; the bonus shrinks with the gap between them"
    reference: ClassVar[str] = "Zanette and Brunskill 2019, Tighter Problem-Dependent Regret Bounds"
    optimistic: ClassVar[bool] = True

    bonus_scale: float = bonus_scale_parameter(0.01)
    failure_prob: float = failure_prob_parameter()

    def log_term(self, spec: TaskSpec, num_steps: int) -> float:
        """Return ℓ."""
        sizes = spec.num_machine_states * spec.num_observations * spec.num_actions
        return math.log(4.0 * sizes * num_steps / self.failure_prob)

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        spec = experience.spec
        policy = first_policy(spec, rng) if previous is None else previous.policy.copy()
        upper, lower = plan_euler(
            experience.seen,
            spec.table.transition_layers,
            spec.table.mean_rewards,
            policy,
            spec.num_actions,
            self.log_term(spec, experience.num_steps),
            self.bonus_scale,
            tie_seed(rng),
        )
        return LearnerPlan(policy, upper, lower)
