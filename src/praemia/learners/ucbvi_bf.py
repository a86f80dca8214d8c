"""UCBVI with refined constants (Drago, Mussi and Metelli 2025, variant BF-I), for reward machines.

With Y = φ + W, R = H − h (steps h from 0), L = ln(5·OA·T/ρ) and κ = ``bonus_scale``, for visited pairs (the others have
Q = R):

    b = √(4L·Var_p̂(Y)/n) + 7RL/(3·max(1, n − 1)) + √(4·Σ p̂(o')·min(84²H³O²AL²/N'_{h+1}(o'), R²)/n)
    Q_h = min{Q_h of the previous plan, R, Σ p̂ Y + κ·b},      V_h = max_a Q_h.

Differences: pairs are (o, a) and not product states; L includes no union bound over steps and machine states, so
optimism at κ = 1 has probability 1 − HMρ (docs/concepts/theory.md explains the last term); the reward is known given
o', so it is part of Y, whose range is R (the paper's, with rewards known beforehand, is that of V_{h+1} alone); N' = 0
counts as R²; plans are made when a count doubles.
"""

from __future__ import annotations

import numpy as np

from praemia._support.arithmetic import portable_log
from praemia.learners.backward import plan_with_bonus
from praemia.learners.base import Learner, LearnerPlan, bonus_scale_parameter, failure_prob_parameter
from praemia.learners.experience import Experience
from praemia.learners.ucbvi import later_visits
from praemia.tasks.spec import TaskSpec


class UCBVIBF(Learner):
    """UCBVI with the refined Bernstein–Freedman bonus, on the factored model.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.make("warehouse-3")
    >>> run = praemia.simulate(task, praemia.UCBVIBF(bonus_scale=1), num_episodes=100, seed=0)
    >>> bool(run.optimistic_values.min() >= run.optimal_value)  # its values are never below the optimum
    True
    """

    name = "ucbvi-bf"
    summary = "value iteration, Bernstein bonus with smaller constants (2025)"
    reference = "Drago, Mussi and Metelli 2025, A Refined Analysis of UCBVI"
    optimistic = True
    has_estimate = True
    uses_steps = True

    bonus_scale: float = bonus_scale_parameter(0.005)
    failure_prob: float = failure_prob_parameter()

    def log_term(self, spec: TaskSpec, num_steps: int) -> float:
        """Return L."""
        return portable_log(5.0 * spec.num_observations * spec.num_actions * num_steps / self.failure_prob)

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        spec, n = experience.spec, np.maximum(1.0, experience.visits)
        log_term, left = self.log_term(spec, experience.num_steps), spec.value_caps[:-1, None, None, None]
        cost = 84.0**2 * spec.horizon**3 * spec.num_observations**2 * spec.num_actions * (log_term * log_term)
        bonus = 7 / 3 * left * log_term / np.maximum(1.0, n - 1.0)
        bonus = bonus + np.sqrt(4 * later_visits(experience, cost, left * left)) / n
        return plan_with_bonus(
            experience,
            self.bonus_scale * bonus,
            deviation_scale=self.bonus_scale * np.sqrt(4 * log_term / n),
            monotone_with=previous,
            rng=rng,
        )
