"""Small learners as text, for the tests of learners from outside."""

from __future__ import annotations

HEAD = """
from typing import ClassVar

import numpy as np

from praemia import Learner, LearnerPlan, plan_with_bonus
from praemia.learners import parameter

"""

# Takes the action that was tried least often in each observation.
LEAST_TRIED = """
class LeastTried(Learner):
    name: ClassVar[str] = "least-tried"
    prior: float = parameter(1.0, "visits that every pair is taken to have had", 0.0)

    def plan(self, experience, previous, rng):
        spec = experience.spec
        least = (experience.visits + self.prior).argmin(axis=1)
        return LearnerPlan(np.tile(least, (spec.horizon, spec.num_machine_states, 1)))
"""

DIVIDES = """
class Divides(Learner):
    name: ClassVar[str] = "divides"

    def plan(self, experience, previous, rng):
        return 1 // 0
"""
DIVIDES_LINE = (HEAD + LEAST_TRIED + DIVIDES).splitlines().index("        return 1 // 0") + 1

OUT_OF_RANGE = """
class OutOfRange(Learner):
    name: ClassVar[str] = "out-of-range"

    def plan(self, experience, previous, rng):
        spec = experience.spec
        return LearnerPlan(np.full((spec.horizon, spec.num_machine_states, spec.num_observations), 99))
"""

# A bonus with a constant of its module.
BONUS = """
SCALE = 0.5


class PerVisit(Learner):
    def plan(self, experience, previous, rng):
        return plan_with_bonus(experience, SCALE / np.maximum(1, experience.visits), rng=rng)
"""

ALL = HEAD + LEAST_TRIED + DIVIDES + OUT_OF_RANGE + BONUS
