"""Learners whose plan is compiled: they bring a few small functions, and the recursion is written once.

``BonusLearner`` is the base of those that add a bonus to an estimate. A subclass says what a pair is worth, in NumPy's
words for one machine state; it is compiled into the recursion and runs on several machine states at a time:

    run_constants(spec, num_episodes)                   numbers that are fixed for a run
    pair_numbers(visits, visits_of_state, constants)  numbers of a pair, once for each plan: a tuple
    worth(mean, deviation, pair)                      what the pair is worth; ``pair`` has visits, numbers and limit
"""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numba.core.errors import NumbaError
from numpy.typing import ArrayLike, NDArray

from praemia.errors import ParameterError, PlanError, came_from_interrupt
from praemia.kernels.arrays import Actions, EveryRow, Outlook, action_type, lanes_for, padded_width
from praemia.kernels.bonus import AS_TUPLE, Pair
from praemia.kernels.compiled_plans import PlanKernel, Recipe, bonus_recipe, call_plan, compiled_plan, num_numbers
from praemia.kernels.counts import NUM_SLOTS, CountArrays
from praemia.kernels.recursion import Memory, PlanData, SpecArrays, nothing_for_pair
from praemia.learners.base import Experience, Learner, LearnerPlan
from praemia.models.memory import require_memory
from praemia.models.task import TaskSpec

MOST_NUMBERS = len(AS_TUPLE) - 1  # of a pair
SMALL = 1 << 26  # bytes of action values that are set aside at once for all pairs
LARGE = 1 << 28  # bytes of action values from which on it is asked whether they fit
NO_INTS, NO_SMALL_INTS = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32)


class Sizes(NamedTuple):
    """What a plan keeps."""

    by_pair: int = 0  # numbers of a pair
    by_successor: int = 0  # numbers of a successor
    drawn: int = 0  # observations drawn for a pair
    sorts_rows: bool = False
    has_lower_values: bool = False


@dataclass(frozen=True, kw_only=True)
class CompiledLearner(Learner):
    """A learner whose plan is a compiled function of the counts."""

    limited_by_labels: ClassVar[bool] = False  # the most that a pair can be worth: what its labels allow, or the cap
    is_monotone: ClassVar[bool] = False  # whether Q may not rise above that of the plan before
    deviation_without_reward: ClassVar[bool] = False  # whether the deviation is that of what is to come alone
    cap_is_horizon: ClassVar[bool] = False  # whether the cap is that of the first step at every step
    one_state_at_a_time: ClassVar[bool] = False  # whether its functions cannot work on several machine states

    @abstractmethod
    def recipe(self) -> Recipe:
        """Return what the plan is made of."""

    @abstractmethod
    def sizes(self, spec: TaskSpec) -> Sizes:
        """Return how many numbers a plan keeps."""

    def run_constants(self, spec: TaskSpec, num_episodes: int) -> Sequence[float]:
        """Return numbers that are fixed for a run, for the learner's own functions."""
        return ()

    def needs_steps(self, spec: TaskSpec, num_episodes: int) -> bool:
        """Tell whether numbers that depend on the step are needed in this run."""
        return False

    def try_functions(self, constants: NDArray[np.float64]) -> None:
        """Try the learner's functions in plain Python, where a mistake is easier to understand than when compiled."""
        if np.isnan(constants).any():
            raise ParameterError(f"learner {self.name!r}: run_constants returned NaN: {constants}; expected numbers")

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        spec = experience.spec
        if previous is None:
            policy = first_policy(spec, rng)
            work = Workspace(self, spec, experience.num_episodes, experience.count_arrays)
        else:
            if not isinstance(previous.memory, Workspace):
                raise PlanError(
                    f"learner {self.name!r} returned a plan without the memory that its next plan needs; pass on that "
                    "of super().plan(): LearnerPlan(policy, plan.values, plan.memory)"
                )
            work = previous.memory.again(spec)
            policy = work.policy.copy()
        work.plan(experience.count_arrays, policy, rng)
        work.policy = policy
        return LearnerPlan(policy.transpose(0, 2, 1), work.values, work)

    @property
    def plans_compiled(self) -> bool:
        """Whether the plan is the compiled one, which may be called without Python; a subclass may have another."""
        return type(self).plan is CompiledLearner.plan


@dataclass(frozen=True, kw_only=True)
class BonusLearner(CompiledLearner):
    """A learner that is optimistic by a bonus: Q = min{limit, worth(p̂Y, √Var_p̂(Y), pair)}, Y = φ + W.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from typing import ClassVar
    >>> import numpy as np
    >>> import praemia
    >>> from praemia.learners import BonusLearner, parameter
    >>> @dataclass(frozen=True, kw_only=True)
    ... class OneOverRoot(BonusLearner):
    ...     name: ClassVar[str] = "one-over-root"
    ...     bonus_scale: float = parameter(0.3, "multiplies the bonus", 0.0)
    ...     def run_constants(self, spec, num_episodes):
    ...         return (self.bonus_scale,)
    ...     @staticmethod
    ...     def pair_numbers(visits, visits_of_state, constants):
    ...         return (constants[0] / np.sqrt(visits),)
    ...     @staticmethod
    ...     def worth(mean, deviation, pair):
    ...         return mean + pair.numbers[0]
    >>> run = praemia.simulate(praemia.envs.make("warehouse-3"), OneOverRoot(), num_episodes=50)
    >>> run.learner
    'one-over-root'
    """

    @staticmethod
    @abstractmethod
    def worth(mean: Any, deviation: Any, pair: Any) -> Any:
        """Return what a pair is worth before the limit is applied."""

    @staticmethod
    def pair_numbers(visits: float, visits_of_state: float, constants: NDArray[np.float64]) -> tuple[float, ...]:
        """Return numbers of a pair that are the same at every step and in every machine state."""
        return ()

    prepare_steps: ClassVar[Any] = None  # fills memory.by_step, where the bonus depends on the step
    begin_plan: ClassVar[Any] = None  # sets those of the constants that change from plan to plan

    def functions(self) -> tuple[Any, Any]:
        """Return the two functions that the plan is made of."""
        return self.pair_numbers, self.worth

    def try_functions(self, constants: NDArray[np.float64]) -> None:
        super().try_functions(constants)
        for name in ("pair_numbers", "worth"):
            if not isinstance(inspect.getattr_static(type(self), name), staticmethod):
                raise ParameterError(f"learner {self.name!r}: {name} takes no self; put @staticmethod before it")
        try:
            pair_numbers, worth = self.functions()
            found = pair_numbers(2.0, 3.0, constants)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise ParameterError(f"learner {self.name!r}: pair_numbers failed with {reason}") from error
        if not isinstance(found, tuple) or len(found) > MOST_NUMBERS:
            raise ParameterError(
                f"learner {self.name!r}: pair_numbers returned {found!r}; expected a tuple of at most "
                f"{MOST_NUMBERS} numbers"
            )
        if np.isnan(worth(0.5, 0.25, Pair(2.0, found, 1.0, 1.0, 0.0))):
            raise PlanError(f"learner {self.name!r}: worth returned NaN; expected a number")

    def recipe(self) -> Recipe:
        return bonus_recipe(
            *self.functions(),
            prepare_steps=self.prepare_steps,
            begin_plan=self.begin_plan,
            limited_by_labels=self.limited_by_labels,
            is_monotone=self.is_monotone,
            deviation_without_reward=self.deviation_without_reward,
        )

    def sizes(self, spec: TaskSpec) -> Sizes:
        return Sizes(by_pair=max(1, num_numbers(self.functions()[0])))


def first_policy(spec: TaskSpec, rng: np.random.Generator) -> Actions:
    """Draw a policy [H, O, M] for the time when nothing is known and all actions are equally good."""
    shape = (spec.horizon, spec.num_observations, spec.num_machine_states)
    return rng.integers(0, spec.num_actions, size=shape, dtype=action_type(spec.num_actions))


@dataclass(frozen=True, kw_only=True)
class _GivenBonus(BonusLearner):
    """Plan with a bonus that was worked out elsewhere."""

    name: ClassVar[str] = "given-bonus"
    prepare_steps: ClassVar[Any] = staticmethod(nothing_for_pair)

    def needs_steps(self, spec: TaskSpec, num_episodes: int) -> bool:
        return True

    @staticmethod
    def worth(mean: Any, deviation: Any, pair: Any) -> Any:
        return mean + pair.by_step


def plan_with_bonus(experience: Experience, bonus: ArrayLike, rng: np.random.Generator) -> LearnerPlan:
    """Plan for Q_h = min{H − h, Σ p̂(φ + W_{h+1}) + bonus}, V_h = max_a Q_h: the backward pass of a learner in NumPy.

    ``bonus`` is an array that broadcasts to [H, O, A]: give [O, A] for a bonus that is the same at every step. Pairs
    never visited are worth H − h. Equal best actions are drawn uniformly.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from typing import ClassVar
    >>> import numpy as np
    >>> import praemia
    >>> from praemia.learners import plan_with_bonus
    >>> @dataclass(frozen=True, kw_only=True)
    ... class Curious(praemia.Learner):
    ...     name: ClassVar[str] = "curious"
    ...     def plan(self, experience, previous, rng):
    ...         return plan_with_bonus(experience, 0.1 / np.sqrt(np.maximum(1, experience.visits)), rng)
    >>> praemia.simulate(praemia.envs.make("warehouse-3"), Curious(), num_episodes=50).learner
    'curious'
    """
    spec = experience.spec
    shape = (spec.horizon, spec.num_observations, spec.num_actions)
    given = np.asarray(bonus, dtype=np.float64)
    try:
        numbers = np.broadcast_to(given, shape)
    except ValueError:
        raise ParameterError(f"a bonus of shape {given.shape}; expected one that broadcasts to {shape}") from None
    if np.isnan(numbers).any():
        raise ParameterError("a bonus with NaN in it; expected numbers")
    work = Workspace(_GivenBonus(), spec, experience.num_episodes, experience.count_arrays)
    work.memory.by_step[:] = numbers.reshape(spec.horizon, -1)
    policy = first_policy(spec, rng)
    work.plan(experience.count_arrays, policy, rng)
    return LearnerPlan(policy.transpose(0, 2, 1), work.values)


@dataclass(eq=False)
class Workspace:
    """What a compiled plan works with: constants, what is known of the task, and memory that grows with the counts.

    ``policy`` [H, S, M] is the last one that was planned from Python, whatever a subclass made of it.
    """

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
        """Return a workspace for the next plan that leaves the one before as it is."""
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
        table = spec.dense_labels[1] if learner.needs_unseen_labels else spec.table
        moves, layers = table.transition_layers(self.width), table.layers(self.width)
        caps = np.full_like(spec.value_caps, spec.value_caps[0]) if learner.cap_is_horizon else spec.value_caps.copy()
        nothing = Outlook(NO_SMALL_INTS, NO_INTS, NO_SMALL_INTS, NO_INTS, NO_SMALL_INTS, moves)
        return SpecArrays(
            layers=moves if learner.deviation_without_reward else layers,
            paid=layers.paid,
            caps=caps,
            floors=spec.value_floors.copy(),
            outlook=spec.outlook[1](self.width) if learner.limited_by_labels else nothing,
            every=spec.every_row if learner.needs_unseen_labels else NO_ROWS,
            sizes=np.array([spec.num_actions]),
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
        """Make room for the action values of more pairs; those that are new are bounded by nothing."""
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


NO_ROWS = EveryRow(np.zeros((0, 0), dtype=np.uint32), NO_SMALL_INTS, NO_SMALL_INTS)
