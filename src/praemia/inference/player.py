"""A player that does not see the machine's state: what it remembers in its place, and the episodes that it plays.

It remembers the state of the machine it holds and the last few events, and its memory moves with each label and reward.
To plan for what it remembers, memories are written as machines. A policy is [H, memory, O].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
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

    @classmethod
    def none(cls, num_labels: int) -> Memory:
        """Return a memory of one state, which remembers nothing."""
        return cls(np.zeros((1, num_labels, 1), dtype=np.int64), np.zeros(0))

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


@dataclass(frozen=True, eq=False)
class EventMemory:
    """A machine's state together with the last few events: labels other than the empty one.

    ``memory`` moves with labels and rewards; its states are numbered m · W + w. shift : int64[W, labels], how the w-th
    word of recent events moves.
    """

    memory: Memory
    shift: Ints

    @classmethod
    def of(cls, moves: Memory, labels: Sequence[Label], num_events: int) -> EventMemory:
        """Return the memory of a machine's moves and of some events."""
        events = [i for i, label in enumerate(labels) if label]
        words = [word for length in range(num_events + 1) for word in product(events, repeat=length)]
        number = {word: i for i, word in enumerate(words)}
        shift = np.array(
            [
                [number[(*word, i)[-num_events:]] if i in events else number[word] for i in range(len(labels))]
                for word in words
            ]
        )
        joint = moves.settled[:, None] * len(words) + shift[None, :, :, None]  # [M, W, labels, rewards + 1]
        return cls(Memory(joint.reshape(-1, *joint.shape[2:]), moves.rewards), shift)

    def counts(self, labels: Ints, rewards: Floats) -> Floats:
        """Return float64[memory, labels], how often each label came in each state of the memory in episodes [N, H]."""
        states, num_labels = self.memory.paths(labels, rewards), self.memory.next.shape[1]
        played = (states * num_labels + labels)[labels >= 0]
        counts = np.bincount(played, minlength=len(self.memory.next) * num_labels)
        return counts.reshape(-1, num_labels).astype(np.float64)

    def seeking(
        self, machine: RewardMachine, labels: Sequence[Label], new: NDArray[np.bool_], propositions: Sequence[str]
    ) -> RewardMachine:
        """Return the machine that pays 1 for every new label [memory, labels]."""
        size = len(self.shift)
        names = tuple(map(str, range(machine.num_states * size)))
        rules = []
        for (q, state), (i, label) in product(enumerate(machine.states), enumerate(labels)):
            if not label.issubset(propositions):  # it cannot come
                continue
            guard = exactly(label, propositions)
            outs = machine.outcomes(state, label)
            for w in range(size):
                here = q * size + w
                reward = SURE if new[here, i] else ZERO
                there = [names[machine.index[out.target] * size + self.shift[w, i]] for out in outs]
                moves = zip(there, (out.probability for out in outs), strict=True)
                rules.append(Rule(names[here], guard, tuple(Outcome(*move, reward) for move in moves)))
        return RewardMachine(names, names[0], tuple(propositions), rules)


def joint_machine(truth: RewardMachine, moves: Memory, labels: Sequence[Label]) -> RewardMachine:
    """Return the true machine with the player's memory beside it; states are numbered q · memory + m.

    Rewards are of finitely many values.
    """
    rules = []
    for state, m, (i, label) in product(truth.states, range(len(moves.next)), enumerate(labels)):
        parts: dict[str, list[tuple[float, Reward]]] = {}
        for out in truth.outcomes(state, label):
            for value, _, chance in out.reward.pieces:
                target = f"{out.target}|{moves.settled[m, i, int(moves.columns(np.array([value]))[0])]}"
                parts.setdefault(target, []).append((out.probability * chance, Reward.of(value)))
        outcomes = (
            Outcome(target, sum(weight for weight, _ in laws), Reward.mixture(laws)) for target, laws in parts.items()
        )
        rules.append(Rule(f"{state}|{m}", exactly(label, truth.propositions), tuple(outcomes)))
    names = tuple(f"{state}|{m}" for state in truth.states for m in range(len(moves.next)))
    return RewardMachine(names, f"{truth.initial}|0", truth.propositions, rules)


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
    memory = memory or Memory.none(len(mdp.label_sets))
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
