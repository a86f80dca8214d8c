"""What a player remembers: the state of the machine it holds, and the last few events, as machines to plan with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from praemia.exploration.estimate import INTO_THE_SINK
from praemia.inference.playing import IMPOSSIBLE, Memory, Played
from praemia.inference.traces import Floats, Ints, reward_key
from praemia.machines.labels import ENDED, Label
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import NOTHING, Outcome

SURE = Reward((1.0,))


@dataclass(frozen=True)
class TableMachine(RewardMachine):
    """A machine given by its outcomes on every label that can come; on others it stays and pays nothing."""

    table: Mapping[tuple[str, Label], tuple[Outcome, ...]] = field(default_factory=dict, repr=False)

    def outcomes(self, state: str, label: Set[str]) -> tuple[Outcome, ...]:
        return self.table.get((state, frozenset(label)), (Outcome(state, reward=self.idle_reward),))

    @property
    def _rewards(self) -> list[Reward]:
        return [out.reward for outs in self.table.values() for out in outs]

    @cached_property
    def in_unit_range(self) -> RewardMachine:
        known = self.reward_range
        if known.is_unit:
            return self
        table = {
            key: tuple(replace(out, reward=known.to_unit(out.reward)) for out in outs)
            for key, outs in self.table.items()
        }
        return replace(self, table=table, idle_reward=known.to_unit(self.idle_reward))


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
        events = [i for i, label in enumerate(labels) if label and ENDED not in label]
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
            found += np.bincount(state * shape[1] + label, minlength=len(found))
            state = self.memory.step(state, label, played.rewards[:, step])
        return found.reshape(shape)

    def seeking(
        self, machine: RewardMachine, labels: Sequence[Label], new: NDArray[np.bool_], propositions: Sequence[str]
    ) -> TableMachine:
        """Return the machine that pays 1 for every new label [memory, labels], and in the sink of unknown pairs."""
        size = len(self.shift)
        names = tuple(map(str, range(machine.num_states * size)))
        table: dict[tuple[str, Label], tuple[Outcome, ...]]
        table = {(name, INTO_THE_SINK): (Outcome(name, reward=SURE),) for name in names}
        for (q, state), (i, label) in product(enumerate(machine.states), enumerate(labels)):
            outs = machine.outcomes(state, label)
            for w in range(size):
                here = q * size + w
                table[names[here], label] = tuple(
                    Outcome(
                        names[machine.index[out.target] * size + self.shift[w, i]],
                        out.probability,
                        SURE if new[here, i] else NOTHING,
                    )
                    for out in outs
                )
        return TableMachine(names, names[0], tuple(propositions), (), table=table)


def joint_machine(truth: RewardMachine, moves: Memory, labels: Sequence[Label]) -> TableMachine:
    """Return the true machine with the player's memory beside it; states are numbered q · memory + m."""
    table: dict[tuple[str, Label], tuple[Outcome, ...]] = {}
    for state, m, (i, label) in product(truth.states, range(len(moves.next)), enumerate(labels)):
        parts: dict[str, list[tuple[float, Reward]]] = {}
        for out in truth.outcomes(state, label):
            for value, width, chance in zip(
                out.reward.values, out.reward.widths, out.reward.probabilities, strict=True
            ):
                column = int(moves.columns(np.array([value]))[0]) if width == 0.0 else len(moves.rewards)
                target = f"{out.target}|{moves.settled[m, i, column]}"
                parts.setdefault(target, []).append((out.probability * chance, Reward((value,), (1.0,), (width,))))
        table[f"{state}|{m}", label] = tuple(
            Outcome(target, sum(weight for weight, _ in laws), Reward.mixture(laws)) for target, laws in parts.items()
        )
    names = tuple(f"{state}|{m}" for state in truth.states for m in range(len(moves.next)))
    return TableMachine(names, f"{truth.initial}|0", truth.propositions, (), table=table)
