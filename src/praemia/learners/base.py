"""The interface of a learner: parameters, and one function that makes a plan from experience.

A learner never acts, counts or decides when to plan again: the simulator does, once for all learners. It is given an
``Experience`` and its previous plan, and returns the next one. Learners are frozen, so one object serves any number of
runs.
"""

from __future__ import annotations

import re
from abc import ABCMeta, abstractmethod
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, dataclass_transform

import numpy as np
from numpy.typing import NDArray

from praemia.errors import ParameterError, unknown_name
from praemia.learners.experience import Experience
from praemia.learners.replanning import AT_ONCE, BETWEEN_EPISODES, EVERYBODYS, REPAIR, STEP, ReplanRule

VIEWS = ("observations", "product")
LARGEST = 1e9  # far above any sensible parameter, far below where squares and products of them overflow
TINY = 1e-12


@dataclass(frozen=True, eq=False)
class LearnerPlan:
    """A plan: what to do until the next one.

    Attributes
    ----------
    policy : the action at each step, machine state and observation, integers [H, M, O], or the probability of
        each action, [H, M, O, A]. (Of a learner that sees the product: M = 1, and O counts the product's states.)
    values : float64[M, O], the learner's V_0, if it computes one; an upper bound if the learner is optimistic.
    memory : data of the learner for its next plan.

    Examples
    --------
    >>> import numpy as np
    >>> import praemia
    >>> plan = praemia.LearnerPlan(np.zeros((10, 2, 5), dtype=int))  # the first action, whatever happens
    >>> plan.policy[3, 0, 4]
    np.int64(0)
    """

    policy: NDArray[Any]
    values: NDArray[np.float64] | None = None
    memory: Any = None
    # What a kernel of this package has made: the policy as shown, which cannot be written to, and as kernels take it.
    _checked: tuple[Any, Any] | None = field(default=None, init=False, repr=False)

    @classmethod
    def _of_kernel(cls, policy: NDArray[Any], values: NDArray[np.float64], memory: Any) -> LearnerPlan:
        """Return the plan that a kernel has made, policy[H, O, M]."""
        plan, shown = cls.__new__(cls), policy.transpose(0, 2, 1)
        shown.flags.writeable = False
        vars(plan).update(policy=shown, values=values, memory=memory, _checked=(shown, policy))
        return plan


def replan_parameter(default: str) -> Any:
    """Declare when a learner plans again."""
    own = f"{REPAIR}, " if default == REPAIR else ""
    rules = f"{own}{', '.join(BETWEEN_EPISODES)} (append {AT_ONCE} to replan within episodes), or {STEP}"
    return field(default=default, metadata={"help": f"when to plan again: one of {rules}"})


def parameter(default: Any, help: str, low: float, high: float = LARGEST) -> Any:
    """Declare a numeric parameter of a learner.

    Parameters
    ----------
    default : the default value.
    help : a line of help.
    low, high : the range of valid values, ends included.

    Examples
    --------
    >>> import praemia
    >>> from praemia.learners import parameter
    >>> class Mine(praemia.Random):
    ...     bonus_scale: float = parameter(0.1, "multiplies the bonus", 0.0, 10.0)
    >>> try:
    ...     Mine(bonus_scale=20.0)
    ... except praemia.PraemiaError:
    ...     print("refused")
    refused
    """
    return field(default=default, metadata={"help": help, "range": (low, high)})


def failure_prob_parameter() -> Any:
    """Declare ρ, the probability that a learner's confidence bounds fail."""
    return parameter(0.05, "ρ: the probability that the confidence bounds fail", TINY, 1.0 - TINY)


def bonus_scale_parameter(default: float) -> Any:
    """Declare the exploration coefficient; 1 is the theory's."""
    return parameter(default, "the exploration coefficient: multiplies the bonus; 1 is the theory's", 0.0)


class _LearnerType(ABCMeta):
    """The type of learner classes: says what to do where a decorator would make one a dataclass again."""

    def __setattr__(cls, name: str, value: Any) -> None:
        if name == "__dataclass_params__" and name in vars(cls):
            raise ParameterError(f"{cls.__name__}: a learner is a dataclass by itself: remove the decorator")
        super().__setattr__(name, value)


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
@dataclass(frozen=True, kw_only=True)
class Learner(metaclass=_LearnerType):
    """The base class of learners. Fields are the parameters; class variables describe the learner and its needs.

    A subclass is automatically a frozen dataclass with keyword arguments. Its name is that of the class in lower case
    with dashes, unless ``name`` is set.

    Examples
    --------
    >>> import numpy as np
    >>> import praemia
    >>> class FirstAction(praemia.Learner):
    ...     def plan(self, experience, previous, rng):
    ...         spec = experience.spec
    ...         shape = (spec.horizon, spec.num_machine_states, spec.num_observations)
    ...         return praemia.LearnerPlan(np.zeros(shape, dtype=int))
    >>> praemia.simulate(praemia.envs.make("warehouse-3"), FirstAction(), num_episodes=10).learner
    'first-action'
    """

    name: ClassVar[str] = "learner"
    summary: ClassVar[str] = ""
    reference: ClassVar[str] = "—"
    sees: ClassVar[str] = "observations"  # or "product": plays the product task, whose observations are o · M + m
    uses_steps: ClassVar[bool] = False  # reads ``experience.step_visits``
    uses_recent: ClassVar[bool] = False  # reads ``experience.recent``
    # Whether it needs labels of steps not taken: "seen", no; "possible", to bound what can follow; "every", of all.
    asks_labels: ClassVar[str] = "seen"
    privileged: ClassVar[bool] = False  # is given the task
    has_estimate: ClassVar[bool] = False  # plans with p̂: the learned policy of a run is then the best one in p̂
    optimistic: ClassVar[bool] = False  # V_0 bounds the optimum from above at the theoretical constants
    # Parameters of learners that can learn the machine (``praemia.learners.learned_machine``); the others know it.
    learn_machine = False
    moves_known = False
    replan_rules: ClassVar[tuple[str, ...]] = EVERYBODYS  # what ``replan`` may be

    replan: str = replan_parameter("doubling")

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" not in vars(cls):
            cls.name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", cls.__name__).lower()
        dataclass(frozen=True, kw_only=True)(cls)

    def __post_init__(self) -> None:
        if self.replan not in self.replan_rules:
            raise unknown_name("replan rule", self.replan, self.replan_rules)
        if self.sees not in VIEWS:
            raise unknown_name("view", self.sees, VIEWS)
        for item in fields(self):
            if "range" in item.metadata:
                _require_range(item.name, getattr(self, item.name), *item.metadata["range"])

    @abstractmethod
    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        """Make the next plan. Take all random numbers from ``rng``, which belongs to the run.

        ``praemia.plan_with_bonus`` and ``experience.backup`` do the work of most learners.
        """

    @property
    def replan_rule(self) -> ReplanRule:
        """When to plan again, as given by ``replan``."""
        return ReplanRule.of(self.replan)

    @property
    def random_share(self) -> float:
        """The probability ε of a random action instead of the plan's. Values are those of the plans."""
        return 0.0

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters by name, as plain data."""
        return {item.name: getattr(self, item.name) for item in fields(self)}


def _require_range(name: str, value: object, low: float, high: float) -> None:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not number or not low <= value <= high:  # type: ignore[operator]
        raise ParameterError(f"{name}={value!r}; expected a number from {low:g} to {high:g}")
