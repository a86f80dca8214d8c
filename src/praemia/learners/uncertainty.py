"""The uncertainty explorer (Ménard et al. 2021): act greedily for what is not yet known, without any reward.

With n = N(o, a), ℓ = ln(O·A·H·K/ρ) and w = c·H²·ℓ, for visited pairs:

    E_h(o, a) = min(H, w/n + (1 + 1/H)·Σ p̂(o'|o, a)·max_a' E_{h+1}(o', a')),   E_H = 0,

and E_h = H for the others. No reward appears in it.

**E is a guide to exploring and no bound on an error.** RF-Express, which this follows, has β(n) = ln(3·OAH/ρ) +
O·ln(8e(n + 1)) in place of ℓ, with c = 15, and stops when 3e·√E_0 + E_0 ≤ ε/2. Its w is larger than ours by a
factor of the order of O even at c = 15, and makes every pair look unknown for thousands of visits. So a small
E_0 promises nothing; certificates do, and they do not use E.

Further differences: RF-Express counts (h, s, a) for kernels that differ from step to step, and plans before every
episode; here p does not depend on h, and plans are made when a count doubles.
"""

from __future__ import annotations

import numpy as np

from praemia._support.arithmetic import portable_log
from praemia.learners.backward import plan_with_bonus
from praemia.learners.base import Learner, LearnerPlan, failure_prob_parameter, parameter
from praemia.learners.experience import Experience


class UncertaintyExplorer(Learner):
    """Go where the estimate is least certain."""

    name = "uncertainty"
    summary = "goes where the estimate is least certain; looks at no reward"
    reference = "Ménard et al. 2021, Fast active learning for pure exploration"

    scale: float = parameter(0.01, "c: multiplies H²ℓ/n; a practical value, with which E bounds no error", 0.0)
    failure_prob: float = failure_prob_parameter()

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        spec, n = experience.spec, np.maximum(1.0, experience.visits)
        sizes = spec.num_observations * spec.num_actions * experience.num_steps
        width = self.scale * spec.value_caps[0] ** 2 * portable_log(sizes / self.failure_prob)
        return plan_with_bonus(experience, width / n, growth=1.0 + 1.0 / spec.horizon, cap="horizon", rng=rng)
