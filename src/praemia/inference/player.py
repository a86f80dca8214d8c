"""A player that does not see the machine's state: what it remembers in its place, and the episodes that it plays.

It remembers the state of the machine it holds and the last few events, and its memory moves with each label and reward.
To plan for what it remembers, memories are written as machines. A policy is [H, memory, O].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.inference.traces import Floats, Ints, reward_key
from praemia.machines.guards import exactly
from praemia.machines.labels import Label
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import ZERO, Outcome, Rule
from praemia.tasks.machine_table import running_sums
from praemia.tasks.task import Task

SURE = Reward((1.0,))
IMPOSSIBLE = -1


@dataclass(frozen=True, eq=False)
class Memory:
    """How a player's memory moves: next int64[memory, labels, rewards + 1]; the last column is for any other reward.

    A move may be ``IMPOSSIBLE``, if the machine that the player holds cannot pay the reward; the memory then stays.
    """

    next: Ints
    rewards: Floats

    @cached_property
    def settled(self) -> Ints:
        """The moves, with a stay in place of every impossible one."""
        stay = np.arange(len(self.next))[:, None, None]
        return np.where(self.next == IMPOSSIBLE, stay, self.next)

    def columns(self, reward: Floats) -> Ints:
        """Return the column of each of some rewards; those that differ by the noise of arithmetic share one."""
        values, which = np.unique(reward, return_inverse=True)
        keys = np.array([reward_key(value) for value in values])
        place = np.searchsorted(self.rewards, keys)
        occurs = np.append(self.rewards, np.nan)[place] == keys
        columns: Ints = np.where(occurs, place, len(self.rewards))[which].reshape(np.shape(reward))
        return columns

    def step(self, state: Ints, label: Ints, reward: Floats) -> Ints:
        """Return where the memory moves."""
        states: Ints = self.settled[state, label, self.columns(reward)]
        return states

    def paths(self, labels: Ints, rewards: Floats) -> Ints:
        """Return int64[N, H], the state of the memory before each step of episodes of labels and rewards [N, H]."""
        states = np.zeros(labels.shape, dtype=np.int64)
        for step in range(labels.shape[1] - 1):
            states[:, step + 1] = self.step(states[:, step], labels[:, step], rewards[:, step])
        return states

    def counts(self, labels: Ints, rewards: Floats) -> Ints:
        """Return int64[memory, labels], how often each label came in each state of the memory in episodes [N, H]."""
        size, num_labels = self.next.shape[:2]
        played = (self.paths(labels, rewards) * num_labels + labels)[labels >= 0]
        return np.bincount(played, minlength=size * num_labels).reshape(size, num_labels)

    def beside(self, other: Memory) -> Memory:
        """Return this memory with another beside it that needs no rewards; states are numbered m · others + other."""
        joint = self.settled[:, None] * len(other.next) + other.next[None]  # [memory, others, labels, rewards + 1]
        return Memory(joint.reshape(-1, *joint.shape[2:]), self.rewards)

    @property
    def is_random(self) -> bool:
        """Whether some label can pay different rewards in one state."""
        return bool(((self.next != IMPOSSIBLE).sum(axis=2) > 1).any())

    def explains(self, labels: Ints, rewards: Floats) -> bool:
        """Tell whether the machine held could have paid every reward of episodes of labels and rewards [N, H]."""
        moves = self.next[self.paths(labels, rewards), labels, self.columns(rewards)]
        return not (moves == IMPOSSIBLE)[labels >= 0].any()


def moves_of(machine: RewardMachine, labels: Sequence[Label]) -> Memory:
    """Return how a player follows a machine by label and reward; rewards that it cannot pay are ``IMPOSSIBLE``."""
    outs = {
        (q, i): machine.outcomes(state, label)
        for q, state in enumerate(machine.states)
        for i, label in enumerate(labels)
    }
    rewards = np.array(sorted({reward_key(v) for each in outs.values() for out in each for v in out.reward.values}))
    moves = np.full((machine.num_states, len(labels), len(rewards) + 1), IMPOSSIBLE, dtype=np.int64)
    for (q, i), each in outs.items():
        for out in each:
            paid = [reward_key(value) for value in out.reward.values]
            moves[q, i, np.searchsorted(rewards, paid)] = machine.index[out.target]
    return Memory(moves, rewards)


def recent_events(labels: Sequence[Label], num_events: int) -> Memory:
    """Return the memory of the last few events, which are labels other than the empty one."""
    events = [i for i, label in enumerate(labels) if label]
    words = [word for length in range(num_events + 1) for word in product(events, repeat=length)]
    number = {word: i for i, word in enumerate(words)}
    moves = [
        [number[(*word, i)[len(word) + 1 - num_events :]] if i in events else number[word] for i in range(len(labels))]
        for word in words
    ]
    return Memory(np.array(moves)[:, :, None], np.zeros(0))


def joint_machine(
    machine: RewardMachine, memory: Memory, labels: Sequence[Label], is_new: NDArray[np.bool_] | None = None
) -> RewardMachine:
    """Return a machine with a memory beside it; states are numbered q · memory + m, rewards have finitely many values.

    With is_new[q · memory + m, labels], what it pays is 1 for every new label, and the memory must not need rewards.
    """
    size, rules = len(memory.next), []
    column = cache(lambda value: int(memory.columns(np.array([value]))[0]))
    law_of = cache(Reward.of)
    for (q, state), (i, label) in product(enumerate(machine.states), enumerate(labels)):
        guard, outs = exactly(label, machine.propositions), machine.outcomes(state, label)
        for m in range(size):
            news = None if is_new is None else SURE if is_new[q * size + m, i] else ZERO
            outcomes = tuple(
                Outcome(f"{out.target}|{memory.settled[m, i, column(value)]}", out.probability * chance, law_of(value))
                for out in outs
                for value, _, chance in (news or out.reward).pieces
            )
            rules.append(Rule(f"{state}|{m}", guard, outcomes))
    names = tuple(f"{state}|{m}" for state in machine.states for m in range(size))
    return RewardMachine(names, f"{machine.initial}|0", machine.propositions, rules)


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
        columns = zip(vars(self).values(), vars(other).values(), strict=True)
        return Played(*map(np.concatenate, columns))


def play_episodes(
    task: Task,
    num_episodes: int,
    rng: np.random.Generator,
    policy: NDArray[Any] | None = None,
    memory: Memory | None = None,
) -> Played:
    """Play episodes by a policy [H, memory, O] of actions; without one, actions are uniform."""
    mdp, table, edge_sums = task.mdp, task.table, running_sums(task.mdp.probs, task.mdp.indptr)
    horizon = task.max_steps
    memory = memory or recent_events(mdp.label_sets, 0)
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
        edge = _draw(mdp.indptr, edge_sums, o * task.num_actions + a, rng)
        label = mdp.labels[edge].astype(np.int64)
        out = _draw(table.indptr, table.sums, label * table.num_states + machine, rng)
        reward = table.laws["value"][_draw(table.law_indptr, table.laws["sum"], out, rng)]
        observations[:, h], actions[:, h], ends[:, h] = o, a, going_on & mdp.ends[edge]
        labels[going_on, h], rewards[going_on, h] = label[going_on], reward[going_on]
        state = memory.step(state, label, reward)
        o = np.where(going_on, mdp.successors[edge], o).astype(np.int64)
        machine, going_on = table.targets[out].astype(np.int64), going_on & ~ends[:, h]
    observations[:, horizon] = o
    return Played(observations, actions, labels, rewards, ends)


def _draw(indptr: Ints, sums: Floats, rows: Ints, rng: np.random.Generator) -> Ints:
    """Draw an entry of each of some rows, whose running sums of probabilities are given."""
    first, last = indptr[rows], indptr[rows + 1] - 1
    entry = first.copy()
    numbers = rng.random(len(rows))
    for _ in range(int((last - first).max(initial=0))):
        entry += (entry < last) & (sums[entry] <= numbers)
    return entry
