"""Play a machine label by label: draw its moves and rewards, and tell when nothing more can be paid."""

from __future__ import annotations

from itertools import chain

import numpy as np

from praemia.machines.labels import Label
from praemia.machines.machine import RewardMachine
from praemia.tasks.machine_table import MachineTable


def draw_move(table: MachineTable, label: int, m: int, rng: np.random.Generator) -> tuple[int, float]:
    """Draw the machine's next state from τ and its reward from ν, in state ``m`` on a numbered label."""
    row = label * table.num_states + m
    begin, end = table.indptr[row], table.indptr[row + 1]
    place = begin + np.searchsorted(table.sums[begin:end], rng.random(), side="right")
    j = min(place, end - 1)  # the sum of a row may lie below 1 by rounding
    first, last = table.reward_indptr[j], table.reward_indptr[j + 1]
    r = first + (rng.choice(last - first, p=table.reward_probs[first:last]) if last - first > 1 else 0)
    extra = table.reward_widths[r] * rng.random() if table.reward_widths[r] > 0.0 else 0.0
    return int(table.targets[j]), float(table.reward_values[r] + extra)


class MachineSampler:
    """Draw what a machine does on labels that are not known beforehand: each is tabulated when it first comes."""

    def __init__(self, machine: RewardMachine) -> None:
        self.machine = machine
        self._tables: dict[Label, MachineTable] = {}

    def step(self, m: int, label: Label, rng: np.random.Generator) -> tuple[int, float]:
        """Draw the next machine state and the reward of a step in machine state ``m`` on a label."""
        if label not in self._tables:
            self._tables[label] = MachineTable.of(self.machine, [label])
        return draw_move(self._tables[label], 0, m, rng)


def settled_states(machine: RewardMachine) -> frozenset[int]:
    """Return the machine states from which every further reward is 0, whatever the labels."""
    sources: dict[str, set[str]] = {state: set() for state in machine.states}
    paying = []
    for state in machine.states:
        for out in chain.from_iterable(machine.possible_outcomes(state)):
            sources[out.target].add(state)
            if not out.reward.is_nothing:
                paying.append(state)
    found = set(paying)
    while paying:
        for state in sources[paying.pop()] - found:
            found.add(state)
            paying.append(state)
    return frozenset(machine.index[state] for state in machine.states if state not in found)
