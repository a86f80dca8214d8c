"""How exploration plays: sessions, and the learners that play in them, all through the one loop of the simulation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from praemia.arithmetic import ordered_sum
from praemia.exploration.environments import Environment
from praemia.exploration.merging import Counted
from praemia.learners.base import Experience, Learner, LearnerPlan
from praemia.learners.euler import EULER
from praemia.simulation.loop import World, run_loop
from praemia.simulation.run import Seed, seed_key

OnProgress: TypeAlias = Callable[[int, int], None]  # episodes played so far, and in total


class Session:
    """One exploration: the environment, N, the seed, and what was counted so far.

    Attributes
    ----------
    total : all episodes that will be played, those of a search included.
    searched : what was counted in the worlds of a search; keeps_search : whether that is data too.
    """

    def __init__(
        self, environment: Environment, episodes: int, seed: Seed, on_progress: OnProgress | None = None
    ) -> None:
        self.environment, self.episodes, self.seed = environment, episodes, seed_key(seed)
        self.total, self.keeps_search = episodes, False
        self.searched: Counted | None = None
        self._on_progress = on_progress
        self._worlds: list[World] = []

    def world(self, learner: Learner, *stream: int, episodes: int | None = None, target: int | None = None) -> World:
        """Return a new world to play in, with a random stream of its own; N episodes by default."""
        room = self.episodes if episodes is None else episodes
        self._worlds.append(self.environment.world(target, learner, room, (*self.seed, *stream)))
        return self._worlds[-1]

    def end_search(self, world: World) -> None:
        """Keep what was counted in a world of a search, and let go of the world."""
        self._worlds.remove(world)
        counted = Counted.of(world)
        self.searched = counted if self.searched is None else self.searched + counted

    def report(self, _: int = 0) -> None:
        """Report the progress of all worlds together."""
        if self._on_progress is not None:
            self._on_progress(self.played, self.total)

    @property
    def played(self) -> int:
        """The episodes played in all worlds."""
        return sum(world.played for world in self._worlds) + (self.searched.num_episodes if self.searched else 0)

    @property
    def collected(self) -> Counted:
        """What was counted in all worlds but those of a search."""
        first, *others = map(Counted.of, self._worlds)
        return sum(others, start=first)

    @property
    def kept(self) -> Counted:
        """What was counted and is data."""
        return self.everything if self.keeps_search else self.collected

    @property
    def everything(self) -> Counted:
        """All that was counted."""
        return self.collected if self.searched is None else self.searched + self.collected


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


def search(world: World, on_progress: Callable[[int], None]) -> tuple[list[NDArray[Any]], NDArray[np.int64]]:
    """Play all episodes; return the policies [H, 1, O] that were played, and for how many episodes each was."""
    policies: list[NDArray[Any]] = []

    def keep_policy() -> bool:
        policies.append(world.shown_policy.copy())
        return True

    total = len(world.log.returns)
    run_loop(world, total, watch=keep_policy, on_progress=on_progress)
    return policies, np.diff(world.log.plans["episode"][: len(policies)], append=total)


def play_given(
    world: World, policy: NDArray[np.float64], num_episodes: int, on_progress: Callable[[int], None]
) -> None:
    """Play a policy [H, 1, O, A] for some more episodes, in a world made for ``FixedPolicy``."""
    world.learner = FixedPolicy(policy=policy)
    world.replan()
    run_loop(world, world.played + num_episodes, on_progress=on_progress)


def play_until_sure(world: World, stop_below: float, on_progress: Callable[[int], None]) -> None:
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
