"""What a compiled plan works with: constants, what is known of the task, and memory that grows with the counts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numba.core.errors import NumbaError
from numpy.typing import NDArray

from praemia.errors import ParameterError, came_from_interrupt
from praemia.kernels.counts import ask_for_whole_plan
from praemia.kernels.plan_data import AGENDA, STEP_LIMITS, PlanData, PlanMemory, SpecArrays, fixed_record
from praemia.kernels.plans import call_plan, compiled_plan
from praemia.kernels.records import (
    END,
    NUM_EXITS,
    ROW,
    UNKNOWN,
    Actions,
    CountArrays,
    EveryRow,
    LabelSupport,
    LayerArrays,
    Records,
    lanes_for,
    padded_width,
)
from praemia.kernels.references import by_reference
from praemia.learners.base import CountLayout
from praemia.learners.rules import PlanRule
from praemia.limits import require_memory
from praemia.machines.labels import Label
from praemia.tasks.extremes import extremes
from praemia.tasks.model import padded_exits
from praemia.tasks.spec import PossibleMoves, TaskSpec

SMALL = 1 << 26  # up to this many bytes, action values are allocated for all pairs at once
LARGE = 1 << 28  # from this many bytes on, action values must be known to fit in memory
STYLES = re.compile(r"\x1b\[[0-9;]*m")  # of Numba's messages, on terminals
NO_INTS, NO_SMALL_INTS = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32)
NO_EVERY_ROW = EveryRow(np.zeros((0, 0), dtype=np.uint32), np.zeros(0, dtype=ROW))


def learned_labels(spec: TaskSpec, layout: CountLayout) -> list[Label]:
    """Return the labels that a learner of the machine tells apart, those that can occur first, in their order."""
    by_labels = layout.limit == "labels"
    if layout.unseen or (by_labels and spec.asks_every_label):
        return spec.every_step.labels[1]
    return spec.labels_to_expect if by_labels else list(spec.label_sets)


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


def no_support(layers: LayerArrays) -> LabelSupport:
    """Return an empty support, for plans that do not look at it."""
    return LabelSupport(NO_SMALL_INTS, NO_INTS, NO_SMALL_INTS, NO_INTS, NO_SMALL_INTS, layers)


def step_records(caps: NDArray[np.float64], discount: float) -> Records:
    """Return the most that can still be earned at each step, and what its values count for the step before."""
    steps = np.zeros(len(caps), dtype=STEP_LIMITS)
    steps["cap"], steps["discount"] = caps, discount
    steps[0]["discount"] = 1.0
    return steps


@dataclass(eq=False)
class Workspace:
    """The data of a compiled plan, and ``policy`` [H, S, M]: each plan goes on from the one before, in place."""

    name: str  # of the learner, for messages
    rule: PlanRule
    spec: TaskSpec
    counts: CountArrays
    policy: Actions = field(repr=False)

    def __post_init__(self) -> None:
        self.lanes = 1 if self.rule.sorts_rows else lanes_for(self.spec.num_machine_states)
        self.width = padded_width(self.spec.num_machine_states, self.lanes)
        self.fixed = fixed_record(self.rule.fixed)
        self.constants = np.array(self.rule.constants, dtype=np.float64)
        self.known = self._known()
        self.memory = self._new_memory()
        self._kernel: Any = None  # the compiled plan
        self.fit(self.counts)

    def update(self, spec: TaskSpec, counts: CountArrays) -> None:
        """Take over what is known and what was counted by now."""
        if spec is not self.spec:
            self.spec = spec
            self.known = self._known()
            ask_for_whole_plan(counts)
        self.fit(counts)

    def _known(self) -> SpecArrays:
        """Return what is known of the task, as plans use it."""
        spec, rule = self.spec, self.rule
        if spec.possible is not None:
            return self._known_without_chances(spec.possible)
        table = spec.every_step.table if rule.unseen else spec.table
        moves, layers = table.transition_layers(self.width), table.layers(self.width)
        return self._spec_arrays(moves if rule.variance_of == "W" else layers, layers.paid)._replace(moves=moves)

    def _known_without_chances(self, possible: PossibleMoves) -> SpecArrays:
        """Return the same for a machine that is learned: its layers are written by each plan."""
        sets = learned_labels(self.spec, self.rule)
        layers = empty_layers(len(sets), self.spec.num_machine_states, self.width)
        known = self._spec_arrays(layers, np.zeros_like(layers.paid))
        moves = possible(sets).astype(np.int32).ravel()
        return known._replace(support=known.support._replace(layers=layers), possible=moves)

    def _spec_arrays(self, layers: LayerArrays, paid: NDArray[np.float64]) -> SpecArrays:
        spec, limit = self.spec, self.rule.limit
        caps = np.full_like(spec.value_caps, spec.value_caps[0]) if limit == "horizon" else spec.value_caps
        return SpecArrays(
            layers=layers,
            moves=layers,
            paid=paid,
            steps=step_records(caps, spec.discount),
            exits=padded_exits(self._exits(), self.width),
            support=spec.every_step.support_for(self.width) if limit == "labels" else no_support(layers),
            every=spec.every_step.rows if self.rule.unseen else NO_EVERY_ROW,
            possible=NO_SMALL_INTS,
            is_done=np.pad(spec.is_done.astype(np.float64), (0, self.width - spec.num_machine_states)),
        )

    def _exits(self) -> NDArray[np.float64]:
        """Return what having left is worth; where ties are ordered, the unknown is worth the least there is."""
        exits = self.spec.exits
        if self.rule.ordered:
            exits = exits.copy()
            exits[1:, UNKNOWN] = extremes(self.spec, self.spec.every_step.support_table, sign=-1.0)[:-1]
            if not (self.spec.can_end or self.spec.done_states):
                exits[:, END] = 0.0  # never reached, so it must not make equal steps differ
        return exits

    def _new_memory(self) -> PlanMemory:
        spec, rule, known = self.spec, self.rule, self.known
        num_states, num_pairs = spec.num_observations, spec.num_observations * spec.num_actions
        rows = len(known.every.rows) if rule.unseen else num_states + NUM_EXITS + len(self.counts.rows)
        tables = self._tables(rows)
        by_step = np.zeros((spec.horizon if rule.has_step_numbers else 0, num_pairs))
        if rule.step_bonus is not None:
            by_step[:] = rule.step_bonus
        return PlanMemory(
            tables=tables,
            least_tables=np.zeros(tables.shape if rule.lower or rule.ordered else (0, 0, 0)),
            soon_tables=np.zeros(tables.shape if rule.ordered else (0, 0, 0)),
            action_values=np.zeros((spec.horizon, 0, self.width)),
            by_step=by_step,
            by_pair=np.zeros((num_pairs, rule.by_pair)),
            by_successor=np.zeros((0, rule.by_successor)),
            drawn=np.zeros((num_pairs, rule.drawn), dtype=np.int32),
            sorted_rows=np.zeros((spec.num_machine_states if rule.sorts_rows else 0, rows - NUM_EXITS), dtype=np.int32),
            rewards=np.zeros(num_pairs * self.width if rule.variance_of == "W" else 0),
            tops=self._room_for_tops(),
            tops_by_label=self._room_for(known.support.indptr),
            options=np.zeros(3 * spec.num_actions * self.lanes),
            spread=np.zeros(3 * num_pairs * self.lanes if rule.spread else 0),
            spread_sums=np.zeros(3),
            shares=np.zeros((spec.horizon, 2)),
            local_limit=np.zeros(self.lanes),
            exists=(np.arange(self.width) < spec.num_machine_states).astype(np.float64),
            agenda=np.zeros(num_states if rule.repairs else 0, dtype=AGENDA),
        )

    def _room_for(self, indptr: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return room for a row of numbers for each of the groups or labels that ``indptr`` divides."""
        return np.zeros(max(0, len(indptr) - 1) * self.width)

    def _room_for_tops(self) -> NDArray[np.float64]:
        size = max(0, len(self.known.support.group_indptr) - 1) * self.width
        return np.zeros((self.spec.horizon if self.rule.repairs else 1, size))

    def _tables(self, rows: int) -> NDArray[np.float64]:
        """Return tables of two steps, or of all where plans are repaired."""
        num_tables = self.spec.horizon + 1 if self.rule.repairs else 2
        if self.rule.repairs:
            needed = 8 * self.width * num_tables * (3 * rows + len(self.known.support.group_indptr))
            require_memory(needed, "the tables of all steps, for plans that are repaired; replan='growth' needs fewer")
        tables = np.zeros((num_tables, rows, self.width))
        tables[:, : self.spec.num_observations] = self.known.steps[0]["cap"]
        return tables

    def fit(self, counts: CountArrays) -> None:
        """Make room for what was counted."""
        memory, support = self.memory, self.known.support
        if memory.tops.shape[1] < (len(support.group_indptr) - 1) * self.width:
            memory = memory._replace(tops=self._room_for_tops())
        if len(memory.tops_by_label) < (len(support.indptr) - 1) * self.width:
            memory = memory._replace(tops_by_label=self._room_for(support.indptr))
        rows = self.spec.num_observations + NUM_EXITS + len(counts.rows)
        if memory.tables.shape[1] < rows:
            new = {name: getattr(memory, name) for name in ("tables", "least_tables", "soon_tables")}
            for name, old in new.items():
                if len(old):
                    new[name] = self._tables(rows) if name == "tables" else np.zeros_like(new["tables"])
                    new[name][:, : old.shape[1]] = old
            memory = memory._replace(**new)
        by_successor = self.rule.by_successor
        if by_successor and len(memory.by_successor) < len(counts.successors):
            memory = memory._replace(by_successor=np.zeros((len(counts.successors), by_successor)))
        slots = int(counts.totals[0]["slots"])
        if self.rule.monotone and memory.action_values.shape[1] < slots + 1:
            memory = memory._replace(action_values=self._more_action_values(slots))
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

    def kernel(self, data: Any, rng: np.random.Generator) -> Any:
        """Return the compiled plan."""
        try:
            if self._kernel is None:
                arguments = (data, rng, self.policy)
                self._kernel = compiled_plan(self.rule.plan, self.rule.compiled_with(self.lanes), arguments)
            return self._kernel
        except NumbaError as error:
            if came_from_interrupt(error):
                raise KeyboardInterrupt from error
            lines = [STYLES.sub("", line).strip() for line in str(error).splitlines()]
            reason = next((line for line in lines if line and not line.startswith("Failed in")), "")
            raise ParameterError(
                f"learner {self.name!r}: its functions cannot be compiled: {reason}; they may use "
                "arithmetic, np.minimum, np.maximum and np.sqrt (docs/how-to/write-a-learner.md)"
            ) from error

    def data(self) -> Any:
        """Return what the plan is made from, as kernels take it."""
        return by_reference(PlanData(self.counts, self.known, self.memory, self.fixed, self.constants))

    def plan(self, rng: np.random.Generator) -> None:
        """Make a plan: update the policy and the memory."""
        data = self.data()
        call_plan(self.kernel(data, rng), data, rng, self.policy)

    @property
    def values(self) -> NDArray[np.float64]:
        """float64[M, S], the learner's own V_0."""
        spec = self.spec
        return self.memory.tables[0, : spec.num_observations, : spec.num_machine_states].T.copy()
