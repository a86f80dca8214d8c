"""Play many episodes of a task at once, by a policy that sees labels and rewards but not the machine's state.

The player keeps a memory of its own, which moves with each label and reward. A policy is [H, memory, O].
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.inference.player_memory import Memory
from praemia.inference.traces import Floats, Ints
from praemia.tasks.machine_table import running_sums
from praemia.tasks.task import Task


@dataclass(frozen=True, eq=False)
class Played:
    """Episodes that were played: observations int64[N, H + 1], actions, labels int64[N, H], rewards float64[N, H].

    ends is bool[N, H], where an episode was over; the labels of the steps after that are −1.
    """

    observations: Ints
    actions: Ints
    labels: Ints
    rewards: Floats
    ends: NDArray[np.bool_]

    def __add__(self, other: Played) -> Played:
        """Return the episodes of both."""
        return Played(
            np.concatenate((self.observations, other.observations)),
            np.concatenate((self.actions, other.actions)),
            np.concatenate((self.labels, other.labels)),
            np.concatenate((self.rewards, other.rewards)),
            np.concatenate((self.ends, other.ends)),
        )

    def traces(self, task: Task) -> list[list[tuple[frozenset[str], float]]]:
        """Return the episodes as lists of (label, reward)."""
        sets = task.mdp.label_sets
        return [
            [(sets[label], reward) for label, reward in zip(labels, rewards, strict=True) if label >= 0]
            for labels, rewards in zip(self.labels.tolist(), self.rewards.tolist(), strict=True)
        ]


class Sampler:
    """Draw episodes of a task."""

    def __init__(self, task: Task) -> None:
        self.task = task

    @cached_property
    def _edge_sums(self) -> Floats:
        return running_sums(self.task.mdp.probs, self.task.mdp.indptr)

    @cached_property
    def _reward_sums(self) -> Floats:
        return running_sums(self.task.table.reward_probs, self.task.table.reward_indptr)

    def play(
        self,
        num_episodes: int,
        rng: np.random.Generator,
        policy: NDArray[Any] | None = None,
        memory: Memory | None = None,
    ) -> Played:
        """Play episodes by a policy [H, memory, O] of actions; without one, actions are uniform."""
        task, mdp, table = self.task, self.task.mdp, self.task.table
        horizon = int(task.horizon)
        kept = memory or Memory.none(len(mdp.label_sets))
        o = rng.choice(task.num_observations, num_episodes, p=mdp.start_probs)
        machine = np.full(num_episodes, table.initial, dtype=np.int64)
        state = np.zeros(num_episodes, dtype=np.int64)
        observations, actions = (
            np.empty((num_episodes, horizon + 1), np.int64),
            np.empty((num_episodes, horizon), np.int64),
        )
        labels, rewards = np.full_like(actions, -1), np.zeros((num_episodes, horizon))
        ends, going_on = np.zeros(actions.shape, dtype=bool), np.ones(num_episodes, dtype=bool)
        for h in range(horizon):
            a = rng.integers(task.num_actions, size=num_episodes) if policy is None else policy[h, state, o]
            edge = _draw(mdp.indptr, self._edge_sums, o * task.num_actions + a, rng)
            label = mdp.labels[edge].astype(np.int64)
            out = _draw(table.indptr, table.sums, label * table.num_states + machine, rng)
            paid = _draw(table.reward_indptr, self._reward_sums, out, rng)
            reward = table.reward_values[paid]
            if table.reward_widths.any():
                reward = reward + table.reward_widths[paid] * rng.random(num_episodes)
            observations[:, h], actions[:, h], ends[:, h] = o, a, going_on & mdp.ends[edge]
            labels[going_on, h], rewards[going_on, h] = label[going_on], reward[going_on]
            state = kept.step(state, label, reward)
            o = np.where(going_on, mdp.successors[edge], o).astype(np.int64)
            machine, going_on = table.targets[out].astype(np.int64), going_on & ~ends[:, h]
        observations[:, horizon] = o
        return Played(observations, actions, labels, rewards, ends)


def _draw(indptr: Ints, sums: Floats, rows: Ints, rng: np.random.Generator) -> Ints:
    """Draw an entry of each of some rows, whose running sums of probabilities are given."""
    first, last = indptr[rows], indptr[rows + 1] - 1
    chosen = first.copy()
    numbers = rng.random(len(rows))
    for _ in range(int((last - first).max(initial=0))):
        chosen += (chosen < last) & (sums[chosen] <= numbers)
    return chosen
