"""UCBVI on the cross product (Azar et al. 2017, Bernstein form): what one gets without using the machine.

It counts product states s = (m, o) and their successors, with S = Q·O and L = ln(5·S·A·T/ρ):

    b = √(8L·Var_P̂(V)/N) + 14HL/(3N) + √(8·Σ P̂(s')·min(100²H³S²AL²/N'_{h+1}(s'), H²)/N).

The reward of a transition that was seen is known (ν̄), so there is no bonus for rewards.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from praemia.learners.base import (
    Experience,
    Learner,
    LearnerPlan,
    bonus_scale_parameter,
    failure_prob_parameter,
)
from praemia.learners.ucbvi_prm import optimistic_plan
from praemia.models.task import TaskSpec


@dataclass(frozen=True, kw_only=True)
class UCBVI(Learner):
    """UCBVI on the cross product of the environment and the machine."""

    name: ClassVar[str] = "ucbvi"
    summary: ClassVar[str] = "the same value iteration on the cross product, blind to the machine"
    reference: ClassVar[str] = "Azar, Osband and Munos 2017, Minimax Regret Bounds for RL"
    on_product: ClassVar[bool] = True
    uses_steps: ClassVar[bool] = True
    optimistic: ClassVar[bool] = True

    bonus_scale: float = bonus_scale_parameter(0.001)
    failure_prob: float = failure_prob_parameter()

    def log_term(self, spec: TaskSpec, num_steps: int) -> float:
        """Return L; the spec is that of the product, whose observations are the product states."""
        return math.log(5.0 * spec.num_observations * spec.num_actions * num_steps / self.failure_prob)

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        iota = self.log_term(experience.spec, experience.num_steps)
        return optimistic_plan(experience, previous, rng, iota, self.bonus_scale, reward_bonus=False)
