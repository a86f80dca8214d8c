"""MVP, monotonic value propagation (Zhang, Ji and Du 2021; Zhang, Chen, Lee and Du 2024), for reward machines.

With Y = φ + W and κ = ``bonus_scale``, for visited pairs (the others have Q = H):

    Q_h = min{H, Σ p̂ Y + κ·(c₁·√(Var_p̂(Y)·ℓ/n) + c₃·Hℓ/n)},      V_h = max_a Q_h,
    c₁ = 460/9,   c₃ = 544/9,   ℓ = ln(200·OA·H²K²/ρ).

It is optimistic at κ = 1 (docs/concepts/theory.md); Q may rise from plan to plan.

Differences: pairs are (o, a) and not product states; the reward is known given o', so it is part of Y, and the term c₂
for the reward's own variance is 0; p̂ is that of all visits up to the plan, as in 2021, while the version of 2024 uses
those since the pair's last doubling only, and refreshes a pair only when its own count doubles; that version's kernels
differ from step to step, so it counts (h, s, a).
"""

from __future__ import annotations

import numpy as np

from praemia._support.arithmetic import portable_log
from praemia.learners.backward import plan_with_bonus
from praemia.learners.base import Learner, LearnerPlan, bonus_scale_parameter, failure_prob_parameter
from praemia.learners.experience import Experience
from praemia.tasks.spec import TaskSpec

C1, C3 = 460.0 / 9.0, 544.0 / 9.0


class MVP(Learner):
    """Monotonic value propagation.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.make("warehouse-3")
    >>> run = praemia.simulate(task, praemia.MVP(bonus_scale=1), num_episodes=100, seed=0)
    >>> bool(run.optimistic_values.min() >= run.optimal_value)  # its values are never below the optimum
    True
    """

    summary = "value iteration with a Bernstein bonus; plans when counts double"
    reference = "Zhang, Chen, Lee and Du 2024, Settling the Sample Complexity of Online RL"
    optimistic = True
    has_estimate = True

    bonus_scale: float = bonus_scale_parameter(0.00001)
    failure_prob: float = failure_prob_parameter()

    def log_term(self, spec: TaskSpec, num_episodes: int) -> float:
        """Return ℓ."""
        sizes = spec.num_observations * spec.num_actions * (spec.horizon * num_episodes) ** 2
        return portable_log(200.0 * sizes / self.failure_prob)

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        spec, n = experience.spec, np.maximum(1.0, experience.visits)
        log_term = self.log_term(spec, experience.num_episodes)
        return plan_with_bonus(
            experience,
            self.bonus_scale * C3 * spec.value_caps[0] * log_term / n,
            deviation_scale=self.bonus_scale * C1 * np.sqrt(log_term / n),
            cap="horizon",
            rng=rng,
        )
