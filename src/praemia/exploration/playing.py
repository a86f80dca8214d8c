"""The three ways in which exploration plays, all through the one loop of ``praemia.simulation.loop``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from praemia.arithmetic import ordered_sum
from praemia.learners.base import Experience, Learner, LearnerPlan
from praemia.learners.euler import EULER
from praemia.simulation.loop import World, run_loop

Progress = Callable[[int], None]


@dataclass(frozen=True, kw_only=True)
class Searcher(EULER):
    """EULER as Algorithm 3 uses it, which also counts the observations in which episodes begin."""

    uses_steps: ClassVar[bool] = True


@dataclass(frozen=True, kw_only=True, eq=False)
class FixedPolicy(Learner):
    """Play a given policy [H, 1, O, A]."""

    name: ClassVar[str] = "given"
    uses_steps: ClassVar[bool] = True

    policy: NDArray[Any] = field(default_factory=lambda: np.empty((0, 0, 0)))

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        return LearnerPlan(self.policy)


def search(world: World, on_progress: Progress) -> tuple[list[NDArray[Any]], NDArray[np.int64]]:
    """Play all episodes; return the policies [H, 1, O] that were played, and for how many episodes each was."""
    policies: list[NDArray[Any]] = []

    def keep_policy() -> bool:
        policies.append(world.shown_policy.copy())
        return True

    total = len(world.log.returns)
    run_loop(world, total, watch=keep_policy, on_progress=on_progress)
    return policies, np.diff(world.log.plans["episode"][: len(policies)], append=total)


def play_given(world: World, policy: NDArray[np.float64], num_episodes: int, on_progress: Progress) -> None:
    """Play a policy [H, 1, O, A] for some more episodes, in a world made for ``FixedPolicy``."""
    world.learner = FixedPolicy(policy=policy)
    world.replan()
    run_loop(world, world.played + num_episodes, on_progress=on_progress)


def play_until_sure(world: World, stop_below: float, on_progress: Progress) -> None:
    """Play until the learner's own V_0 at the start is at most a limit, or all episodes are played."""

    def is_unsure() -> bool:
        first = world.counts.steps[0]
        return world.played == 0 or float(ordered_sum(first * world.workspace().values[0]) / first.sum()) > stop_below

    watch = is_unsure if stop_below > 0.0 else None
    run_loop(world, len(world.log.returns), watch=watch, on_progress=on_progress)


def uniform_at(policy: NDArray[Any], o: int, num_actions: int) -> NDArray[np.float64]:
    """Turn a policy [H, 1, O] into action probabilities [H, 1, O, A], uniform at one observation."""
    weights: NDArray[np.float64] = (policy[..., None] == np.arange(num_actions)).astype(np.float64)
    weights[:, :, o] = 1.0 / num_actions
    return weights
