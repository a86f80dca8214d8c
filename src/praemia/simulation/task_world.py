"""Play in a task: many episodes and plans in one compiled call, with the exact value of every policy."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from praemia.errors import ModelError
from praemia.kernels import play as kernels
from praemia.kernels.exact import PRODUCT_STATE, ValueArrays
from praemia.kernels.records import Records, padded_width
from praemia.kernels.ties import new_stream
from praemia.learners.backward import checked_plan, next_policy
from praemia.learners.base import Learner
from praemia.learners.stepwise import StepwiseLearner
from praemia.machines.labels import Label, format_label
from praemia.planning.backward import cached_per_object
from praemia.planning.exact import solve
from praemia.simulation.loop import SLICE_SECONDS, World, grow_log, spec_for
from praemia.tasks.machine_table import continuation_rows, running_sums
from praemia.tasks.model import padded_exits, step_weights
from praemia.tasks.product import product_task
from praemia.tasks.reachability import reachable_states
from praemia.tasks.task import Task

MOST_LOSSES = 1 << 21  # of up to so many steps and actions, what they lose is computed once
NUM_DRAWN = 1 << 15  # random numbers drawn at a time
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
        self.num_machine_states = task.num_machine_states
        task = _product_of(task) if learner.sees == "product" else task
        super().__init__(learner, spec_for(task.spec, learner), num_episodes, seed, num_steps)
        self.task, self.truth = task, task if learner.privileged else None
        shared = _sampling_arrays(task)
        self.arrays = shared._replace(edges=shared.edges.copy(), extra_rows=shared.extra_rows.copy())
        if learner.learn_machine:  # which labels have no effect is not known
            every = np.ones(len(shared.edges), dtype=bool)
            edges = task.mdp.labels, task.model.arrays.successors, every, task.num_observations
            self.arrays.edges["row"], extra = continuation_rows(*edges)
            self.arrays = self.arrays._replace(extra_rows=_row_places(extra))
        self.values = _value_arrays(task)
        self.values = self.values._replace(tables=np.zeros_like(self.values.tables))
        if not valued:
            self.values = self.values._replace(states=np.zeros(0, dtype=PRODUCT_STATE))
        elif learner.replan_rule.at_once:
            self.arrays = self.arrays._replace(best=_best_arrays(task))
            self.log = self.log._replace(losses=np.zeros(len(self.log.returns)))
        self.chance = kernels.Chance(np.zeros(0), np.zeros(1, dtype=np.int64))
        self._starts, self._work_limit = shared.starts.tolist(), FIRST_WORK

    def _make_room(self) -> None:
        """Make room for what another episode may bring, and draw the random numbers that it may take."""
        horizon, left = self.spec.horizon, self.chance.numbers[self.chance.used[0] :]
        self.counts = self.counts.with_room(horizon)
        if self.num_plans == len(self.log.plans):
            self.log = grow_log(self.log)
        if len(left) <= kernels.DRAWS * horizon:
            more = self.world_rng.random(max(NUM_DRAWN, 8 * kernels.DRAWS * horizon))
            self.chance = kernels.Chance(np.concatenate((left, more)), np.zeros(1, dtype=np.int64))

    def play(self, most: int) -> None:
        last, began = self.played + most, time.perf_counter()
        size = 1 + (1 << 20) // self.spec.horizon
        while True:
            is_due = kernels.value_and_play(
                self.arrays,
                self.counts,
                self.values,
                self.policy,
                self.replan_code,
                self.chance,
                self.log,
                min(last, self.played + size),
            )
            if is_due or self.played >= last or self.is_spent:
                return
            self._make_room()
            if time.perf_counter() - began >= SLICE_SECONDS:
                return

    def advance(self, most: int, on_plan: Callable[[], None] | None) -> None:
        """Plan and play on; a kernel that plans within episodes does so in one compiled call, if nobody looks."""
        if on_plan is None and isinstance(self.learner, StepwiseLearner) and self.learner.plans_in_loop:
            self._plan_and_play(self.learner, self.played + most)
        else:
            super().advance(most, on_plan)

    def _plan_and_play(self, learner: StepwiseLearner, last: int) -> None:
        self._make_room()
        experience = self.experience()
        if self.plan is None:
            self.policy = next_policy(experience, self.learner_rng)
            memory, stream = learner.new_memory(experience), new_stream(self.learner_rng)
        else:
            memory, stream = self.plan.memory
            memory = learner.updated(memory, experience)
        loop, began = kernels.plan_and_play(type(learner).kernel), time.perf_counter()
        done = loop(
            self.arrays,
            self.counts,
            self.values,
            memory,
            stream,
            self.policy,
            self.replan_code,
            self.chance,
            self.log,
            last,
            self._work_limit,
        )
        self.plan = checked_plan(self.policy, memory.values.reshape(1, -1), (memory, stream))
        taken = time.perf_counter() - began
        self._work_limit = max(FIRST_WORK, int(done * min(4.0, SLICE_SECONDS / max(taken, 1e-6))))

    def count_before(self, pair: int, target: int, label: Label, count: int) -> None:
        first, last = self.arrays.indptr[pair : pair + 2]
        edges = self.arrays.edges[first:last]
        sets = self.task.mdp.label_sets
        places = [e for e in np.flatnonzero(edges["target"] == target) if sets[edges["label"][e]] == label]
        if not places:
            o, a = divmod(pair, self.task.num_actions)
            step = f"({o}, {a}, {target % self.task.num_observations}) with the label {format_label(label)}"
            raise ModelError(f"the data has the transition {step}, which is impossible in {self.task.name!r}")
        place = kernels.first_sight(self.arrays, self.counts, pair, first + places[0])
        self.counts.transitions[place]["count"] = count

    def start_value(self, values: NDArray[np.float64]) -> float:
        total = 0.0
        for _, prob, o, m in self._starts:
            total += prob * float(values[m, o])
        return total


_product_of = cached_per_object(product_task)


def _row_places(extra: Records) -> Records:
    """Return extra rows whose places in the learner's tables are still to be numbered."""
    places = np.zeros(len(extra), dtype=kernels.ROW_PLACE)
    places["label"], places["target"], places["place"] = extra["label"], extra["target"], -1
    return places


@cached_per_object
def _sampling_arrays(task: Task) -> kernels.WorldArrays:
    """Return a task as running sums to sample from; no edge has happened yet."""
    mdp, table = task.mdp, task.table
    starts = np.zeros(len(task.starts), dtype=kernels.START)
    probs = mdp.start_probs[task.starts]
    starts["o"], starts["m"], starts["prob"], starts["sum"] = task.starts, table.initial, probs, np.cumsum(probs)
    edges = np.zeros(len(mdp.probs), dtype=kernels.EDGE)
    edges["target"], edges["label"], edges["place"] = mdp.targets, mdp.labels, -1
    edges["row"] = task.model.arrays.rows
    edges["sum"] = running_sums(mdp.probs, mdp.indptr)
    moves = np.zeros(len(table.targets), dtype=kernels.MOVE)
    moves["target"], moves["sum"] = table.targets, table.sums
    machine = (table.indptr, moves, table.law_indptr, table.laws)
    ends = (task.model.exits, step_weights(task.max_steps, task.discount), task.spec.is_done)
    nothing = np.zeros(0)
    best = kernels.BestArrays(np.zeros((0, 0, 0)), nothing, nothing, nothing, nothing, nothing)
    return kernels.WorldArrays(
        starts, mdp.indptr.copy(), edges, _row_places(task.model.arrays.extra_rows), *machine, *ends, best
    )


@cached_per_object
def _best_arrays(task: Task) -> kernels.BestArrays:
    """Return what the loss of a step is computed from."""
    values, discount = np.ascontiguousarray(solve(task.model).values.swapaxes(1, 2)), np.array([task.discount])
    size = values[1:].size * task.num_actions
    known = np.full(size if size <= MOST_LOSSES else 0, -1.0)
    return kernels.BestArrays(values, discount, task.mdp.probs, task.table.probs, task.table.rewards, known)


@cached_per_object
def _value_arrays(task: Task) -> ValueArrays:
    """Return what the exact value of a policy is computed from."""
    states, until = reachable_states(task)
    places = np.zeros(len(states), dtype=PRODUCT_STATE)
    places["o"], places["m"] = np.divmod(states, task.num_machine_states)
    model, width = task.model, padded_width(task.num_machine_states)
    discounts = np.where(np.arange(task.max_steps) > 0, task.discount, 1.0)
    layers, exits = task.table.layers(width), padded_exits(model.exits, width)
    return ValueArrays(model.arrays, layers, exits, places, until, discounts, np.zeros((2, model.num_rows * width)))
