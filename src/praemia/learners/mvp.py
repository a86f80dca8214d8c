"""MVP, monotonic value propagation (Zhang, Ji and Du 2021; Zhang, Chen, Lee and Du 2024), lifted to machines.

With Y = φ + W, for visited pairs (the others have Q = H):

    Q_h = min{H, Σ p̂ Y + γ·(c₁·√(Var_p̂(Y)·ℓ/n) + c₃·Hℓ/n)},      V_h = max_a Q_h,
    c₁ = 460/9,   c₃ = 544/9,   ℓ = ln(200·OA·H²K²/ρ).

"Monotonic" is said of the right-hand side, which rises with V at these constants; Q may rise from plan to plan.
c₁, c₃ and ℓ agree with the implementation released by Drago, Mussi and Metelli (2025).

Differences: pairs are (o, a) and not product states; the reward is known given o', so it is part of Y, and the term c₂
for the reward's own variance is 0; p̂ is that of all visits up to the plan, as in 2021, while the version of 2024 uses
those since the pair's last doubling only, and refreshes a pair only when its own count doubles.

The default is the largest of the coefficients 1e-6, 3e-6, …, 1e-3 whose geometric mean regret in warehouse-3 and
riverswim-10 is within a quarter of the best one's: the smallest have the odd run that never recovers (8 to 24 runs,
seeds of the tuning stream).
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
from praemia.learners.bonus import bonus_plan
from praemia.models.task import TaskSpec

C1, C3 = 460.0 / 9.0, 544.0 / 9.0


@dataclass(frozen=True, kw_only=True)
class MVP(Learner):
    """Monotonic value propagation."""

    name: ClassVar[str] = "mvp"
    summary: ClassVar[str] = "value iteration with a monotone Bernstein bonus, plans at doubled counts"
    reference: ClassVar[str] = "Zhang, Chen, Lee and Du 2024, Settling the Sample Complexity of Online RL"
    optimistic: ClassVar[bool] = True

    bonus_scale: float = bonus_scale_parameter(0.00001)
    failure_prob: float = failure_prob_parameter()

    def log_term(self, spec: TaskSpec, num_episodes: int) -> float:
        """Return ℓ."""
        sizes = spec.num_observations * spec.num_actions * (spec.horizon * num_episodes) ** 2
        return math.log(200.0 * sizes / self.failure_prob)

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        spec, visits = experience.spec, experience.seen.visits
        log_term = self.log_term(spec, experience.num_episodes)
        return bonus_plan(
            experience,
            previous,
            rng,
            per_deviation=self.bonus_scale * C1 * np.sqrt(log_term / visits),
            flat=self.bonus_scale * C3 * spec.horizon * log_term / visits,
            caps=np.full(spec.horizon, float(spec.horizon)),
        )
