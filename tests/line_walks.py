"""A line of places to walk along, as a task and as a black box, and learners that walk it."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from places import Places

import praemia
from praemia import BlackBox, LabeledMDP, LabelRule, MachineBuilder, RewardMachine, Task

LAST, HORIZON = 3, 8


class Rightwards(praemia.Learner):
    """Always take action 1; note how many visits there were at each plan."""

    name: ClassVar[str] = "rightwards"
    uses_recent: ClassVar[bool] = True
    uses_steps: ClassVar[bool] = True
    notes: ClassVar[list[Any]] = []

    def plan(self, experience: Any, previous: Any, rng: Any) -> praemia.LearnerPlan:
        length = 0 if experience.recent is None else len(experience.recent.steps)
        self.notes.append((int(experience.visits.sum()), length, experience.step_visits.sum(axis=1).tolist()))
        spec = experience.spec
        return praemia.LearnerPlan(np.ones((spec.horizon, spec.num_machine_states, spec.num_observations), dtype=int))


class RightwardsOnProduct(Rightwards):
    """The same of product states."""

    sees: ClassVar[str] = "product"


def walk(machine: RewardMachine) -> Task:
    """Return a line of four places, walked by action 1, of which the last is labelled."""
    rows = {(o, a): {min(o + a, LAST): 1.0} for o in range(LAST + 1) for a in range(2)}
    mdp = LabeledMDP.from_rows(LAST + 1, 2, rows, labels=[LabelRule("last", target=LAST)], start=0)
    return Task(mdp, machine, HORIZON, "walk", until_done=True)


def arrival(reward: float = 1.0, *, still: float = 0.0, moving: float = 0.0) -> RewardMachine:
    """Return a machine that pays for arriving, and so much for each step before and after it."""
    builder = MachineBuilder("going", propositions=("last",)).edge("going", "last", "there", reward=reward)
    builder = builder.edge("going", "!last", "going", reward=moving)
    return builder.edge("there", "true", "there", reward=still).build()


class Line(Places):
    """The same line as a black box."""

    def __init__(self) -> None:
        super().__init__(LAST + 1, lambda place, action, rng: min(place + action, LAST))


def box(machine: RewardMachine, *, until_done: bool = True) -> BlackBox:
    return BlackBox(Line(), lambda o, a, z, i: {"last"} if z == LAST else (), machine, HORIZON, until_done=until_done)
