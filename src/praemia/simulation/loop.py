"""Plan, play until a plan is due, plan again: the one loop, for tasks and for black boxes.

A ``World`` is what a learner plays in. It counts, knows when a plan is due, and plays for a slice of time at most, so
that the loop can serve Ctrl-C and progress in between.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.errors import ModelError, PlanError
from praemia.kernels.compiling import plain
from praemia.kernels.counts import ask_for_plan
from praemia.kernels.play import PLAN, PROGRESS, LogArrays, count_noted, is_to_be_noted
from praemia.kernels.records import CountArrays, MachineCounts, Records
from praemia.learners.base import Experience, Learner, LearnerPlan
from praemia.learners.compiled import CompiledLearner
from praemia.learners.workspace import Workspace, learned_labels
from praemia.limits import require_memory
from praemia.planning.policy import validate_policy
from praemia.simulation.interrupts import interrupts_held
from praemia.simulation.run import generators
from praemia.tasks.spec import TaskSpec
from praemia.tasks.task import Task

SLICE_SECONDS = 0.1  # a world returns to the loop about this often


class World(ABC):
    """Where a learner plays. A subclass counts in ``counts``, and says in ``log.progress`` when a plan is due.

    Attributes
    ----------
    spec : what the learner may know. layout : how what it plans from is counted.
    num_episodes : K in the learner's formulas; the episodes to be played, unless ``num_steps`` limits their steps.
    policy : the policy being played, as kernels take it: [H, O, M], or [H, O, M, A] of action probabilities.
    plan : the plan being played, of a learner that plans in Python. work : what a compiled plan works with.
    log : the plans so far, the returns, and how far the run has got.
    """

    spec: TaskSpec
    counts: CountArrays
    truth: Task | None = None  # for learners that are told it

    def __init__(
        self, learner: Learner, spec: TaskSpec, num_episodes: int | None, seed: tuple[int, ...], num_steps: int | None
    ) -> None:
        self.learner, self.spec = learner, spec
        self.world_rng, self.learner_rng = generators(seed)
        if num_steps is None:
            assert num_episodes is not None
            self.num_episodes, self.log = num_episodes, new_log(num_episodes, num_episodes * spec.horizon)
        else:
            self.num_episodes, self.log = -(-num_steps // spec.horizon), new_log(num_steps, num_steps)
        self.layout = learner.layout(self.spec, self.num_episodes)
        self.replan_code = learner.replan_rule.code
        self.log.progress["at_once"], self.log.progress["epsilon"] = learner.replan_rule.at_once, learner.random_share
        self.plan: LearnerPlan | None = None
        self._own_values: NDArray[np.float64] | None = None  # the learner's V_0[M, O] of its last plan
        self._value: float | None = None  # the exact value of the policy, once it is computed
        self.work: Workspace | None = None
        self.policy: NDArray[Any] = np.empty((0, 0, 0), dtype=np.int8)

    @property
    def played(self) -> int:
        return int(self.log.progress[0]["played"])

    @property
    def steps_played(self) -> int:
        return int(self.log.progress[0]["steps"])

    @property
    def is_spent(self) -> bool:
        """Whether the budget of steps is spent: no episode begins any more."""
        return self.steps_played >= int(self.log.progress[0]["budget"])

    @property
    def num_plans(self) -> int:
        return int(self.log.progress[0]["plans"])

    @property
    def is_due(self) -> bool:
        return bool(self.log.progress[0]["is_due"])

    @property
    def plans_compiled(self) -> bool:
        """Whether kernels make the learner's plans."""
        return isinstance(self.learner, CompiledLearner) and self.learner.plans_compiled

    @abstractmethod
    def play(self, most: int) -> None:
        """Play ``policy`` until a plan is due, for a slice of time or ``most`` episodes at most."""

    def policy_value(self) -> float:
        """Return the exact value of the policy being played, NaN where it is not known."""
        return math.nan

    def start_value(self, values: NDArray[np.float64]) -> float:
        """Return the value at the start, from V_0[O, M]; NaN where the start is not known."""
        return math.nan

    def advance(self, most: int, on_plan: Callable[[], None] | None) -> None:
        """Plan if a plan is due, and play on: for a slice of time or ``most`` episodes at most."""
        if self.is_due:
            self.replan()
            if on_plan is not None:
                on_plan()
        self.play(most)

    def empty_counts(self, first: NDArray[np.int64], num_rows: int, num_links: int) -> CountArrays:
        """Return counts of nothing; pair i has room for the successors first[i] … first[i + 1] − 1."""
        spec, learner = self.spec, self.learner
        num_steps = spec.horizon + 1 if self.layout.counts_steps or learner.uses_steps else 0
        links, recent = num_links if self.layout.repairs else 0, spec.horizon if learner.uses_recent else 0
        needed = 4 * num_steps * spec.num_observations + 40 * len(first) + 32 * int(first[-1]) + 8 * links
        require_memory(needed, "the counts of a run")
        sizes = (spec.num_observations, num_rows, num_steps)
        return CountArrays.empty(first, *sizes, self.empty_machine_counts(), recent, links)

    def empty_machine_counts(self) -> MachineCounts:
        """Return the counts of the machine's moves before any; empty where it is known."""
        spec = self.spec
        if not self.learner.learn_machine:
            return MachineCounts.empty(0, 0)
        num_labels, num_states = len(learned_labels(spec, self.layout)), spec.num_machine_states
        require_memory(24 * num_labels * num_states**2, "what is learned of the machine")
        return MachineCounts.empty(num_labels, num_states)

    def experience(self) -> Experience:
        """Return what the learner may look at."""
        truth = self.truth if self.learner.privileged else None
        return Experience(self.spec, self.num_episodes, self.played, self.counts, truth, self.layout)

    def workspace(self) -> Workspace:
        """Return what a compiled plan works with, with room for what was counted and the labels that are known."""
        assert isinstance(self.learner, CompiledLearner)
        self.work = self.learner.workspace(self.experience(), self.work, self.learner_rng)
        self.policy = self.work.policy
        return self.work

    def replan(self) -> None:
        """Have the learner plan, check what it returned, and note it."""
        progress, total = self.log.progress[0], self.counts.totals[0]
        plain(ask_for_plan)(self.counts, self.replan_code, int(progress["step"]))
        if not total["is_repair"]:
            self.counts.pairs["at_plan"] = self.counts.pairs["visits"]
        if self.plans_compiled:
            work = self.workspace()
            work.plan(self.learner_rng)
            self._own_values, self._value = work.values, None
            refuse_nan(self.learner, work.values)
        else:
            self._plan_in_python()
        progress["is_due"] = 0
        if not total["is_repair"]:
            progress["is_new"] = 1
        self.note_plan()

    def note_plan(self) -> None:
        """Note the plan that an episode starts with, unless it is noted already, or an episode is under way."""
        progress = self.log.progress[0]
        if not plain(is_to_be_noted)(progress, self.replan_code):
            return
        number = self.num_plans
        if number == len(self.log.plans):
            self.log = grow_log(self.log)
        if self._value is None:
            self._value = self.policy_value()
        optimistic = np.nan if self._own_values is None else self.start_value(self._own_values.T)
        self.log.plans[number] = (self.played, self._value, optimistic)
        plain(count_noted)(progress)

    def _plan_in_python(self) -> None:
        """Ask the learner for a plan."""
        plan = self.learner.plan(self.experience(), self.plan, self.learner_rng)
        table = getattr(plan, "policy", None)
        if plan is self.plan and isinstance(table, np.ndarray) and not table.flags.writeable:
            return  # it was checked, and cannot have changed
        policy = checked_policy(plan, self.learner, self.spec)
        self.plan, self._own_values = plan, plan.values
        if not np.array_equal(policy, self.policy):
            self.policy, self._value = policy.copy(), None


def run_loop(
    world: World,
    until: int,
    *,
    on_plan: Callable[[], None] | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> None:
    """Plan and play until ``until`` episodes have been played, or the budget of steps is spent.

    ``on_plan`` is called after each plan, before it is played.
    """
    with interrupts_held() as raise_interrupt:
        while world.played < until and not world.is_spent:
            world.advance(until - world.played, on_plan)
            raise_interrupt()
            if on_progress is not None:
                on_progress(world.played)


def spec_for(spec: TaskSpec, learner: Learner) -> TaskSpec:
    """Return what a learner is told: without the machine's chances and rewards, if it is to learn them."""
    return spec.without_rules(moves_known=learner.moves_known) if learner.learn_machine else spec


def refuse_nan(learner: Learner, values: NDArray[np.float64]) -> None:
    """Refuse a compiled plan whose values are NaN: its actions mean nothing."""
    if np.isnan(values).any():
        raise PlanError(f"learner {learner.name!r} made a plan whose values are NaN; check what worth returns")


def checked_policy(plan: object, learner: Learner, spec: TaskSpec) -> NDArray[Any]:
    """Check a learner's plan; return its policy as kernels take it."""
    who = f"learner {learner.name!r}"
    if not isinstance(plan, LearnerPlan):
        raise PlanError(f"{who} returned {type(plan).__name__} from plan(); expected a LearnerPlan")
    try:
        if plan.values is not None:
            _check_values(plan.values, spec)
        return validate_policy(spec, plan.policy)
    except ModelError as error:
        raise PlanError(f"{who} returned {error}") from None


def _check_values(values: object, spec: TaskSpec) -> None:
    expected = (spec.num_machine_states, spec.num_observations)
    if not isinstance(values, np.ndarray) or values.shape != expected:
        found = (
            f"values of shape {values.shape}"
            if isinstance(values, np.ndarray)
            else f"a {type(values).__name__} as values"
        )
        raise ModelError(f"{found}; expected an array of shape {expected} (machine states, observations)")
    if not np.issubdtype(values.dtype, np.floating):
        raise ModelError(f"values of type {values.dtype}; expected float64")
    if np.isnan(values).any():
        raise ModelError("values with NaN among them; expected numbers")


FIRST_PLANS = 256


def new_log(most_episodes: int, most_steps: int) -> LogArrays:
    """Return the log of a new run, in which a plan is due."""
    progress = np.zeros(1, dtype=PROGRESS)
    progress["is_due"], progress["budget"] = 1, most_steps
    per_episode = np.empty(most_episodes), np.empty(most_episodes, dtype=np.int64)
    return LogArrays(_room_for_plans(FIRST_PLANS), *per_episode, np.empty(0), progress)


def _room_for_plans(size: int) -> Records:
    plans = np.zeros(size, dtype=PLAN)
    plans["value"], plans["optimistic"] = np.nan, np.nan
    return plans


def grow_log(log: LogArrays) -> LogArrays:
    """Return the log with room for twice as many plans."""
    return log._replace(plans=np.concatenate((log.plans, _room_for_plans(len(log.plans)))))
