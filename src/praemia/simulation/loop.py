"""Plan, play until a plan is due, plan again: the one loop, for tasks and for black boxes.

A ``World`` is what a learner plays in. It counts, knows when a plan is due, and plays for a slice of time at most, so
that the loop can serve Ctrl-C and progress in between. Python may raise KeyboardInterrupt anywhere, also while a
compiled function unpacks its arguments, where it can crash the process: so Ctrl-C is only noted while a learner plays,
and raised between two slices.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from praemia._support.limits import require_memory
from praemia.errors import ModelError, PlanError
from praemia.kernels.counts import EPISODES, IS_REPAIR, PLANNED_EPISODES, SLOTS, Counts, is_repair
from praemia.kernels.play import PLAN, PROGRESS, LogArrays
from praemia.kernels.records import Records
from praemia.learners.base import Learner, LearnerPlan
from praemia.learners.experience import Experience
from praemia.machines.labels import Label
from praemia.planning.exact import solve
from praemia.policies.arrays import validate_policy
from praemia.simulation.run import generators
from praemia.tasks.extremes import extremes
from praemia.tasks.model import Model
from praemia.tasks.spec import TaskSpec
from praemia.tasks.task import Task

if TYPE_CHECKING:
    from praemia.exploration.dataset import Dataset

SLICE_SECONDS = 0.1  # a world returns to the loop about this often
FIRST_PLANS = 256
NEVER = -(1 << 62)  # a code by which no plan is due


class World(ABC):
    """Where a learner plays. A subclass counts in ``counts``, and says in ``log.progress`` when a plan is due.

    Attributes
    ----------
    spec : what the learner may know.
    num_episodes : K in the learner's formulas; the episodes to be played, unless ``num_steps`` limits their steps.
    plan, policy : the plan being played, and its policy as kernels take it: [H, O, M], or [H, O, M, A] of action
        probabilities.
    log : the plans so far, the returns, and how far the run has got.
    """

    num_machine_states: int  # of the task; in the world of a learner that sees the product there is one
    truth: Task | None = None  # for learners that are given it
    episodes_before = 0  # those of the data that a run began with

    def __init__(
        self, learner: Learner, spec: TaskSpec, num_episodes: int | None, seed: tuple[int, ...], num_steps: int | None
    ) -> None:
        self.learner, self.spec, self.replan_code = learner, spec, learner.replan_rule.code
        self.world_rng, self.learner_rng = generators(seed)
        if num_steps is None:
            assert num_episodes is not None
            self.num_episodes, self.log = num_episodes, new_log(num_episodes, num_episodes * spec.horizon)
        else:
            self.num_episodes, self.log = -(-num_steps // spec.horizon), new_log(num_steps, num_steps)
        self.progress = self.log.progress[0]
        self.progress["at_once"], self.progress["epsilon"] = learner.replan_rule.at_once, learner.random_share
        self.plan: LearnerPlan | None = None
        self.policy: NDArray[Any] = np.empty((0, 0, 0), dtype=np.int8)
        self.counts = self._empty_counts()
        self._experience: Experience | None = None  # made once, until arrays have to grow

    def _empty_counts(self) -> Counts:
        spec, learner = self.spec, self.learner
        num_labels = len(spec.label_sets) if learner.learn_machine else 0
        steps = spec.horizon + 1 if learner.uses_steps else 0
        num_pairs = spec.num_observations * spec.num_actions
        machine = 24 * num_labels * spec.num_machine_states**2
        require_memory(4 * steps * spec.num_observations + 24 * num_pairs + machine, "the counts of a run")
        sizes = (spec.num_observations, spec.num_actions, spec.horizon)
        return Counts.empty(
            sizes, (num_labels, spec.num_machine_states), steps=learner.uses_steps, recent=learner.uses_recent
        )

    @property
    def played(self) -> int:
        return int(self.progress["played"])

    @property
    def steps_played(self) -> int:
        return int(self.progress["steps"])

    @property
    def is_spent(self) -> bool:
        """Whether the budget of steps is spent: no episode begins any more."""
        return bool(self.progress["steps"] >= self.progress["budget"])

    @property
    def num_plans(self) -> int:
        return int(self.progress["plans"])

    @property
    def is_due(self) -> bool:
        return bool(self.progress["is_due"])

    @abstractmethod
    def play(self, most: int) -> None:
        """Play ``policy`` until a plan is due, for a slice of time or ``most`` episodes at most."""

    @abstractmethod
    def count_before(self, pair: int, target: int, label: Label, count: int) -> None:
        """Count a transition of the data that a run begins with; the target is O + o' where it ended the episode."""

    def start_value(self, values: NDArray[np.float64]) -> float:
        """Return the value at the start, from V_0[M, O]; NaN where the start is not known."""
        return math.nan

    def advance(self, most: int, on_plan: Callable[[], None] | None) -> None:
        """Plan when a plan is due, and play: for a slice of time or ``most`` episodes at most."""
        last, until = self.played + most, time.perf_counter() + SLICE_SECONDS
        while self.played < last and not self.is_spent:
            if self.is_due:
                self.replan()
                if on_plan is not None:
                    on_plan()
            self.play(last - self.played)
            if time.perf_counter() >= until:
                break

    def experience(self) -> Experience:
        """Return what the learner may look at."""
        first = self._experience
        if first is None or first._counts is not self.counts or first.spec is not self.spec:
            num_episodes = self.num_episodes + self.episodes_before
            first = self._experience = Experience(self.spec, num_episodes, 0, self.counts, self.truth)
        return first._later(self.played + self.episodes_before, self.policy if self.policy.size else None)

    def replan(self) -> None:
        """Have the learner plan, check what it returned, and note it."""
        totals = self.counts.totals
        totals[IS_REPAIR] = is_repair(totals, self.replan_code, self.progress["step"])
        before, plan = self.plan, self.learner.plan(self.experience(), self.plan, self.learner_rng)
        if plan is None or plan is not before or plan.policy.flags.writeable:  # else it was checked before
            self.policy, self.plan = checked_policy(plan, self.learner, self.spec), plan
        self.progress["is_due"] = 0
        if not totals[IS_REPAIR]:  # nor has a learner made it anew
            totals[PLANNED_EPISODES] = totals[EPISODES]
            self.counts.at_plan[:] = self.counts.visits
            self.progress["is_new"] = 1
            if self.num_plans == len(self.log.plans):
                self.log = grow_log(self.log)
            own_value = math.nan if plan.values is None else self.start_value(plan.values)
            self.log.plans[self.num_plans]["optimistic"] = own_value

    def begin_with(self, data: Dataset) -> None:
        """Count what the data has, before a run."""
        self.counts = counts = self.counts.with_room(len(data.counts) + self.spec.horizon)
        rows = (data.pairs, data.targets, data.labels, data.counts)
        for pair, target, number, count in zip(*(column.tolist() for column in rows), strict=True):
            self.count_before(pair, target, data.label_sets[number], count)
        counts.visits[:] = data.visits.ravel()
        visited = np.flatnonzero(counts.visits)
        counts.slots[visited] = np.arange(len(visited))
        counts.totals[SLOTS], counts.totals[EPISODES] = len(visited), data.num_episodes
        counts.is_met[data.first_counts > 0] = True
        counts.starts[:] = data.first_counts
        self.episodes_before = data.num_episodes

    def learned_policy(self) -> NDArray[Any]:
        """Return the policy learned so far, [H, O, M]: the best one in p̂, without a bonus.

        A plan that explores is not what one would use: it tries what is uncertain. Where there is no estimate, or the
        machine is learned too, it is the last plan.
        """
        if not self.learner.has_estimate or self.learner.learn_machine:
            return self.policy
        return np.ascontiguousarray(solve(self.estimated_model(), keep_values=False).policy.swapaxes(1, 2))

    def estimated_model(self) -> Model:
        """Return p̂ as a model: a pair never visited leaves by the exit UNKNOWN, worth the least that can be earned."""
        spec, seen, size = self.spec, self.experience().transitions, self.spec.num_observations
        least = None
        if not self.counts.visits.all():
            # In a black box on any label; a table of all, for hundreds of machine states, would take longer to make.
            least = extremes(spec, spec.table if spec.unseen_labels == "listed" else None, sign=-1.0)
        pairs, targets = seen.observations * spec.num_actions + seen.actions, seen.successors + size * seen.ends
        starts = np.full(size, 1.0 / size)  # it does not matter: the policy is best from everywhere
        return Model.of_estimate(spec, pairs, targets, seen.counts, seen.labels, spec.table, starts, least)

    def shown(self, policy: NDArray[Any]) -> NDArray[Any]:
        """Return a policy of this world, [H, O, M, …] or on the product [H, O·M, 1, …], as [H, M, O, …] for users."""
        return policy.reshape(len(policy), -1, self.num_machine_states, *policy.shape[3:]).swapaxes(1, 2)


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


def play_policy(
    world: World, policy: NDArray[Any], until: int, on_progress: Callable[[int], None] | None = None
) -> None:
    """Play a policy as kernels take it until ``until`` episodes have been played in a world, without any plan."""
    world.policy, world.replan_code, world.progress["is_due"] = policy, NEVER, 0
    run_loop(world, until, on_progress=on_progress)


@contextmanager
def interrupts_held() -> Iterator[Callable[[], None]]:
    """Hold Ctrl-C back; yield a function that raises it if it came. Only the main thread ever receives it."""
    came: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        if came:  # the user insists
            raise KeyboardInterrupt
        came.append(number)

    def raise_if_it_came() -> None:
        if came:
            came.clear()
            raise KeyboardInterrupt

    usual = signal.getsignal(signal.SIGINT)
    in_charge = threading.current_thread() is threading.main_thread() and usual is signal.default_int_handler
    if in_charge:
        signal.signal(signal.SIGINT, note)
    try:
        yield raise_if_it_came
    finally:
        if in_charge:
            signal.signal(signal.SIGINT, usual)
    raise_if_it_came()


def spec_for(spec: TaskSpec, learner: Learner) -> TaskSpec:
    """Return what a learner may know: without the machine's probabilities and rewards, if it is to learn them."""
    return spec.without_rules(moves_known=learner.moves_known) if learner.learn_machine else spec


def checked_policy(plan: object, learner: Learner, spec: TaskSpec) -> NDArray[Any]:
    """Check a learner's plan; return its policy as kernels take it."""
    if not isinstance(plan, LearnerPlan):
        raise PlanError(f"learner {learner.name!r} returned {type(plan).__name__} from plan(); expected a LearnerPlan")
    if plan._checked is not None and plan._checked[0] is plan.policy:
        return plan._checked[1]  # type: ignore[no-any-return]
    try:
        if plan.values is not None:
            _check_values(plan.values, spec)
        return validate_policy(spec, plan.policy).copy()  # the learner may change its own
    except ModelError as error:
        raise PlanError(f"learner {learner.name!r} returned {error}") from None


def _check_values(values: object, spec: TaskSpec) -> None:
    expected = (spec.num_machine_states, spec.num_observations)
    if not isinstance(values, np.ndarray) or values.shape != expected:
        found = f"of shape {values.shape}" if isinstance(values, np.ndarray) else f"that are a {type(values).__name__}"
        raise ModelError(f"values {found}; expected an array of shape {expected} (machine states, observations)")
    if not np.issubdtype(values.dtype, np.floating) or np.isnan(values).any():
        raise ModelError(f"values of type {values.dtype}, or with NaN among them; expected numbers, float64")


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
