"""The practical explorer: act greedily for what is not yet known (Ménard et al. 2021).

The recursion is written out in ``praemia.kernels.uncertainty``, with ℓ = ln(O·A·H·K/ρ). The theory's constant c is 15
or so and makes every pair look unknown for thousands of visits; the default here is a practical one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from praemia.kernels.uncertainty import plan_uncertainty
from praemia.learners.base import Experience, Learner, LearnerPlan, failure_prob_parameter, parameter, tie_seed
from praemia.learners.euler import EULER
from praemia.learners.ucbvi_prm import first_policy


@dataclass(frozen=True, kw_only=True)
class UncertaintyExplorer(Learner):
    """Go where the model is least certain. Its machine has one state; rewards are not looked at."""

    name: ClassVar[str] = "uncertainty"
    summary: ClassVar[str] = "goes where the estimate is least certain; looks at no reward"
    reference: ClassVar[str] = "Ménard et al. 2021, Fast active learning for pure exploration"
    uses_steps: ClassVar[bool] = True  # the first row counts where episodes begin

    scale: float = parameter(0.01, "c: multiplies H²ℓ/n; the theory's is about 15", 0.0)
    failure_prob: float = failure_prob_parameter()

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        spec = experience.spec
        policy = first_policy(spec, rng) if previous is None else previous.policy.copy()
        sizes = spec.num_observations * spec.num_actions * experience.num_steps
        width = self.scale * spec.horizon**2 * math.log(sizes / self.failure_prob)
        values = plan_uncertainty(experience.seen, policy, spec.num_actions, width, tie_seed(rng))
        return LearnerPlan(policy, values[:, None])


@dataclass(frozen=True, kw_only=True)
class Searcher(EULER):
    """EULER as Algorithm 3 uses it, with the observations counted in which its episodes begin."""

    uses_steps: ClassVar[bool] = True
