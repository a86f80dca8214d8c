"""Learners that change their plan within episodes, at a step's notice: the loop that plays calls their kernel.

Such a learner is a kernel and the memory that it works in. In a task the kernel is compiled into the loop
(``praemia.kernels.play``); in a black box, and wherever plans are asked for one by one, Python calls it.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cache
from typing import Any, ClassVar

import numpy as np

from praemia.errors import PlanError
from praemia.kernels.compiling import compiled
from praemia.kernels.ties import new_stream
from praemia.learners.backward import checked_plan, next_policy
from praemia.learners.base import Learner, LearnerPlan
from praemia.learners.experience import Experience


class StepwiseLearner(Learner):
    """A learner whose plans are made and changed by a kernel.

    Attributes
    ----------
    kernel : a function (memory, counts, stream, policy) → work, which changes policy[H, O, M] (``plan_and_play``).
    """

    uses_recent = True
    kernel: ClassVar[Any]

    @property
    def plans_in_loop(self) -> bool:
        """Whether the kernel needs nothing from Python between two plans; a subclass may override ``plan``."""
        return type(self).plan is StepwiseLearner.plan

    @abstractmethod
    def new_memory(self, experience: Experience) -> Any:
        """Return the arrays that the kernel works in, a NamedTuple with ``values``, V_0 as [O, W]."""

    def updated(self, memory: Any, experience: Experience) -> Any:
        """Return the memory with room for what was counted, and for the labels that are known by now."""
        return memory

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        policy = next_policy(experience, rng)
        if previous is None:
            memory, stream = self.new_memory(experience), new_stream(rng)
        elif isinstance(previous.memory, tuple) and len(previous.memory) == 2:
            memory, stream = self.updated(previous.memory[0], experience), previous.memory[1]
        else:
            raise PlanError(
                f"learner {self.name!r} returned a plan without the memory that its next plan needs; pass on that "
                "of super().plan(): LearnerPlan(policy, plan.values, plan.memory)"
            )
        _called(type(self).kernel)(memory, experience._counts, stream, policy)
        return checked_plan(policy, memory.values.reshape(1, -1), (memory, stream))


@cache
def _called(kernel: Any) -> Any:
    """Return a kernel as Python can call it."""

    @compiled
    def call(memory: Any, counts: Any, stream: Any, policy: Any) -> None:
        kernel(memory, counts, stream, policy)

    return call
