"""Tasks of any size to measure with: a grid in which moves slip, and a machine that is a chain.

``few`` labels: every tenth diagonal of the grid offers an item, those halfway between them a delivery point; four
observations in five carry nothing. ``many``: 64 labels lie over the whole grid, and only one of them means nothing.
``sparse`` τ: a step forward along the chain works w.p. 0.8. ``dense`` τ: a label that a machine state listens to may
lead from it to any machine state. A step from one state of the chain to the next pays 1 every other time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from praemia.envs.grid import MOVES, Grid
from praemia.models.guards import Guard, parse_guard
from praemia.models.labels import Indices, Label, Labelling
from praemia.models.machine import Outcome, RewardMachine, Rule
from praemia.models.mdp import LabeledMDP
from praemia.models.rewards import Reward
from praemia.models.task import Task

_BITS = tuple(f"bit-{i}" for i in range(6))
_ITEM, _DELIVERY = 1, 2


@dataclass(frozen=True)
class DiagonalLabels(Labelling):
    """A label for each cell that is reached, by the number of its diagonal; the label's number in binary."""

    side: int
    many: bool

    def of(self, sources: Indices, actions: Indices, targets: Indices) -> tuple[NDArray[np.int32], list[Label]]:
        """Return the number of each transition's label, and the labels by number."""
        row, column = np.divmod(targets, self.side)
        if self.many:
            numbers = (7 * row + 13 * column) % 64
        else:
            numbers = np.where((row + column) % 10 == 3, _ITEM, 0) + np.where((row + column) % 10 == 8, _DELIVERY, 0)
        return numbers.astype(np.int32), [_label(number) for number in range(64 if self.many else 3)]

    def propositions(self) -> Label:
        """Return the propositions that can occur."""
        return frozenset(_BITS)


def grid_task(side: int, num_machine_states: int, horizon: int, *, many: bool = False, dense: bool = False) -> Task:
    """Make a side × side grid with five actions and a chain of machine states, with few labels or many."""
    grid = Grid.open(side, side)
    mdp = LabeledMDP.from_entries(
        grid.num_cells, len(MOVES) + 1, *grid.entries(stay=True), labels=DiagonalLabels(side, many)
    )
    name = f"grid-{side}-{'many' if many else 'few'}-{'dense' if dense else 'sparse'}"
    return Task(mdp, chain(num_machine_states, many=many, dense=dense), horizon, name)


def chain(num_states: int, *, many: bool = False, dense: bool = False) -> RewardMachine:
    """Make the machine: state i listens to one label in turn, or to a quarter of the many labels."""
    guards = [parse_guard(" & ".join(name if bit else f"!{name}" for name, bit in _bits(n))) for n in range(64)]
    outcomes = _dense_outcomes if dense else _sparse_outcomes
    rules = []
    for i in range(num_states):
        heard = [n for n in range(1, 64) if n % 4 == i % 4] if many else [_ITEM if i % 2 == 0 else _DELIVERY]
        rules += [_rule(i, guards[n], outcomes(i, n, num_states)) for n in heard]
    return RewardMachine(tuple(map(str, range(num_states))), "0", _BITS, tuple(rules))


def _rule(i: int, guard: Guard, outcomes: list[Outcome]) -> Rule:
    return Rule(str(i), guard, tuple(outcomes))


def _sparse_outcomes(i: int, label: int, num_states: int) -> list[Outcome]:
    return [Outcome(str((i + 1) % num_states), 0.8, Reward.of(i % 2)), Outcome(str(i), 0.2)]


def _dense_outcomes(i: int, label: int, num_states: int) -> list[Outcome]:
    weights = [1 + (31 * i + 17 * j + 7 * label) % 13 for j in range(num_states)]
    return [
        Outcome(str(j), weights[j] / sum(weights), Reward.of(i % 2 if j == (i + 1) % num_states else 0))
        for j in range(num_states)
    ]


def _bits(number: int) -> list[tuple[str, bool]]:
    return [(name, bool(number >> i & 1)) for i, name in enumerate(_BITS)]


def _label(number: int) -> Label:
    return frozenset(name for name, bit in _bits(number) if bit)
