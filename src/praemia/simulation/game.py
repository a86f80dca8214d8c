"""The moving parts of a run on a task: counts, random numbers, how far it is.

``play`` plays a policy, compiled, until the next plan is due; ``experience`` is what the learner may look at then.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.kernels import planning as kernels
from praemia.kernels.play import DOUBLING, EPISODE, EPOCH, WorldArrays, play
from praemia.learners.base import Experience, Learner, Recent
from praemia.models.task import Task, running_sums
from praemia.planning.backward import new_tables
from praemia.planning.exact import start_value
from praemia.simulation.seeds import generators
from praemia.simulation.tally import Tally

BUFFER = 1 << 15
NO_VALUES = np.empty((0, 1, 1))
RULES = {"doubling": DOUBLING, "epoch": EPOCH, "episode": EPISODE}


@dataclass(eq=False)
class Game:
    """A learner at play on a task. Make one with ``Game.start``."""

    task: Task
    learner: Learner
    tally: Tally
    world: WorldArrays
    world_rng: np.random.Generator
    learner_rng: np.random.Generator
    uniforms: NDArray[np.float64]
    returns: NDArray[np.float64]
    recent: NDArray[np.int64]
    recent_rewards: NDArray[np.float64]
    cursor: int
    played: int = 0

    @classmethod
    def start(cls, task: Task, learner: Learner, num_episodes: int, seed: tuple[int, ...]) -> Game:
        world_rng, learner_rng = generators(seed)
        buffer = np.empty(max(BUFFER, 1 + 4 * task.horizon))
        kept = task.horizon if learner.uses_recent else 0
        return cls(
            task=task,
            learner=learner,
            tally=Tally.of(task, on_product=learner.on_product, uses_steps=learner.uses_steps),
            world=world_arrays(task),
            world_rng=world_rng,
            learner_rng=learner_rng,
            uniforms=buffer,
            returns=np.empty(num_episodes),
            recent=np.zeros((kept, 6), dtype=np.int64),
            recent_rewards=np.zeros(kept),
            cursor=len(buffer),
        )

    def experience(self) -> Experience:
        return Experience(
            spec=self.tally.spec,
            num_episodes=len(self.returns),
            seen=self.tally.seen(),
            steps=self.tally.arrays.steps,
            recent=Recent(self.recent, self.recent_rewards) if self.played else None,
            truth=self.task if self.learner.privileged else None,
        )

    def inner(self, policy: NDArray[Any]) -> NDArray[Any]:
        """Return a plan's policy over (observation, machine state), also if it was made on the product."""
        return policy.reshape(self.task.horizon, self.task.num_observations, -1, *policy.shape[3:])

    @cached_property
    def tables(self) -> NDArray[np.float64]:
        """What ``value_of`` works in; many games never ask for a value."""
        return new_tables(self.task.num_observations + len(self.task.arrays.row_labels), self.task.num_machine_states)

    def value_of(self, policy: NDArray[Any]) -> float:
        """Return the exact value of a plan's policy."""
        inner = self.inner(policy)
        kernel = kernels.evaluate if inner.ndim == 3 else kernels.evaluate_randomised
        self.tables.fill(0.0)
        first = kernel(self.task.arrays, self.task.table.layers, self.task.num_actions, self.tables, NO_VALUES, inner)
        return start_value(self.task, first)

    def start_value(self, values: NDArray[np.float64]) -> float:
        """Return the value at the start, from a plan's own V_0."""
        return start_value(self.task, values.reshape(self.task.num_observations, -1))

    def play(self, policy: NDArray[Any], most: int | None = None, pause: Callable[[], None] | None = None) -> None:
        """Play until a plan is due or all episodes (or ``most``) are played, drawing random numbers as needed.

        A long stretch is played in parts; ``pause`` is called after each.
        """
        policy = self.inner(policy)
        policy = policy if policy.ndim == 3 else np.cumsum(policy, axis=-1)
        due = False
        last = len(self.returns) if most is None else min(len(self.returns), self.played + most)
        while not due and self.played < last:
            if self.cursor + 1 + 4 * self.task.horizon > len(self.uniforms):
                self._refill()
            count, self.cursor, due = play(
                self.world,
                self.tally.arrays,
                policy,
                RULES[self.learner.replan],
                self.uniforms,
                self.cursor,
                self.returns[self.played : last],
                self.recent,
                self.recent_rewards,
            )
            self.played += count
            if pause is not None:
                pause()

    def _refill(self) -> None:
        """Move the numbers not yet used to the front and draw the rest: the stream goes on without a gap."""
        left = len(self.uniforms) - self.cursor
        self.uniforms[:left] = self.uniforms[self.cursor :]
        self.uniforms[left:] = self.world_rng.random(len(self.uniforms) - left)
        self.cursor = 0

    def shown(self, policy: NDArray[Any]) -> NDArray[Any]:
        """Return a policy as users see it, [H, M, O] or [H, M, O, A]."""
        return self.inner(policy).swapaxes(1, 2)


def world_arrays(task: Task) -> WorldArrays:
    """Return a task as running sums to sample from."""
    mdp, table = task.mdp, task.table
    starts = np.flatnonzero(mdp.start_probs).astype(np.int32)
    return WorldArrays(
        indptr=mdp.indptr,
        successors=mdp.successors,
        sums=running_sums(mdp.probs, mdp.indptr),
        labels=mdp.labels,
        mach_indptr=table.indptr,
        mach_targets=table.targets,
        mach_sums=table.sums,
        reward_indptr=table.reward_indptr,
        reward_values=table.reward_values,
        reward_sums=running_sums(table.reward_probs, table.reward_indptr),
        start_observations=starts,
        start_sums=np.cumsum(mdp.start_probs[starts]),
        sizes=np.array([task.num_actions, task.num_machine_states, table.initial]),
    )
