"""What a learner may know of a task: all but the transition probabilities and where episodes start.

A learner of the machine is given its states, not its probabilities and rewards (``TaskSpec.without_rules``).

**Labels that can follow**, for learners that need to know what a pair can lead to at best: a label and an o' can occur
together if some pair has that label when it leads to o'. A pair allows the labels that it has for any o'. Where these
are not computed (on large tasks, or where a label depends on more than the step) every label that can occur is allowed
after every pair: more than can happen, never less. Where episodes may end, they may end on any label.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import compress
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from praemia._support.arithmetic import steps_left
from praemia._support.limits import require_memory
from praemia.kernels.records import EveryRow, LabelSupport
from praemia.machines.labels import Label, Labelling
from praemia.machines.machine import RewardMachine
from praemia.tasks.machine_table import MachineTable, continuation_rows, offsets
from praemia.tasks.model import exits_at_end, read_only

MAX_TRIPLES = 4_000_000  # of (o, a, o') whose labels are computed to see what can follow a pair
UnseenLabels: TypeAlias = Literal["listed", "computed", "any"]
PossibleMoves = Callable[[Sequence[Label]], NDArray[np.bool_]]
NOT_MET: Label = frozenset({"a label not met so far"})


@dataclass(frozen=True, eq=False)
class TaskSpec:
    """The part of a task that a learner knows: all but the transition probabilities and the start distribution.

    Attributes
    ----------
    label_sets : the labels, by index; those that were seen so far in a black box.
    unseen_labels : how the label of a step not yet observed is known. "listed": it is one of ``label_sets``, by
        ``labelling``; "computed": by ``labelling``, listed or not; "any": it is unknown before the step.

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
    unseen_labels: UnseenLabels = "listed"
    can_end: bool = False  # whether transitions may end an episode before the horizon
    discount: float = 1.0  # γ
    done_states: frozenset[int] = frozenset()  # the terminal machine states
    # Where labels may move the states of a machine that is learned; ``machine`` and ``table`` then say nothing more.
    possible: PossibleMoves | None = None

    def without_rules(self, *, moves_known: bool) -> TaskSpec:
        """Return the spec without the machine's rules; with ``moves_known``, the possible moves stay known."""
        machine = self.machine
        states_alone = machine.replace(rules=(), first_match=False)
        possible = partial(_possible_moves, machine, moves_known)
        table = MachineTable.of_possible_moves(machine.num_states, self.table.initial, possible(self.label_sets))
        return replace(self, machine=states_alone, table=table, possible=possible)

    @property
    def num_machine_states(self) -> int:
        return self.machine.num_states

    @property
    def num_successors(self) -> int:
        """The number of successors of a pair: all observations, and the end in each where episodes may end."""
        return 2 * self.num_observations if self.can_end else self.num_observations

    @cached_property
    def is_done(self) -> NDArray[np.bool_]:
        """bool[M], whether each machine state is terminal."""
        return read_only(np.isin(np.arange(self.num_machine_states), list(self.done_states)))

    @cached_property
    def exits(self) -> NDArray[np.float64]:
        """float64[H + 1, NUM_EXITS, M], the value of an ended episode when step h begins."""
        idle_reward = self.machine.idle_reward.mean
        return read_only(exits_at_end(self.horizon, self.num_machine_states, idle_reward, self.discount))

    @cached_property
    def value_caps(self) -> NDArray[np.float64]:
        """float64[H + 1], the largest return from each step on, a reward being at most 1: S_h."""
        return read_only(steps_left(self.horizon, self.discount))

    @cached_property
    def named_caps(self) -> dict[str, NDArray[np.float64]]:
        """The largest return, float64[H]: from each step on, or of an episode."""
        whole = np.full(self.horizon, self.value_caps[0])
        return {"steps left": self.value_caps[:-1].copy(), "horizon": whole}

    @cached_property
    def kept(self) -> dict[Any, Any]:
        """A cache for the values that learners compute once per task."""
        return {}

    @cached_property
    def machine_probs(self) -> NDArray[np.float64]:
        """float64[L, M, M], τ: where each label of ``label_sets`` moves the machine; absent while it is learned."""
        return read_only(self._known_table(8 * len(self.label_sets) * self.num_machine_states**2).moves())

    @cached_property
    def machine_rewards(self) -> NDArray[np.float64]:
        """float64[L, M], φ: the mean reward in the unit range; absent while the machine is learned."""
        return read_only(self._known_table(0).mean_rewards)

    def _known_table(self, num_bytes: int) -> MachineTable:
        if self.possible is not None:
            raise AttributeError("the machine is learned here; experience.machine_moves counts what was seen of it")
        require_memory(num_bytes, "the machine's transition probabilities for every label")
        return self.table

    @cached_property
    def every_step(self) -> EveryStep:
        """The labels of all steps, seen or not."""
        return EveryStep(self)

    def table_on(self, label_sets: Sequence[Label]) -> MachineTable:
        """Tabulate the machine on labels, which may have propositions that it does not read."""
        if self.possible is None:
            return MachineTable.of(self.machine, label_sets)
        return MachineTable.of_possible_moves(self.num_machine_states, self.table.initial, self.possible(label_sets))


@dataclass(frozen=True, eq=False)
class EveryStep:
    """The labels of every (o, a, o'), seen or not, computed when first used."""

    spec: TaskSpec

    @cached_property
    def labels(self) -> tuple[NDArray[np.int32], list[Label]]:
        """The label of every (o, a, o') as indices [O, A, O], and the labels that they stand for.

        Where the machine is learned they are those of ``label_sets``, and then the others: one index means one label.
        """
        spec = self.spec
        shape = (spec.num_observations, spec.num_actions, spec.num_observations)
        require_memory(40 * shape[0] * shape[1] * shape[2], "a label for every (o, a, o')")
        indices, sets = spec.labelling.of(*(axis.ravel() for axis in np.indices(shape)))
        if spec.possible is None:
            return indices.reshape(shape), sets
        every_set = list(dict.fromkeys((*spec.label_sets, *sets)))
        place = {label: i for i, label in enumerate(every_set)}
        return np.array([place[label] for label in sets], dtype=np.int32)[indices.reshape(shape)], every_set

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

    @property
    def is_computed(self) -> bool:
        """Whether the label of every (o, a, o') is computed to see what can follow a pair."""
        spec = self.spec
        return spec.unseen_labels != "any" and spec.num_observations**2 * spec.num_actions <= MAX_TRIPLES

    @cached_property
    def possible_labels(self) -> list[Label]:
        """Labels that stand for all that can occur."""
        spec = self.spec
        if self.is_computed:
            return self.labels[1]
        if spec.unseen_labels == "listed":
            return list(spec.label_sets)
        return spec.machine.diagrams.example_labels() if spec.possible is None else [*spec.label_sets, NOT_MET]

    @cached_property
    def support_table(self) -> MachineTable:
        """The machine tabulated on the labels that can occur."""
        return self.table if self.is_computed else self.spec.table_on(self.possible_labels)

    def support_for(self, width: int) -> LabelSupport:
        """Return the labels that can follow each pair, with the machine for tables of a width."""
        return self.support._replace(layers=self.support_table.layers(width))

    @cached_property
    def support(self) -> LabelSupport:
        """The labels that can follow each pair: those that it has for any o', or all that can occur."""
        size, num_pairs = self.spec.num_observations, self.spec.num_observations * self.spec.num_actions
        num_labels = len(self.possible_labels)
        if self.is_computed:
            by_pair = self.labels[0].reshape(num_pairs, size)
            allowed = np.zeros((num_pairs, num_labels), dtype=bool)
            allowed[np.arange(num_pairs)[:, None], by_pair] = True
            groups, group_of = np.unique(allowed, axis=0, return_inverse=True)
            reaches = np.zeros((num_labels, size), dtype=bool)
            reaches[by_pair, np.arange(size)] = True
        else:
            groups, group_of = np.ones((1, num_labels), dtype=bool), np.zeros(num_pairs, dtype=np.intp)
            reaches = np.ones((num_labels, size), dtype=bool)
        if self.spec.can_end:  # the column after the observations is the end of an episode
            reaches = np.hstack((reaches, np.ones((num_labels, 1), dtype=bool)))
        return LabelSupport(
            groups=group_of.ravel().astype(np.int32),
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
        possible[is_met] = MachineTable.of(machine, list(compress(label_sets, is_met))).moves() > 0.0
    return possible
