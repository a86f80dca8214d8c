"""Small learners as text, for the tests of learners from outside."""

from __future__ import annotations

HEAD = """
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from praemia import Learner, LearnerPlan
from praemia.learners import BonusLearner, parameter

"""

# Takes the action that was tried least often in each observation.
LEAST_TRIED = """
@dataclass(frozen=True, kw_only=True)
class LeastTried(Learner):
    name: ClassVar[str] = "least-tried"
    prior: float = parameter(1.0, "visits that every pair is taken to have had", 0.0)

    def plan(self, experience, previous, rng):
        spec = experience.spec
        least = (experience.visits + self.prior).argmin(axis=1)
        return LearnerPlan(np.tile(least, (spec.horizon, spec.num_machine_states, 1)))
"""

DIVIDES = """
@dataclass(frozen=True, kw_only=True)
class Divides(Learner):
    name: ClassVar[str] = "divides"

    def plan(self, experience, previous, rng):
        return 1 // 0
"""
DIVIDES_LINE = (HEAD + LEAST_TRIED + DIVIDES).splitlines().index("        return 1 // 0") + 1

OUT_OF_RANGE = """
@dataclass(frozen=True, kw_only=True)
class OutOfRange(Learner):
    name: ClassVar[str] = "out-of-range"

    def plan(self, experience, previous, rng):
        spec = experience.spec
        return LearnerPlan(np.full((spec.horizon, spec.num_machine_states, spec.num_observations), 99))
"""

# Compiled into the recursion, with a constant of its module.
BONUS = """
SCALE = 0.5


@dataclass(frozen=True, kw_only=True)
class PerVisit(BonusLearner):
    name: ClassVar[str] = "per-visit"

    @staticmethod
    def pair_numbers(visits, visits_of_state, constants):
        return (SCALE / visits,)

    @staticmethod
    def worth(mean, deviation, pair):
        return mean + pair.numbers[0]
"""

ALL = HEAD + LEAST_TRIED + DIVIDES + OUT_OF_RANGE + BONUS
