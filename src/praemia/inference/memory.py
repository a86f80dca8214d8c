"""What a player remembers: the state of the machine it holds, and the last few events, as machines to plan with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from praemia.inference.playing import IMPOSSIBLE, Memory, Played
from praemia.inference.traces import Floats, Ints, reward_key
from praemia.machines.guards import exactly
from praemia.machines.labels import Label
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import NOTHING, Outcome, Rule

SURE = Reward((1.0,))


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

    def counts(self, played: Played) -> Floats:
        """Return float64[memory, labels], how often each label came in each state of the memory."""
        shape = self.memory.next.shape[:2]
        found = np.zeros(shape[0] * shape[1])
        state = np.zeros(len(played.labels), dtype=np.int64)
        for step in range(played.labels.shape[1]):
            label = played.labels[:, step]
            found += np.bincount((state * shape[1] + label)[label >= 0], minlength=len(found))
            state = self.memory.step(state, label, played.rewards[:, step])
        return found.reshape(shape)

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
                reward = SURE if new[here, i] else NOTHING
                there = [names[machine.index[out.target] * size + self.shift[w, i]] for out in outs]
                moves = zip(there, (out.probability for out in outs), strict=True)
                rules.append(Rule(names[here], guard, tuple(Outcome(*move, reward) for move in moves)))
        return RewardMachine(names, names[0], tuple(propositions), rules)


def joint_machine(truth: RewardMachine, moves: Memory, labels: Sequence[Label]) -> RewardMachine:
    """Return the true machine with the player's memory beside it; states are numbered q · memory + m."""
    rules = []
    for state, m, (i, label) in product(truth.states, range(len(moves.next)), enumerate(labels)):
        parts: dict[str, list[tuple[float, Reward]]] = {}
        for out in truth.outcomes(state, label):
            for value, width, chance in out.reward.pieces:
                column = int(moves.columns(np.array([value]))[0]) if width == 0.0 else len(moves.rewards)
                target = f"{out.target}|{moves.settled[m, i, column]}"
                parts.setdefault(target, []).append((out.probability * chance, Reward((value,), (1.0,), (width,))))
        outcomes = (
            Outcome(target, sum(weight for weight, _ in laws), Reward.mixture(laws)) for target, laws in parts.items()
        )
        rules.append(Rule(f"{state}|{m}", exactly(label, truth.propositions), tuple(outcomes)))
    names = tuple(f"{state}|{m}" for state in truth.states for m in range(len(moves.next)))
    return RewardMachine(names, f"{truth.initial}|0", truth.propositions, rules)
