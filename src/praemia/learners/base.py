"""What a learner is: hyper-parameters and one function, *from counts make a plan*.

A learner never acts, counts or decides when to plan again: the simulator does, once for all learners. It is given
an ``Experience`` and the plan that it made before, and returns the next one. Learners are frozen, so one object
serves any number of runs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from praemia.errors import ParameterError, unknown_name
from praemia.kernels.observe import SeenArrays
from praemia.models.task import Task, TaskSpec

REPLAN_RULES = ("doubling", "epoch", "episode")


@dataclass(frozen=True, eq=False)
class Recent:
    """The transitions of the last episode, for learners that learn from steps and not from counts.

    Attributes
    ----------
    steps : int64[H, 6], the rows (o, a, o', label, m, m'); rewards : float64[H].
    """

    steps: NDArray[np.int64]
    rewards: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Experience:
    """All that a learner may look at when it plans.

    Attributes
    ----------
    spec : what is known of the task. For a learner on the product: the spec of the product.
    num_episodes : the number K of episodes that the run will have.
    seen : the counts of the observed transitions (see ``SeenArrays``).
    steps : int32[H + 1, S], visits to each state at each step, for learners with ``uses_steps``.
    recent : the last episode, for learners with ``uses_recent``; None before the first.
    truth : the task itself, for players that are ``privileged`` and for nobody else.
    """

    spec: TaskSpec
    num_episodes: int
    seen: SeenArrays
    steps: NDArray[np.int32]
    recent: Recent | None = None
    truth: Task | None = None

    @property
    def num_steps(self) -> int:
        """T = K · H."""
        return self.num_episodes * self.spec.horizon


@dataclass(frozen=True, eq=False)
class LearnerPlan:
    """A plan: what to do until the next one.

    Attributes
    ----------
    policy : int8 or int16[H, O, M], or float64[H, O, M, A] of action probabilities (kernel layout).
    values : float64[O, M], the learner's own V_0, where it has one; an upper bound if the learner is optimistic.
    memory : whatever the learner wants to find again when it plans next.
    """

    policy: NDArray[Any]
    values: NDArray[np.float64] | None = None
    memory: Any = None


@dataclass(frozen=True, kw_only=True)
class Learner(ABC):
    """The base of all learners. Fields are the parameters; class variables say what it needs."""

    name: ClassVar[str]
    summary: ClassVar[str]
    reference: ClassVar[str]
    on_product: ClassVar[bool] = False
    uses_steps: ClassVar[bool] = False
    uses_recent: ClassVar[bool] = False
    privileged: ClassVar[bool] = False
    optimistic: ClassVar[bool] = False  # V_0 bounds the optimum from above at the theoretical constants

    replan: str = field(default="doubling", metadata={"help": "when to plan again: doubling, epoch or episode"})

    def __post_init__(self) -> None:
        if self.replan not in REPLAN_RULES:
            raise unknown_name("replan rule", self.replan, REPLAN_RULES)
        for item in fields(self):
            if "range" in item.metadata:
                _require_range(item.name, getattr(self, item.name), *item.metadata["range"])

    @abstractmethod
    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        """Make the next plan."""

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters by name, as plain data."""
        return {item.name: getattr(self, item.name) for item in fields(self)}


def _require_range(name: str, value: object, low: float, high: float) -> None:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not number or not low <= value <= high:  # type: ignore[operator]
        raise ParameterError(f"{name}={value!r}; expected a number from {low:g} to {high:g}")


LARGEST = 1e9  # far above any sensible parameter, far below where squares and products of them overflow


def parameter(default: Any, help: str, low: float, high: float = LARGEST) -> Any:
    """Declare a numeric parameter of a learner with its range and a line of help."""
    return field(default=default, metadata={"help": help, "range": (low, high)})


TINY = 1e-12


def failure_prob_parameter() -> Any:
    """Declare ρ, the probability with which a learner's confidence may fail."""
    return parameter(0.05, "ρ: the probability with which the confidence may fail", TINY, 1.0 - TINY)


def bonus_scale_parameter(default: float) -> Any:
    """Declare the exploration coefficient; 1 is the theory's."""
    return parameter(default, "the exploration coefficient: multiplies the bonus; 1 is the theory's", 0.0)


def tie_seed(rng: np.random.Generator) -> int:
    """Draw the seed with which a kernel breaks ties between equally good actions."""
    return int(rng.integers(1, 2**31 - 1))


def require_every_episode(learner: Learner) -> None:
    """Refuse a replan rule with which a learner from steps would miss episodes."""
    if learner.replan != "episode":
        raise ParameterError(f"replan={learner.replan!r}; {learner.name} learns from every episode: replan='episode'")
