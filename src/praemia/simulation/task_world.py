"""Play in a task: many episodes and plans in one compiled call, with the exact value of every policy."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.kernels import play as kernels
from praemia.kernels.compiling import plain
from praemia.kernels.exact import PRODUCT_STATE, ValueArrays, lanes_of, policy_value_for, start_value
from praemia.kernels.pathwise import BestArrays
from praemia.kernels.records import NUM_EXITS, CountArrays, Records
from praemia.kernels.references import by_reference, pointer_to
from praemia.learners.base import Learner
from praemia.learners.workspace import Workspace
from praemia.planning.backward import cached_per_object, new_tables
from praemia.planning.exact import solve
from praemia.simulation.loop import SLICE_SECONDS, World, grow_log, refuse_nan, spec_for
from praemia.tasks.machine_table import continuation_rows, running_sums
from praemia.tasks.model import padded_exits, step_weights
from praemia.tasks.reachability import reachable_states
from praemia.tasks.task import Task

MOST_LOSSES = 1 << 21  # of up to so many steps and actions, what they lose is computed once
FIRST_WORK = 1 << 18  # sums in the first call; later ones take as many as a slice of time allows


class TaskWorld(World):
    """A learner at play in a task. With ``valued=False`` the policies are played and not valued."""

    def __init__(
        self,
        task: Task,
        learner: Learner,
        num_episodes: int | None,
        seed: tuple[int, ...],
        *,
        num_steps: int | None = None,
        valued: bool = True,
    ) -> None:
        super().__init__(learner, spec_for(task.spec, learner), num_episodes, seed, num_steps)
        self.task, self.truth, self.valued = task, task, valued
        self.arrays = self._world_arrays()
        if valued and learner.replan_rule.at_once:
            self.arrays = self.arrays._replace(best=_best_arrays(task))
            self.log = self.log._replace(losses=np.zeros(len(self.log.returns)))
        self.counts = self._empty_counts()
        self.values = _value_arrays(task)._replace(tables=_tables(task))
        if not valued:
            self.values = self.values._replace(states=np.zeros(0, dtype=PRODUCT_STATE))
        self._references = by_reference(self.arrays), by_reference(self.counts), by_reference(self.values)
        self._referenced: tuple[Any, Any] = (None, None)
        self._work_limit = FIRST_WORK
        self._kernels: tuple[Any, Any, Any] | None = None

    def _world_arrays(self) -> kernels.WorldArrays:
        """Return the task to sample from, with the rows that the learner's counts have."""
        mdp, table = self.task.mdp, self.spec.table
        arrays, first = _sampling_arrays(self.task), mdp.num_observations + NUM_EXITS
        edges = arrays.edges.copy()
        if self.layout.unseen:
            every = self.spec.every_step.rows
            rows, extra = every.own[mdp.edge_pairs, mdp.targets], every.rows[first:]
        else:
            plain = table.keeps_state if self.layout.variance_of == "W" else table.has_no_effect
            successors = self.task.model.arrays.successors
            rows, extra = continuation_rows(mdp.labels, successors, ~plain[mdp.labels], mdp.num_observations)
        edges["row"] = rows
        extra_rows = np.zeros(len(extra), dtype=kernels.ROW_PLACE)
        extra_rows["label"], extra_rows["target"] = extra["label"], extra["target"]
        extra_rows["place"] = first + np.arange(len(extra)) if self.layout.unseen else -1
        return arrays._replace(edges=edges, extra_rows=extra_rows)

    def _empty_counts(self) -> CountArrays:
        """Return counts of nothing, with room for all that can happen."""
        arrays = self.arrays
        counts = self.empty_counts(arrays.indptr, len(arrays.extra_rows), len(arrays.edges))
        return with_every_row(counts, self.spec.every_step.rows.rows) if self.layout.unseen else counts

    def play(self, most: int) -> None:
        last, began, size = self.played + most, time.perf_counter(), 1 + (1 << 20) // self.spec.horizon
        while self.played < last and not self.is_due and not self.is_spent:
            self.note_plan()
            kernels.play(*self.play_arguments(min(last, self.played + size)))
            if time.perf_counter() - began >= SLICE_SECONDS:
                return

    def play_arguments(self, last: int) -> tuple[Any, ...]:
        world, counts, _ = self._references
        return world, counts, self.policy, self.replan_code, self.world_rng, self._log_reference(), last

    def _log_reference(self) -> Any:
        """Return the log as kernels take it; it is another one once it has grown."""
        if self._referenced[0] is not self.log:
            self._referenced = self.log, by_reference(self.log)
        return self._referenced[1]

    def advance(self, most: int, on_plan: Callable[[], None] | None) -> None:
        """Plan and play on: many plans in one compiled call, if they are compiled and nobody looks at them."""
        if self.plans_compiled and on_plan is None:
            self._plan_and_play(self.played + most)
        else:
            super().advance(most, on_plan)

    def _plan_and_play(self, last: int) -> None:
        work = self.workspace()
        if self.num_plans == len(self.log.plans):
            self.log = grow_log(self.log)
        log = self.log
        if self._kernels is None:
            self._kernels = self._compile_kernels(work)
        world, _, values = self._references
        # Kernels play as many episodes as the log has room for.
        data, is_end = work.data(), last == len(log.returns)
        record = self._log_reference() if is_end else by_reference(log._replace(returns=log.returns[:last]))
        began, before = time.perf_counter(), int(log.progress[0]["work"])
        plan, play, value_policy = self._kernels
        kernels.plan_and_play(
            plan,
            play,
            value_policy,
            world,
            data,
            self.learner_rng,
            self.policy,
            values,
            record,
            self.replan_code,
            self.world_rng,
            self._work_limit,
        )
        taken, done = time.perf_counter() - began, int(log.progress[0]["work"]) - before
        refuse_nan(self.learner, log.plans["optimistic"][: self.num_plans])
        self._work_limit = max(FIRST_WORK, int(done * min(4.0, SLICE_SECONDS / max(taken, 1e-6))))

    def _compile_kernels(self, work: Workspace) -> tuple[Any, Any, Any]:
        """Return what ``plan_and_play`` calls: the learner's plan, ``play`` and ``policy_value``."""
        plan = work.kernel(work.data(), self.learner_rng)
        play = pointer_to(kernels.play, *self.play_arguments(0))
        return plan, play, pointer_to(self._policy_value, self._references[2], self.arrays.starts, self.policy)

    @property
    def _policy_value(self) -> Any:
        return policy_value_for(lanes_of(self.values.tables.shape[2]))

    def policy_value(self) -> float:
        if not self.valued:
            return float("nan")
        return float(self._policy_value(self._references[2], self.arrays.starts, self.policy))

    def start_value(self, values: NDArray[np.float64]) -> float:
        return float(plain(start_value)(self.arrays.starts, values))


def with_every_row(counts: CountArrays, rows: Records) -> CountArrays:
    """Return counts whose extra rows are those of every (o, a, o'), numbered before any is seen."""
    first = len(counts.states) + NUM_EXITS
    counts.totals["rows"] = len(rows) - first
    return counts._replace(rows=rows[first:].copy())


@cached_per_object
def _sampling_arrays(task: Task) -> kernels.WorldArrays:
    """Return a task as running sums to draw from; no edge has happened yet, and rows are still to be numbered."""
    mdp, table = task.mdp, task.table
    starts = np.zeros(len(task.starts), dtype=kernels.START)
    probs = mdp.start_probs[task.starts]
    starts["o"], starts["m"], starts["prob"], starts["sum"] = task.starts, table.initial, probs, np.cumsum(probs)
    edges = np.zeros(len(mdp.probs), dtype=kernels.EDGE)
    edges["target"], edges["label"], edges["place"] = mdp.targets, mdp.labels, -1
    edges["sum"] = running_sums(mdp.probs, mdp.indptr)
    moves = np.zeros(len(table.targets), dtype=kernels.MOVE)
    moves["target"], moves["sum"] = table.targets, table.sums
    no_rows = np.zeros(0, dtype=kernels.ROW_PLACE)
    machine = (table.indptr, moves, table.law_indptr, table.laws)
    ends = (task.model.exits, step_weights(task.max_steps, task.discount), task.spec.is_done)
    nothing = np.zeros(0)
    best = BestArrays(np.zeros((0, 0, 0)), nothing, nothing, nothing, nothing, nothing)
    return kernels.WorldArrays(starts, mdp.indptr.copy(), edges, no_rows, *machine, *ends, best)


@cached_per_object
def _best_arrays(task: Task) -> BestArrays:
    """Return what the loss of a step is computed from."""
    values, discount = np.ascontiguousarray(solve(task.model).values.swapaxes(1, 2)), np.array([task.discount])
    size = values[1:].size * task.num_actions
    known = np.full(size if size <= MOST_LOSSES else 0, -1.0)
    return BestArrays(values, discount, task.mdp.probs, task.table.probs, task.table.rewards, known)


def _tables(task: Task) -> NDArray[np.float64]:
    return new_tables(task.model.num_rows, task.num_machine_states)


@cached_per_object
def _value_arrays(task: Task) -> ValueArrays:
    """Return what the exact value of a policy is computed from."""
    states, until = reachable_states(task)
    tables = _tables(task)
    places = np.zeros(len(states), dtype=PRODUCT_STATE)
    places["o"], places["m"] = np.divmod(states, task.num_machine_states)
    model, width = task.model, tables.shape[2]
    discounts = np.where(np.arange(task.max_steps) > 0, task.discount, 1.0)
    layers, exits = task.table.layers(width), padded_exits(model.exits, width)
    return ValueArrays(model.arrays, layers, exits, places, until, discounts, tables)
