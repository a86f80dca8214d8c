"""Play in a task: many episodes and plans in one compiled call, with the exact value of every policy."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numba import config, typeof, types
from numpy.typing import NDArray

from praemia.kernels import exact_planning as kernels
from praemia.kernels.compiled_plans import plan_signature
from praemia.kernels.compiling import compiled
from praemia.kernels.counts import NUM_SIZES, CountArrays
from praemia.kernels.exact_planning import summed_up
from praemia.kernels.play import OutcomeArrays, play_alone
from praemia.kernels.stretch import IS_DUE, NUM_PLANS, NUM_PLAYED, WORK, policy_value_alone, stretch
from praemia.learners.base import Experience, Learner, Recent
from praemia.learners.compiled import CompiledLearner
from praemia.limits import require_memory
from praemia.planning.exact import start_value
from praemia.simulation.loop import SLICE_SECONDS, World, longer, no_moves_seen, refuse_nan
from praemia.simulation.run import generators
from praemia.simulation.task_arrays import outcome_arrays, value_arrays, world_arrays
from praemia.tasks.task import Task, TaskSpec

FIRST_WORK = 1 << 18  # sums in the first stretch; later ones take as many as a slice of time allows
NO_VALUES = np.empty((0, 1, 1))


class TaskWorld(World):
    """A learner at play in a task. With ``valued=False`` the policies are played and not valued."""

    def __init__(
        self, task: Task, learner: Learner, num_episodes: int, seed: tuple[int, ...], *, valued: bool = True
    ) -> None:
        self.world_rng, learner_rng = generators(seed)
        super().__init__(learner, task.spec, num_episodes, learner_rng)
        self.task, self.valued = task, valued
        self.arrays = world_arrays(task)
        self.outcomes = outcome_arrays(task, learner, self.known)
        self.counts = empty_counts(self.outcomes, self.spec, task, learner)
        self.values = value_arrays(task, valued)
        kept = task.horizon if learner.uses_recent else 0
        self._recent = Recent(np.zeros((kept, 6), dtype=np.int64), np.zeros(kept))
        self._work_limit = FIRST_WORK
        self._kernels: tuple[Any, Any] | None = None

    def experience(self) -> Experience:
        shown = super().experience()
        object.__setattr__(shown, "truth", self.task if self.learner.privileged else None)
        return shown

    def recent(self) -> Recent | None:
        return self._recent if self.played and self.learner.uses_recent else None

    def play(self, most: int) -> None:
        first, last = self.played, self.played + most
        policy = self.policy if self.policy.ndim == 3 else summed_up(self.policy)
        began, size = time.perf_counter(), 1 + (1 << 20) // self.task.horizon
        while self.played < last and not self.is_due:
            first = self.played
            count, due = play_alone(
                self.arrays,
                self.outcomes,
                self.counts,
                policy,
                self.rule,
                self.world_rng,
                self.log.returns[first : min(last, first + size)],
                self._recent.steps,
                self._recent.rewards,
            )
            self.log.state[NUM_PLAYED] += count
            self.log.state[IS_DUE] = due
            if time.perf_counter() - began >= SLICE_SECONDS:
                return

    def advance(self, most: int) -> None:
        """Plan and play on: many plans in one compiled call, if they are compiled and ``most`` reaches the end."""
        learner, to_the_end = self.learner, self.played + most == len(self.log.returns)
        if isinstance(learner, CompiledLearner) and learner.plans_compiled and to_the_end:
            self._stretch()
        else:
            super().advance(most)

    def _stretch(self) -> None:
        work, log = self.workspace(), self.log
        if log.state[NUM_PLANS] == len(log.plan_episodes):
            self.log = log = longer(log)
        policy = self.policy.reshape(self._learner_shape)
        if self._kernels is None:
            plan = work.kernel(policy, self.learner_rng)
            self._kernels = plan, _stretch_kernel(self, work, policy)
        plan, kernel = self._kernels
        began, before = time.perf_counter(), int(log.state[WORK])
        kernel(plan, *_stretch_arguments(self, work, policy))
        taken, done = time.perf_counter() - began, int(log.state[WORK]) - before
        refuse_nan(self.learner, log.optimistic_values[: log.state[NUM_PLANS]])
        self._work_limit = max(FIRST_WORK, int(done * min(4.0, SLICE_SECONDS / max(taken, 1e-6))))

    def policy_value(self) -> float:
        if not self.valued:
            return float("nan")
        if self.policy.ndim == 3:
            return float(policy_value_alone(self.values, self.policy))
        task, tables = self.task, self.values.tables
        tables.fill(0.0)
        layers = task.table.layers(tables.shape[2])
        first = kernels.evaluate_randomised(task.arrays, layers, task.num_actions, tables, NO_VALUES, self.policy)
        return start_value(task, first)

    def start_value(self, values: NDArray[np.float64]) -> float:
        return start_value(self.task, values)


def empty_counts(outcomes: OutcomeArrays, spec: TaskSpec, task: Task, learner: Learner) -> CountArrays:
    """Return counts of nothing, with room for all that can happen."""
    num_states = spec.num_observations
    num_pairs, num_outcomes = num_states * task.num_actions, len(outcomes.successors)
    step_rows = int(task.horizon) + 1 if learner.uses_steps else 0
    require_memory(4 * step_rows * num_states + 40 * num_pairs + 24 * num_outcomes, f"counting in {task!r}")
    return CountArrays(
        visits=np.zeros(num_pairs, dtype=np.int64),
        visits_at_plan=np.zeros(num_pairs, dtype=np.int64),
        first=outcomes.indptr[:-1].copy(),
        distinct=np.zeros(num_pairs, dtype=np.int32),
        slots=np.full(num_pairs, -1, dtype=np.int32),
        counts=np.zeros(num_outcomes),
        rows=np.zeros(num_outcomes, dtype=np.uint32),
        successors=np.zeros(num_outcomes, dtype=np.int32),
        labels=np.zeros(num_outcomes, dtype=np.int32),
        steps=np.zeros((step_rows, num_states), dtype=np.int32),
        met=np.zeros(num_states, dtype=np.int32),
        is_met=np.zeros(num_states, dtype=np.int32),
        row_labels=np.zeros(len(outcomes.row_labels), dtype=np.int32),
        row_targets=np.zeros(len(outcomes.row_labels), dtype=np.int32),
        sizes=np.zeros(NUM_SIZES, dtype=np.int64),
        machine=no_moves_seen(spec, learner),
    )


def _stretch_arguments(world: TaskWorld, work: Any, policy: NDArray[Any]) -> tuple[Any, ...]:
    return (
        world.arrays,
        world.outcomes,
        *work.data(world.learner_rng),
        policy,
        world.values,
        world.log,
        world.rule,
        world.world_rng,
        world._work_limit,
    )


_stretches: dict[Any, Any] = {}


def _stretch_kernel(world: TaskWorld, work: Any, policy: NDArray[Any]) -> Any:
    """Compile the loop once for each type of policy: it takes any plan as an argument."""
    if policy.dtype not in _stretches:
        arguments = _stretch_arguments(world, work, policy)
        signature = None
        if not config.DISABLE_JIT:  # type: ignore[attr-defined]
            plan = types.FunctionType(plan_signature((work.data(world.learner_rng), policy)))
            signature = types.none(plan, *map(typeof, arguments))
        _stretches[policy.dtype] = compiled(signature)(stretch)
    return _stretches[policy.dtype]
