"""What a learner may know of a task: all but the kernel p and where episodes start.

A learner that has to learn the machine is given its states, not its probabilities and rewards
(``TaskSpec.without_rules``).

**Labels that can follow.** For learners that ask what a pair can lead to at best: a label and an o' can occur together
if some pair has that label when it leads to o'. A pair allows the labels that it has for any o'. Where the label of
every (o, a, o') cannot be asked for — on large tasks, or because it needs what a step of a black box tells — all labels
that occur are allowed after every pair, and in a black box all that the machine can do: more than can happen, never
less. Where episodes may end, they may end on any label.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.arithmetic import steps_left
from praemia.kernels.records import EveryRow, LabelSupport
from praemia.limits import require_memory
from praemia.machines.labels import Label, Labelling
from praemia.machines.machine import RewardMachine
from praemia.tasks.machine_table import MachineTable, continuation_rows, offsets
from praemia.tasks.model import exits_at_end
from praemia.tasks.model import read_only as read_only

MAX_TRIPLES = 4_000_000  # of (o, a, o') whose labels are asked for to see what can follow a pair
PossibleMoves = Callable[[Sequence[Label]], NDArray[np.bool_]]
NOT_MET: Label = frozenset({"a label not met so far"})


@dataclass(frozen=True, eq=False)
class TaskSpec:
    """What a learner may know of a task: everything but the kernel p and where episodes start.

    Examples
    --------
    >>> import praemia
    >>> spec = praemia.envs.warehouse(size=4).spec
    >>> spec.num_observations, spec.num_machine_states, spec.horizon
    (16, 3, 12)
    >>> hasattr(spec, "mdp")  # a learner does not get to see it
    False
    """

    num_observations: int
    num_actions: int
    horizon: int
    machine: RewardMachine
    labelling: Labelling
    label_sets: tuple[Label, ...]
    table: MachineTable
    more_labels: bool = False  # whether labels that are not listed may occur: in a black box, those not met so far
    labels_need_info: bool = False  # whether the label of a step not taken cannot be asked for, in a black box
    can_end: bool = False  # whether transitions may end an episode before the horizon
    discount: float = 1.0  # γ
    done_states: frozenset[int] = frozenset()  # the machine states in which an episode is over
    asked_before: EveryStep | None = None  # what a spec with fewer labels has found out about every step
    # Where labels may move the states of a machine that is to be learned: all that ``machine`` and ``table`` then say.
    possible: PossibleMoves | None = None

    def without_rules(self, *, moves_known: bool) -> TaskSpec:
        """Hide the rules of the machine; with ``moves_known``, not where each label can move each state."""
        machine = self.machine
        parts = (machine.states, machine.initial, machine.propositions)
        states_alone = RewardMachine(*parts, rules=(), idle_reward=machine.idle_reward)
        possible = partial(_possible_moves, machine, moves_known)
        table = MachineTable.of_possible_moves(machine.num_states, self.table.initial, possible(self.label_sets))
        return replace(self, machine=states_alone, table=table, possible=possible)

    @property
    def num_machine_states(self) -> int:
        return self.machine.num_states

    @property
    def num_successors(self) -> int:
        """How many successors a pair may have: all observations, and the end in each where episodes may end."""
        return 2 * self.num_observations if self.can_end else self.num_observations

    @cached_property
    def is_done(self) -> NDArray[np.bool_]:
        """bool[M], whether an episode is over in each machine state."""
        return read_only(np.isin(np.arange(self.num_machine_states), list(self.done_states)))

    @cached_property
    def exits(self) -> NDArray[np.float64]:
        """float64[H + 1, NUM_EXITS, M], what an ended episode is worth when step h begins."""
        idle_reward = self.machine.idle_reward.mean
        return read_only(exits_at_end(self.horizon, self.num_machine_states, idle_reward, self.discount))

    @cached_property
    def value_caps(self) -> NDArray[np.float64]:
        """float64[H + 1], the most that can still be earned at each step, a reward being at most 1: S_h."""
        return read_only(steps_left(self.horizon, self.discount))

    @cached_property
    def machine_probs(self) -> NDArray[np.float64]:
        """float64[L, M, M], τ: where each label of ``label_sets`` moves the machine; absent while it is learned."""
        table = self._known_table(8 * len(self.label_sets) * self.num_machine_states**2)
        probs = np.zeros((len(self.label_sets) * self.num_machine_states, self.num_machine_states))
        np.add.at(probs, (table.rows, table.targets), table.probs)
        return read_only(probs.reshape(-1, self.num_machine_states, self.num_machine_states))

    @cached_property
    def machine_rewards(self) -> NDArray[np.float64]:
        """float64[L, M], φ: the mean reward in the unit range; absent while the machine is learned."""
        return read_only(self._known_table(0).mean_rewards)

    def _known_table(self, num_bytes: int) -> MachineTable:
        if self.possible is not None:
            raise AttributeError("the machine is learned here; experience.machine_moves counts what was seen of it")
        require_memory(num_bytes, "the machine's transition probabilities for every label")
        return self.table

    @property
    def asks_every_label(self) -> bool:
        """Whether the label of every (o, a, o') is asked for where it helps."""
        return self.num_observations**2 * self.num_actions <= MAX_TRIPLES and not self.labels_need_info

    @cached_property
    def every_step(self) -> EveryStep:
        """What the labelling says of every step that there could be."""
        return EveryStep(self) if self.asked_before is None else self.asked_before

    def label_every_step(self) -> tuple[NDArray[np.int32], list[Label]]:
        """Return the label of every (o, a, o') as numbers [O, A, O], and the labels that they stand for.

        Where the machine is learned they are those of ``label_sets``, and then the others: one number means one label.
        """
        shape = (self.num_observations, self.num_actions, self.num_observations)
        require_memory(40 * shape[0] * shape[1] * shape[2], "a label for every (o, a, o')")
        o, a, z = (axis.ravel() for axis in np.indices(shape))
        numbers, sets = self.labelling.of(o, a, z)
        if self.possible is None:
            return numbers.reshape(shape), sets
        every_set = list(dict.fromkeys((*self.label_sets, *sets)))
        place = {label: i for i, label in enumerate(every_set)}
        return np.array([place[label] for label in sets], dtype=np.int32)[numbers.reshape(shape)], every_set

    def table_on(self, label_sets: Sequence[Label]) -> MachineTable:
        """Tabulate the machine on labels, which may have propositions that it does not read."""
        if self.possible is None:
            return MachineTable.of(self.machine.over(frozenset().union(*label_sets)), label_sets)
        return MachineTable.of_possible_moves(self.num_machine_states, self.table.initial, self.possible(label_sets))

    @cached_property
    def labels_to_expect(self) -> list[Label]:
        """Labels that stand for all that can occur, where not every (o, a, o') can be asked about."""
        if not self.more_labels:
            return list(self.label_sets)
        return self.machine.diagrams.example_labels() if self.possible is None else [*self.label_sets, NOT_MET]


@dataclass(frozen=True, eq=False)
class EveryStep:
    """What the labelling says of every (o, a, o'), seen or not, found out when it is asked for.

    It stays the same when labels are met that were not listed, so a new spec of a black box takes it over.
    """

    spec: TaskSpec

    @cached_property
    def labels(self) -> tuple[NDArray[np.int32], list[Label]]:
        """The label of every (o, a, o') as numbers [O, A, O], and the labels that they stand for."""
        return self.spec.label_every_step()

    @cached_property
    def table(self) -> MachineTable:
        """The machine tabulated on these labels."""
        return self.spec.table_on(self.labels[1])

    @cached_property
    def rows(self) -> EveryRow:
        """The continuation row of every successor of every pair, for the machine of ``table``.

        Every end has a row of its own, so that a row tells which successor it is.
        """
        size, count = self.spec.num_observations, self.spec.num_successors
        labels = np.tile(self.labels[0], count // size)
        successors = np.broadcast_to(np.arange(count, dtype=np.int32), labels.shape).ravel()
        acts = ~self.table.has_no_effect[labels.ravel()] | (successors >= size)
        rows, extra_rows = continuation_rows(labels.ravel(), successors, acts, size)
        return EveryRow.of(rows.reshape(-1, count), extra_rows, size)

    @cached_property
    def support_table(self) -> MachineTable:
        """The machine tabulated on the labels that can follow some pair."""
        if self.spec.asks_every_label:
            return self.table
        return self.spec.table_on(self.spec.labels_to_expect) if self.spec.more_labels else self.spec.table

    def support_for(self, width: int) -> LabelSupport:
        """Return the labels that can follow each pair, with the machine for tables of a width."""
        return self.support._replace(layers=self.support_table.layers(width))

    @cached_property
    def support(self) -> LabelSupport:
        """The labels that can follow each pair."""
        return self._support_by_pair() if self.spec.asks_every_label else self._support_by_label()

    def _support_by_pair(self) -> LabelSupport:
        """Allow the labels that each pair has for any o'."""
        num_obs, num_pairs = self.spec.num_observations, self.spec.num_observations * self.spec.num_actions
        num_labels, by_pair = len(self.labels[1]), self.labels[0].reshape(num_pairs, num_obs)
        allowed = np.zeros((num_pairs, num_labels), dtype=bool)
        allowed[np.arange(num_pairs)[:, None], by_pair] = True
        groups, group_of = np.unique(allowed, axis=0, return_inverse=True)
        reaches = np.zeros((num_labels, num_obs), dtype=bool)
        reaches[by_pair, np.arange(num_obs)] = True
        return self._sparse(group_of.ravel(), groups, reaches)

    def _support_by_label(self) -> LabelSupport:
        """Allow every label after every pair."""
        spec, num_labels = self.spec, len(self.spec.labels_to_expect)
        groups = np.ones((1, num_labels), dtype=bool)
        reaches = np.ones((num_labels, spec.num_observations), dtype=bool)
        return self._sparse(np.zeros(spec.num_observations * spec.num_actions), groups, reaches)

    def _sparse(self, group_of: NDArray[Any], groups: NDArray[np.bool_], reaches: NDArray[np.bool_]) -> LabelSupport:
        """Write membership tables as sparse rows; the column after the observations is the end of an episode."""
        if self.spec.can_end:
            reaches = np.hstack((reaches, np.ones((len(reaches), 1), dtype=bool)))
        return LabelSupport(
            groups=group_of.astype(np.int32),
            group_indptr=offsets(groups.sum(axis=1)),
            group_labels=np.nonzero(groups)[1].astype(np.int32),
            indptr=offsets(reaches.sum(axis=1)),
            targets=np.nonzero(reaches)[1].astype(np.int32),
            layers=self.support_table.layers(self.spec.num_machine_states),
        )


def _possible_moves(machine: RewardMachine, moves_known: bool, label_sets: Sequence[Label]) -> NDArray[np.bool_]:
    """Return bool[L, M, M], where each machine state may move under each label; anywhere unless that is known."""
    possible = np.ones((len(label_sets), machine.num_states, machine.num_states), dtype=bool)
    if moves_known:
        is_met = [label != NOT_MET for label in label_sets]
        possible[is_met] = MachineTable.of(machine, list(compress(label_sets, is_met))).possible_moves()
    return possible
