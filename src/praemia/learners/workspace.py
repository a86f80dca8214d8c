"""What a compiled plan works with: constants, what is known of the task, and memory that grows with the counts."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numba.core.errors import NumbaError
from numpy.typing import NDArray

from praemia.errors import ParameterError, came_from_interrupt
from praemia.kernels.arrays import Actions, EveryRow, LayerArrays, Outlook, lanes_for, padded_width
from praemia.kernels.compiled_plans import PlanKernel, call_plan, compiled_plan
from praemia.kernels.counts import NUM_SLOTS, CountArrays
from praemia.kernels.recursion import Memory, PlanData, SpecArrays
from praemia.learners.base import Learner
from praemia.limits import require_memory
from praemia.machines.labels import Label
from praemia.tasks.label_support import asks_every_label
from praemia.tasks.task import TaskSpec
from praemia.tasks.unknown_chances import UnknownChancesSpec

if TYPE_CHECKING:
    from praemia.learners.compiled import CompiledLearner

SMALL = 1 << 26  # up to this many bytes, action values are allocated for all pairs at once
LARGE = 1 << 28  # from this many bytes on, action values must be known to fit in memory
NO_INTS, NO_SMALL_INTS = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32)
NO_ROWS = EveryRow(np.zeros((0, 0), dtype=np.uint32), NO_SMALL_INTS, NO_SMALL_INTS)


def learned_labels(learner: Learner, spec: UnknownChancesSpec) -> list[Label]:
    """Return the labels that a learner of the machine tells apart, those that can occur first, in their order."""
    if learner.needs_unseen_labels or (getattr(learner, "limited_by_labels", False) and asks_every_label(spec)):
        return spec.every_label[1]
    return spec.labels_to_expect if getattr(learner, "limited_by_labels", False) else list(spec.label_sets)


def empty_layers(num_labels: int, num_states: int, width: int) -> LayerArrays:
    """Return layers with a target for every machine state, to be written into."""
    num_layers = num_labels * num_states
    require_memory(12 * num_layers * width, "the moves of a machine that is learned")
    return LayerArrays(
        indptr=np.arange(num_labels + 1, dtype=np.int64) * num_states,
        common=np.tile(np.arange(num_states, dtype=np.int32), num_labels),
        targets=np.zeros(num_layers * width, dtype=np.uint32),
        probs=np.zeros(num_layers * width),
        paid=np.zeros(num_labels * width),
    )


@dataclass(eq=False)
class Workspace:
    """The data of a compiled plan; ``policy`` [H, S, M] is the last one planned from Python, as the plan left it."""

    learner: CompiledLearner
    spec: TaskSpec
    num_episodes: int
    counts: CountArrays
    policy: Actions = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.lanes = 1 if self.learner.one_state_at_a_time else lanes_for(self.spec.num_machine_states)
        self.width = padded_width(self.spec.num_machine_states, self.lanes)
        self.constants = np.array(self.learner.run_constants(self.spec, self.num_episodes), dtype=np.float64)
        self.learner.try_functions(self.constants)
        self.memory = self._new_memory()

    def again(self, spec: TaskSpec) -> Workspace:
        """Return a workspace for the next plan; this one stays as it is."""
        next_one = copy(self)
        if spec is not self.spec:
            next_one.spec = spec
            next_one.__dict__.pop("known", None)
        next_one.memory = self.memory._replace(action_values=self.memory.action_values.copy())
        return next_one

    @cached_property
    def known(self) -> SpecArrays:
        """What is known of the task, as plans use it."""
        spec, learner = self.spec, self.learner
        if isinstance(spec, UnknownChancesSpec):
            return self._known_without_chances(spec)
        table = spec.dense_labels[1] if learner.needs_unseen_labels else spec.table
        moves, layers = table.transition_layers(self.width), table.layers(self.width)
        return self._spec_arrays(moves if learner.deviation_without_reward else layers, layers.paid)

    def _known_without_chances(self, spec: UnknownChancesSpec) -> SpecArrays:
        """Return the same for a machine that is learned: its layers are written by each plan."""
        sets, num_states = learned_labels(self.learner, spec), spec.num_machine_states
        layers = empty_layers(len(sets), num_states, self.width)
        known = self._spec_arrays(layers, np.zeros_like(layers.paid))
        possible = spec.possible(sets).astype(np.int32).ravel()
        return known._replace(outlook=known.outlook._replace(layers=layers), possible=possible)

    def _spec_arrays(self, layers: LayerArrays, paid: NDArray[np.float64]) -> SpecArrays:
        spec, learner = self.spec, self.learner
        caps = np.full_like(spec.value_caps, spec.value_caps[0]) if learner.cap_is_horizon else spec.value_caps.copy()
        nothing = Outlook(NO_SMALL_INTS, NO_INTS, NO_SMALL_INTS, NO_INTS, NO_SMALL_INTS, layers)
        return SpecArrays(
            layers=layers,
            paid=paid,
            caps=caps,
            floors=spec.value_floors.copy(),
            outlook=spec.outlook[1](self.width) if learner.limited_by_labels else nothing,
            every=spec.every_row if learner.needs_unseen_labels else NO_ROWS,
            sizes=np.array([spec.num_actions]),
            possible=NO_SMALL_INTS,
        )

    def _new_memory(self) -> Memory:
        spec, sizes = self.spec, self.learner.sizes(self.spec)
        num_states, num_pairs = spec.num_observations, spec.num_observations * spec.num_actions
        known, kept = self.known, num_pairs if self.learner.deviation_without_reward else 0
        rows = len(known.every.row_targets) if self.learner.needs_unseen_labels else num_states
        tables = self._tables(rows)
        steps = spec.horizon if self.learner.needs_steps(spec, self.num_episodes) else 0
        return Memory(
            tables=tables,
            lower_tables=np.zeros(tables.shape if sizes.has_lower_values else (0, 0, 0)),
            action_values=np.zeros((spec.horizon, 0, self.width)),
            by_step=np.zeros((steps, num_pairs)),
            by_pair=np.zeros((num_pairs, sizes.by_pair)),
            by_successor=np.zeros((0, sizes.by_successor)),
            drawn=np.zeros((num_pairs, sizes.drawn), dtype=np.int32),
            order=np.zeros((spec.num_machine_states if sizes.sorts_rows else 0, rows), dtype=np.int32),
            rewards=np.zeros(kept * self.width),
            tops=self._room_for(known.outlook.group_indptr),
            tops_by_label=self._room_for(known.outlook.indptr),
            options=np.zeros(2 * spec.num_actions * self.lanes),
            spread=np.zeros(2 * self.lanes + 1),
        )

    def _room_for(self, indptr: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return room for a row of numbers for each of the groups or labels that ``indptr`` divides."""
        return np.zeros(max(0, len(indptr) - 1) * self.width)

    def _tables(self, rows: int) -> NDArray[np.float64]:
        tables = np.zeros((2, rows, self.width))
        tables[:, : self.spec.num_observations] = self.known.caps[0]
        return tables

    def fit(self, counts: CountArrays) -> None:
        """Make room for what was counted."""
        memory, learner, outlook = self.memory, self.learner, self.known.outlook
        if learner.limited_by_labels and len(memory.tops) < (len(outlook.group_indptr) - 1) * self.width:
            memory = memory._replace(tops=self._room_for(outlook.group_indptr))
        if learner.limited_by_labels and len(memory.tops_by_label) < (len(outlook.indptr) - 1) * self.width:
            memory = memory._replace(tops_by_label=self._room_for(outlook.indptr))
        if not learner.needs_unseen_labels:
            rows = self.spec.num_observations + len(counts.row_labels)
            if memory.tables.shape[1] < rows:
                tables = self._tables(rows)
                memory = memory._replace(tables=tables)
                if len(memory.lower_tables):
                    memory = memory._replace(lower_tables=np.zeros_like(tables))
        if memory.by_successor.shape[1] and len(memory.by_successor) < len(counts.counts):
            memory = memory._replace(by_successor=np.zeros((len(counts.counts), memory.by_successor.shape[1])))
        if learner.is_monotone and memory.action_values.shape[1] < counts.sizes[NUM_SLOTS] + 1:
            memory = memory._replace(action_values=self._more_action_values(int(counts.sizes[NUM_SLOTS])))
        self.memory, self.counts = memory, counts

    def _more_action_values(self, slots: int) -> NDArray[np.float64]:
        """Make room for the action values of more pairs; new ones are infinite, so they limit nothing."""
        old, num_pairs = self.memory.action_values, self.spec.num_observations * self.spec.num_actions
        per_slot = 8 * self.spec.horizon * self.width
        room = num_pairs if per_slot * num_pairs <= SMALL else min(num_pairs, 2 * slots + 64)
        if per_slot * room >= LARGE:
            require_memory(per_slot * room, "the action values of a plan")
        grown = np.full((self.spec.horizon, room + 1, self.width), np.inf)
        grown[:, : old.shape[1]] = old
        return grown

    def kernel(self, policy: Actions, rng: np.random.Generator) -> PlanKernel:
        """Return the compiled plan."""
        try:
            return compiled_plan(self.learner.recipe(), self.lanes, (self.data(rng), policy))
        except NumbaError as error:
            if came_from_interrupt(error):
                raise KeyboardInterrupt from error
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            reason = next((line for line in lines if "Failed in nopython" not in line), lines[0])
            raise ParameterError(
                f"learner {self.learner.name!r}: its functions cannot be compiled: {reason}; they may use "
                "arithmetic, np.minimum, np.maximum and np.sqrt (docs/how-to/write-a-learner.md)"
            ) from error

    def data(self, rng: np.random.Generator) -> PlanData:
        """Return what the plan is made from."""
        return PlanData(self.counts, self.known, self.memory, self.constants, rng)

    def plan(self, counts: CountArrays, policy: Actions, rng: np.random.Generator) -> None:
        """Make a plan: update policy[H, S, M] and the memory."""
        self.fit(counts)
        call_plan(self.kernel(policy, rng), (self.data(rng), policy))

    @property
    def values(self) -> NDArray[np.float64]:
        """float64[M, S], the learner's own V_0."""
        spec = self.spec
        return self.memory.tables[0, : spec.num_observations, : spec.num_machine_states].T.copy()
