"""Learners whose plan is compiled: each supplies a rule (``praemia.learners.rules``), and all share one recursion.

``BonusLearner`` is the base of those that add a bonus to an estimate. A subclass says what a pair is worth, with NumPy
functions and for one machine state; this is compiled into the recursion and runs on several machine states at a time:

    run_constants(spec, num_episodes)                 numbers that are fixed for a run
    pair_numbers(visits, visits_of_state, constants)  numbers of a pair, once for each plan: a tuple
    worth(mean, deviation, pair)                      what the pair is worth; ``pair`` has visits, numbers and limit
"""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from praemia.errors import ParameterError, PlanError
from praemia.kernels import bonus
from praemia.kernels.bonus import MOST_NUMBERS, Pair
from praemia.kernels.records import Actions, action_type
from praemia.learners.base import Experience, Learner, LearnerPlan
from praemia.learners.replanning import REPAIR
from praemia.learners.rules import PlanRule
from praemia.learners.workspace import Workspace
from praemia.tasks.spec import TaskSpec

PARTS = {"prepare_pair": bonus.prepare_pair, "pair_value": bonus.pair_value}


@dataclass(frozen=True, kw_only=True)
class CompiledLearner(Learner):
    """A learner whose plan is a compiled function of the counts."""

    has_estimate: ClassVar[bool] = True

    @abstractmethod
    def rule(self, spec: TaskSpec, num_episodes: int) -> PlanRule:
        """Return how this learner values a pair, in a run of so many episodes."""

    def layout(self, spec: TaskSpec, num_episodes: int) -> PlanRule:
        return self.rule(spec, num_episodes)

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        before = None if previous is None else previous.memory
        if previous is not None and not isinstance(before, Workspace):
            raise PlanError(
                f"learner {self.name!r} returned a plan without the memory that its next plan needs; pass on that "
                "of super().plan(): LearnerPlan(policy, plan.values, plan.memory)"
            )
        work = self.workspace(experience, before, rng)
        work.plan(rng)
        return LearnerPlan(work.policy.copy().transpose(0, 2, 1), work.values, work)

    def workspace(self, experience: Experience, before: Workspace | None, rng: np.random.Generator) -> Workspace:
        """Return what the next plan is made with: what the one before was made with, brought up to date."""
        spec, counts = experience.spec, experience.count_arrays
        if before is None:
            return Workspace(self.name, self.rule(spec, experience.num_episodes), spec, counts, first_policy(spec, rng))
        before.update(spec, counts)
        return before

    @property
    def plans_compiled(self) -> bool:
        """Whether the plan is the compiled one, which kernels call directly; a subclass may override ``plan``."""
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

    variance_of: ClassVar[str] = "Y"  # or "W": the deviation is that of W alone, without the reward
    limit: ClassVar[str] = "steps left"  # or "horizon": H at every step; or "labels": what the pair's labels allow
    monotone: ClassVar[bool] = False  # Q never rises above that of the previous plan
    spread: ClassVar[bool] = False  # ``worth`` is told how far outcomes differ in the task
    tells_episodes: ClassVar[bool] = False  # ``pair_numbers`` is told the episodes so far, before the constants
    # A function like ``worth``, of the lower values V̲ = max{0, lower(…)} of the action taken; both are told the gap.
    lower: ClassVar[Any] = None
    ordered = False  # ties are broken by what is certain and what is soonest (``praemia.kernels.ties``), not drawn

    @staticmethod
    @abstractmethod
    def worth(mean: Any, deviation: Any, pair: Any) -> Any:
        """Return what a pair is worth before the limit is applied."""

    @staticmethod
    def pair_numbers(visits: float, visits_of_state: float, constants: NDArray[np.float64]) -> tuple[float, ...]:
        """Return numbers of a pair that are the same at every step and in every machine state."""
        return ()

    def run_constants(self, spec: TaskSpec, num_episodes: int) -> Sequence[float]:
        """Return numbers that are fixed for a run, for the learner's own functions."""
        return ()

    def later_visits(self, spec: TaskSpec, num_episodes: int) -> tuple[float, float] | None:
        """Return cost and factor of ``pair.by_step``, the term for later visits (``praemia.kernels.bonus``), if any."""
        return None

    def machine_bonus(self, spec: TaskSpec, num_episodes: int) -> tuple[float, float]:
        """Return c_a and c_b of the bonus for a machine that is learned (``praemia.kernels.learned_machine``)."""
        return 0.0, 0.0

    def functions(self) -> tuple[Any, Any]:
        """Return ``pair_numbers`` and ``worth``."""
        return self.pair_numbers, self.worth

    def rule(self, spec: TaskSpec, num_episodes: int) -> PlanRule:
        numbers, worth = self.functions()
        constants = tuple(self.run_constants(spec, num_episodes))
        size = self._try(numbers, worth, np.array(constants, dtype=np.float64))
        later, (per_root, per_visit) = self.later_visits(spec, num_episodes), self.machine_bonus(spec, num_episodes)
        cost, factor = later or (0.0, 0.0)
        fixed = {"later_cost": cost, "later_factor": factor, "machine_root": per_root, "machine_visit": per_visit}
        own = {"numbers": numbers, "worth": worth, "lower": self.lower}
        return PlanRule(
            parts={**PARTS, **own, "NUM_NUMBERS": size, "TELLS_EPISODES": self.tells_episodes},
            constants=constants,
            fixed=fixed,
            by_pair=max(1, size),
            variance_of=self.variance_of,
            limit=self.limit,
            monotone=self.monotone,
            spread=self.spread,
            lower=self.lower is not None,
            counts_steps=later is not None,
            ordered=self.ordered,
            repairs=self.replan_rule.word == REPAIR,
            learn_machine=self.learn_machine,
        )

    def _try(self, pair_numbers: Any, worth: Any, constants: NDArray[np.float64]) -> int:
        """Try the learner's functions in plain Python, where a mistake is easier to understand than when compiled.

        Return how many numbers a pair has.
        """
        if np.isnan(constants).any():
            raise ParameterError(f"learner {self.name!r}: run_constants returned NaN: {constants}; expected numbers")
        for name in ("pair_numbers", "worth", *(("lower",) if self.lower is not None else ())):
            if not isinstance(inspect.getattr_static(type(self), name), staticmethod):
                raise ParameterError(f"learner {self.name!r}: {name} takes no self; put @staticmethod before it")
        try:
            numbers = pair_numbers(2.0, 3.0, *((1.0,) if self.tells_episodes else ()), constants)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise ParameterError(f"learner {self.name!r}: pair_numbers failed with {reason}") from error
        if not isinstance(numbers, tuple) or len(numbers) > MOST_NUMBERS:
            raise ParameterError(
                f"learner {self.name!r}: pair_numbers returned {numbers!r}; expected a tuple of at most "
                f"{MOST_NUMBERS} numbers"
            )
        if np.isnan(worth(0.5, 0.25, Pair(2.0, numbers, 1.0, 0.0, 0.1, 1.0, 0.1, 0.0))):
            raise PlanError(f"learner {self.name!r}: worth returned NaN; expected a number")
        return len(numbers)


def first_policy(spec: TaskSpec, rng: np.random.Generator) -> Actions:
    """Draw a random policy [H, O, M] to start with, when nothing is known."""
    shape = (spec.horizon, spec.num_observations, spec.num_machine_states)
    return rng.integers(0, spec.num_actions, size=shape, dtype=action_type(spec.num_actions))


def _mean_and_given_bonus(mean: Any, deviation: Any, pair: Any) -> Any:
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
    array = np.asarray(bonus, dtype=np.float64)
    try:
        numbers = np.broadcast_to(array, shape)
    except ValueError:
        raise ParameterError(f"a bonus of shape {array.shape}; expected one that broadcasts to {shape}") from None
    if np.isnan(numbers).any():
        raise ParameterError("a bonus with NaN in it; expected numbers")
    if experience.layout.unseen or spec.possible is not None:
        raise ParameterError("plan_with_bonus in a learner whose counts are laid out otherwise; derive it from Learner")
    rule = PlanRule(
        parts={**PARTS, "worth": _mean_and_given_bonus, "NUM_NUMBERS": 0},
        variance_of=experience.layout.variance_of,  # as the counts are laid out
        step_bonus=numbers.reshape(spec.horizon, -1),
    )
    work = Workspace("plan_with_bonus", rule, spec, experience.count_arrays, first_policy(spec, rng))
    work.plan(rng)
    return LearnerPlan(work.policy.transpose(0, 2, 1), work.values)
