"""Grids of any size to measure planning on: few labels or many, a sparse or a dense machine.

The grid has ``few`` labels (every tenth diagonal has an item, those halfway between them a delivery point, and four
observations in five nothing) or ``many`` (64 labels all over the grid, one of them empty). The machine is a chain. With
``sparse`` τ, a step along it succeeds with probability 0.8; with ``dense`` τ, a label that a state reacts to may lead
to any state. Every other step along the chain pays 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from praemia.envs.grid_map import GridMap
from praemia.machines.formula import Formula
from praemia.machines.labels import Indices, Label, Labelling
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import Outcome, Rule
from praemia.machines.syntax import parse_guard
from praemia.tasks.task import Task

_BITS = tuple(f"bit-{i}" for i in range(6))
_ITEM, _DELIVERY = 1, 2


@dataclass(frozen=True, kw_only=True)
class DiagonalLabels(Labelling):
    """Label each cell by its diagonal; a label is a number, with a proposition for each binary digit."""

    side: int
    many: bool

    @property
    def by_rules(self) -> bool:
        return False

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
    rows = ["S" + "." * (side - 1), *["." * side] * (side - 1)]
    mdp = GridMap("\n".join(rows), stay=True).mdp(DiagonalLabels(side=side, many=many))
    name = f"grid-{side}-{'many' if many else 'few'}-{'dense' if dense else 'sparse'}"
    return Task(mdp, chain(num_machine_states, many=many, dense=dense), horizon, name)


def chain(num_states: int, *, many: bool = False, dense: bool = False) -> RewardMachine:
    """Make the machine: state i reacts to one label in turn, or to a quarter of the many labels."""
    guards = [parse_guard(" & ".join(name if bit else f"!{name}" for name, bit in _bits(n))) for n in range(64)]
    outcomes = _dense_outcomes if dense else _sparse_outcomes
    rules = []
    for i in range(num_states):
        heard = [n for n in range(1, 64) if n % 4 == i % 4] if many else [_ITEM if i % 2 == 0 else _DELIVERY]
        rules += [_rule(i, guards[n], outcomes(i, n, num_states)) for n in heard]
    return RewardMachine(tuple(map(str, range(num_states))), "0", _BITS, tuple(rules))


def _rule(i: int, guard: Formula, outcomes: list[Outcome]) -> Rule:
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
