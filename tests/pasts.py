"""What a learner is shown after some random episodes, counted twice: by the package, and by hand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import learner_oracles as oracles
import numpy as np
import pytest

from praemia import simulate
from praemia.kernels.counts import EPISODES, TRANSITIONS
from praemia.kernels.records import padded_width
from praemia.learners.base import LearnerPlan
from praemia.learners.experience import Experience
from praemia.tasks.task import Task

CLOSE = 1e-12


@dataclass
class Past:
    """A task, what a learner is shown of some random episodes, and the same counted by hand."""

    task: Task
    shown: Experience
    diary: oracles.Diary

    def times(self, factor: int) -> Past:
        """Return the past in which everything happened so many times."""
        counts = self.shown._counts
        more = counts._replace(
            visits=counts.visits * factor,
            transitions=counts.transitions.copy(),
            step_visits=(counts.step_visits * factor).astype(np.int32),
            totals=counts.totals.copy(),
        )
        more.transitions["count"] *= factor
        more.totals[EPISODES] *= factor
        shown = replace(
            self.shown,
            _counts=more,
            num_episodes=self.shown.num_episodes * factor,
            episodes_played=self.shown.episodes_played * factor,
        )
        return Past(self.task, shown, self.diary.times(factor))

    def told_the_truth(self) -> Past:
        """Return the past in which the frequencies are the probabilities; every pair must have been visited."""
        counts, dense = self.shown._counts, self.task.mdp.to_dense()
        assert np.all(counts.visits > 0)
        transitions = counts.transitions.copy()
        for seen in transitions[: counts.totals[TRANSITIONS]]:
            seen["count"] = (
                counts.visits[seen["pair"]] * dense[divmod(seen["pair"], self.task.num_actions)][seen["target"]]
            )
        return replace(self, shown=replace(self.shown, _counts=counts._replace(transitions=transitions)))


def pasts(task: Task, learner: Any, seed: int, lengths: list[int]) -> list[Past]:
    """Let a wanderer play in a learner's place and return the past after each of some numbers of episodes."""
    wanderer = oracles.Watched(oracles.Wanderer.instead_of(learner))
    simulate(task, wanderer, max(lengths) + 1, seed)
    return [
        Past(task, wanderer.shown[k], oracles.replay(task, wanderer.policies, "episode", (seed,), k)) for k in lengths
    ]


def plan(learner: Any, past: Past, previous: LearnerPlan | None = None) -> LearnerPlan:
    """Have a learner plan from a past, as its first plan unless there is a previous one."""
    shown = past.shown if previous is not None else replace(past.shown, _policy=None)
    return learner.plan(shown, previous, np.random.default_rng(0))


def shown_values(task: Task, made: LearnerPlan) -> Any:
    """Return a plan's values as [M, O], also one's on the product."""
    assert made.values is not None
    if made.values.shape[0] == task.num_machine_states:
        return made.values
    return made.values[0].reshape(task.num_observations, task.num_machine_states).T


def assert_same(task: Task, made: LearnerPlan, qval: oracles.Values, values: oracles.Values) -> None:
    """Compare V_0, and see that the policy is greedy at every step."""
    first, policy = shown_values(task, made), oracles.shown_policy(task, made.policy)
    for m, o in np.ndindex(first.shape):
        assert first[m, o] == pytest.approx(values[0, m, o], rel=0.0, abs=CLOSE)
        for h in range(task.horizon):
            assert qval[h, m, o, int(policy[h, m, o])] >= values[h, m, o] - CLOSE


def assert_same_action_values(past: Past, made: LearnerPlan, qval: oracles.Values, on_product: bool) -> None:
    """Compare the Q_h that a plan keeps with the formula's, for every visited pair."""
    task, kept = past.task, made.memory
    width = padded_width(1 if on_product else task.num_machine_states)
    for (h, m, o, a), value in qval.items():
        state, column = (o * task.num_machine_states + m, 0) if on_product else (o, m)
        slot = past.shown._counts.slots[state * task.num_actions + a]
        if slot >= 0:
            assert kept[h, slot * width + column] == pytest.approx(value, rel=0.0, abs=CLOSE)
