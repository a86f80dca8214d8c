"""EQO (Lee and Oh 2025) for reward machines: the bonus is c/n, without a variance.

With Y = φ + W and κ = ``bonus_scale``, for visited pairs (the others have Q = H):

    Q_h = min{H, Σ p̂ Y + κ·c/n},      V_h = max_a Q_h,      c = 7Hℓ/λ,      λ = min{1, 5·√(OAℓ·ln(KH)/K)},

ℓ = ln(12·OA·KH/ρ). The values are "quasi-optimistic": above the optimum less a multiple of λH, not above the optimum
itself, so EQO does not count as optimistic here. c grows like √K, so EQO must know K. The form c/n is the paper's; the
constants in c and λ were not checked against a source. The paper's experiments tune c as a single number, as
``bonus_scale`` does here.

Differences: pairs are (o, a) and not product states; W takes the place of V, and the reward, known given o', is
averaged along with it; plans are made when a count doubles (in the paper, before every episode).
"""

from __future__ import annotations

import math

import numpy as np

from praemia._support.arithmetic import portable_log
from praemia.learners.backward import plan_with_bonus
from praemia.learners.base import Learner, LearnerPlan, bonus_scale_parameter, failure_prob_parameter
from praemia.learners.experience import Experience
from praemia.tasks.spec import TaskSpec


class EQO(Learner):
    """Exploration via quasi-optimism.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.make("warehouse-3")
    >>> run = praemia.simulate(task, praemia.EQO(bonus_scale=0.001), num_episodes=100, seed=0)
    >>> run.learner, len(run.regret)
    ('eqo', 100)
    """

    summary = "value iteration with the bonus c/n: no variance, no square root"
    reference = "Lee and Oh 2025, Minimax Optimal Reinforcement Learning with Quasi-Optimism"
    has_estimate = True

    bonus_scale: float = bonus_scale_parameter(0.0001)
    failure_prob: float = failure_prob_parameter()

    def coefficient(self, spec: TaskSpec, num_episodes: int) -> float:
        """Return the theory's c."""
        pairs, num_steps = spec.num_observations * spec.num_actions, num_episodes * spec.horizon
        log_term = portable_log(12.0 * pairs * num_steps / self.failure_prob)
        slack = min(1.0, 5.0 * math.sqrt(pairs * log_term * portable_log(max(num_steps, 2)) / num_episodes))
        return 7.0 * float(spec.value_caps[0]) * log_term / slack

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        coefficient = self.coefficient(experience.spec, experience.num_episodes)
        bonus = self.bonus_scale * coefficient / np.maximum(1.0, experience.visits)
        return plan_with_bonus(experience, bonus, cap="horizon", rng=rng)
