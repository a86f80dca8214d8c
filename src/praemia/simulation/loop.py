"""Plan, play until a plan is due, plan again: the one loop, for tasks and for black boxes.

A ``World`` is what a learner plays in. It counts, knows when a plan is due, and plays for a slice of time at most, so
that the loop can serve Ctrl-C and progress in between.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.errors import ModelError, PlanError
from praemia.kernels.counts import (
    AT_PLAN,
    DOUBLING,
    EPISODE,
    EPOCH,
    GROWTH,
    NUM_EPISODES,
    CountArrays,
    MachineCounts,
    nothing_to_learn,
)
from praemia.kernels.stretch import IS_DUE, NUM_PLANS, NUM_PLAYED, LogArrays
from praemia.learners.base import Experience, Learner, LearnerPlan, Recent
from praemia.learners.compiled import CompiledLearner, first_policy
from praemia.learners.workspace import Workspace, learned_labels
from praemia.planning.exact import inner_policy
from praemia.simulation.interrupts import interrupts_held
from praemia.tasks.task import TaskSpec
from praemia.tasks.unknown_chances import UnknownChancesSpec, machine_counts

SLICE_SECONDS = 0.1  # a world returns to the loop about this often
RULES = {"doubling": DOUBLING, "epoch": EPOCH, "growth": GROWTH, "episode": EPISODE}


class World(ABC):
    """Where a learner plays. A subclass counts in ``counts`` and sets ``is_due``.

    Attributes
    ----------
    known : what any learner may know; spec : the same as this one sees it, the product's if it learns there.
    policy : the policy being played, as kernels take it: [H, O, M], or [H, O, M, A] of action probabilities.
    plan : the plan being played, of a learner that plans in Python. work : what a compiled plan works with.
    log : the plans so far, the returns, and how far the run has got.
    """

    known: TaskSpec
    counts: CountArrays

    def __init__(self, learner: Learner, known: TaskSpec, num_episodes: int, rng: np.random.Generator) -> None:
        self.learner, self.learner_rng, self.known = learner, rng, as_told(known, learner)
        self.rule = RULES[learner.replan]
        self.log = new_log(num_episodes)
        self.plan: LearnerPlan | None = None
        self.work: Workspace | None = None
        self.policy: NDArray[Any] = np.empty((0, 0, 0), dtype=np.int8)

    @property
    def spec(self) -> TaskSpec:
        return self.known.on_product if self.learner.on_product else self.known

    @property
    def played(self) -> int:
        return int(self.log.state[NUM_PLAYED])

    @property
    def is_due(self) -> bool:
        return bool(self.log.state[IS_DUE])

    @abstractmethod
    def play(self, most: int) -> None:
        """Play ``policy`` until a plan is due, for a slice of time or ``most`` episodes at most."""

    @abstractmethod
    def recent(self) -> Recent | None:
        """Return the last episode, for learners that learn from it."""

    @abstractmethod
    def policy_value(self) -> float:
        """Return the exact value of the policy being played, NaN where it is not known."""

    @abstractmethod
    def start_value(self, values: NDArray[np.float64]) -> float:
        """Return the value at the start, from V_0[O, M]; NaN where the start is not known."""

    def advance(self, most: int) -> None:
        """Plan if a plan is due, and play on: for a slice of time or ``most`` episodes at most."""
        if self.is_due:
            self.replan()
        self.play(most)

    def experience(self) -> Experience:
        """Return what the learner may look at."""
        return Experience(self.spec, len(self.log.returns), self.played, self.counts, self.recent())

    def workspace(self) -> Workspace:
        """Return what a compiled plan works with, with room for what was counted and the labels that are known."""
        assert isinstance(self.learner, CompiledLearner)
        if self.work is None:
            self.work = Workspace(self.learner, self.spec, len(self.log.returns), self.counts)
            self.policy = first_policy(self.known, self.learner_rng)
        elif self.work.spec is not self.spec:
            self.work = self.work.again(self.spec)
        self.work.fit(self.counts)
        return self.work

    def replan(self) -> None:
        """Have the learner plan, check what it returned, and note it."""
        self.counts.visits_at_plan[:] = self.counts.visits
        self.counts.sizes[AT_PLAN] = self.counts.sizes[NUM_EPISODES]
        number = int(self.log.state[NUM_PLANS])
        if number == len(self.log.plan_episodes):
            self.log = longer(self.log)
        if isinstance(self.learner, CompiledLearner) and self.learner.plans_compiled:
            work = self.workspace()
            work.plan(self.counts, self.policy.reshape(self._learner_shape), self.learner_rng)
            values, is_new = work.values, True
            refuse_nan(self.learner, values)
        else:
            is_new = self._plan_in_python()
            assert self.plan is not None
            values = self.plan.values  # type: ignore[assignment]
        self.log.plan_episodes[number] = self.played
        self.log.plan_values[number] = self.policy_value() if is_new else self.log.plan_values[number - 1]
        shape = (self.known.num_observations, self.known.num_machine_states)
        self.log.optimistic_values[number] = np.nan if values is None else self.start_value(values.T.reshape(shape))
        self.log.state[NUM_PLANS], self.log.state[IS_DUE] = number + 1, 0

    @property
    def _learner_shape(self) -> tuple[int, int, int]:
        return self.spec.horizon, self.spec.num_observations, self.spec.num_machine_states

    def _plan_in_python(self) -> bool:
        """Ask the learner for a plan; tell whether its policy is a new one."""
        before, self.plan = self.plan, self.learner.plan(self.experience(), self.plan, self.learner_rng)
        inner = checked_policy(self.plan, before, self.learner, self.spec)
        if inner is None:
            return False
        shape = (self.known.horizon, self.known.num_observations, self.known.num_machine_states)
        self.policy = inner.reshape(*shape, *inner.shape[3:])
        return True

    @property
    def shown_policy(self) -> NDArray[Any]:
        """The policy being played as users see it, [H, M, O] or [H, M, O, A]."""
        return self.policy.swapaxes(1, 2)


def run_loop(
    world: World,
    until: int,
    *,
    watch: Callable[[], bool] | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> None:
    """Plan and play until ``until`` episodes have been played.

    ``watch`` is called after each plan, before it is played, and returns whether to go on.
    """
    with interrupts_held() as raise_interrupt:
        while world.played < until:
            if watch is None:
                world.advance(until - world.played)
            else:
                if world.is_due:
                    world.replan()
                    if not watch():
                        return
                world.play(until - world.played)
            raise_interrupt()
            if on_progress is not None:
                on_progress(world.played)


def as_told(spec: TaskSpec, learner: Learner) -> TaskSpec:
    """Return what a learner is told: without the machine's chances and rewards, if it is to learn them."""
    if not learner.learns_machine or isinstance(spec, UnknownChancesSpec):
        return spec
    return UnknownChancesSpec.of(spec, moves_known=bool(getattr(learner, "moves_known", False)))


def no_moves_seen(spec: TaskSpec, learner: Learner) -> MachineCounts:
    """Return the counts of the machine's moves; empty where it is known."""
    if not isinstance(spec, UnknownChancesSpec):
        return nothing_to_learn()
    labels = learned_labels(learner, spec)
    return machine_counts(labels, spec.num_machine_states, spec.machine.idle_reward.mean)


def refuse_nan(learner: Learner, values: NDArray[np.float64]) -> None:
    """Refuse a compiled plan whose values are NaN: its actions mean nothing."""
    if np.isnan(values).any():
        raise PlanError(f"learner {learner.name!r} made a plan whose values are NaN; check what worth returns")


def checked_policy(plan: object, before: LearnerPlan | None, learner: Learner, spec: TaskSpec) -> NDArray[Any] | None:
    """Check a learner's plan; return its policy as kernels take it, or None if it is the previous plan's."""
    who = f"learner {learner.name!r}"
    if not isinstance(plan, LearnerPlan):
        raise PlanError(f"{who} returned {type(plan).__name__} from plan(); expected a LearnerPlan")
    try:
        if plan.values is not None:
            _check_values(plan.values, spec)
        if before is not None and plan.policy is before.policy and _cannot_change(plan.policy):
            return None
        inner = inner_policy(spec, plan.policy)
    except ModelError as error:
        raise PlanError(f"{who} returned {error}") from None
    if isinstance(plan.policy, np.ndarray):
        plan.policy.setflags(write=False)  # so that the next plan need not be checked if it is the same
    return inner


def _cannot_change(policy: object) -> bool:
    """Tell whether a policy is still what it was when it was checked: not a list, nor a view of another array."""
    return isinstance(policy, np.ndarray) and policy.base is None and not policy.flags.writeable


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


def new_log(num_episodes: int) -> LogArrays:
    """Return the log of a new run, in which a plan is due."""
    state = np.zeros(4, dtype=np.int64)
    state[IS_DUE] = 1
    numbers = (np.zeros(FIRST_PLANS, dtype=np.int64), np.full(FIRST_PLANS, np.nan), np.full(FIRST_PLANS, np.nan))
    return LogArrays(*numbers, returns=np.empty(num_episodes), state=state)


def longer(log: LogArrays) -> LogArrays:
    """Return the log with room for twice as many plans."""
    plans = ("plan_episodes", "plan_values", "optimistic_values")
    return log._replace(**{name: np.resize(getattr(log, name), 2 * len(log.plan_episodes)) for name in plans})
