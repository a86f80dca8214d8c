"""What a learner knows of a task whose machine it has to learn: the machine's states, not its chances and rewards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from praemia.kernels.records import MachineCounts
from praemia.limits import require_memory
from praemia.machines.labels import Label
from praemia.machines.machine import RewardMachine
from praemia.tasks.machine_table import MachineTable
from praemia.tasks.task import TaskSpec

PossibleMoves = Callable[[Sequence[Label]], NDArray[np.bool_]]
NOT_MET: Label = frozenset({"a label not met so far"})


@dataclass(frozen=True, eq=False, kw_only=True)
class UnknownChancesSpec(TaskSpec):
    """A spec whose machine has states and no rules, and whose table says only which moves are possible.

    Labels that are not among ``label_sets`` are numbered after them, so that one number means one label everywhere.
    """

    possible: PossibleMoves

    @classmethod
    def of(cls, spec: TaskSpec, *, moves_known: bool) -> UnknownChancesSpec:
        """Hide the chances of a machine; with ``moves_known`` it is told where each label can move each state."""
        machine = spec.machine
        shown = RewardMachine(machine.states, machine.initial, machine.propositions, (), machine.idle_reward)
        possible = _moves_of(machine) if moves_known else _any_moves(machine.num_states)
        known = {item.name: getattr(spec, item.name) for item in fields(TaskSpec)}
        table = MachineTable.of_possible_moves(machine.num_states, spec.table.initial, possible(spec.label_sets))
        return cls(**known | {"machine": shown, "table": table}, possible=possible)

    def _every_label(self) -> tuple[NDArray[np.int32], list[Label]]:
        numbers, sets = super()._every_label()
        listed = list(dict.fromkeys((*self.label_sets, *sets)))
        place = {label: i for i, label in enumerate(listed)}
        return np.array([place[label] for label in sets], dtype=np.int32)[numbers], listed

    def table_on(self, label_sets: Sequence[Label]) -> MachineTable:
        return MachineTable.of_possible_moves(self.num_machine_states, self.table.initial, self.possible(label_sets))

    @cached_property
    def labels_to_expect(self) -> list[Label]:
        more = [NOT_MET] if self.more_labels else []
        return list(dict.fromkeys((*self.label_sets, *more)))


def machine_counts(num_labels: int, num_states: int) -> MachineCounts:
    """Return the counts of a machine of which nothing was seen."""
    require_memory(24 * num_labels * num_states**2, "what is learned of the machine")
    rows = num_labels * num_states
    return MachineCounts(np.zeros(rows), np.zeros(rows * num_states), np.zeros(rows))


def _moves_of(machine: RewardMachine) -> PossibleMoves:
    def possible(label_sets: Sequence[Label]) -> NDArray[np.bool_]:
        met = [label for label in label_sets if label != NOT_MET]
        found = np.ones((len(label_sets), machine.num_states, machine.num_states), dtype=bool)
        found[[label != NOT_MET for label in label_sets]] = MachineTable.of(machine, met).possible_moves()
        return found

    return possible


def _any_moves(num_states: int) -> PossibleMoves:
    def possible(label_sets: Sequence[Label]) -> NDArray[np.bool_]:
        return np.ones((len(label_sets), num_states, num_states), dtype=bool)

    return possible
