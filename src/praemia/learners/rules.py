"""Rules: what makes a compiled plan a learner's own. All share the recursion of ``praemia.kernels.recursion``.

    BonusRule    an estimate and a bonus: what a pair is worth is a function of the mean and the deviation under p̂
    SampleRule   the mean under kernels drawn from a posterior
    SetRule      the largest mean over a confidence set around p̂

A rule is made for one run: its numbers are those of the task and of the number of episodes. Every combination of its
fields means what its docstring says; a combination that could not mean anything is refused when the rule is made.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from praemia.arithmetic import log_of_subsets
from praemia.errors import ParameterError, unknown_name
from praemia.kernels import bonus, confidence_sets, learned_machine, posterior_draws, recursion
from praemia.kernels.plans import Parts, Recipe
from praemia.learners.base import CountLayout
from praemia.tasks.spec import TaskSpec

LIMITS = ("steps left", "horizon", "labels")
VARIANCES = ("Y", "W")
PRIORS = ("observations", "best")
SETS = ("l1", "bernstein")
MOST_NUMBERS = len(bonus.AS_TUPLE) - 1  # of a pair
LEAST_MASS = 1e-6  # of a posterior draw: a stick below this share of the kernel is not broken any more


class MachineBonus(NamedTuple):
    """c_a and c_b of a plan that learns the machine too (``praemia.kernels.learned_machine``)."""

    per_root: float
    per_visit: float


class LaterVisits(NamedTuple):
    """The term of a bonus for the visits to a pair's successors at the next step (``praemia.kernels.bonus``)."""

    cost: float
    factor: float


class Sizes(NamedTuple):
    """How many numbers of its own a rule keeps."""

    by_pair: int
    by_successor: int = 0
    drawn: int = 0  # successors drawn for a pair


class PlanRule(CountLayout, ABC):
    """What the recursion and its memory ask of every rule; ``BonusRule`` says what its fields mean."""

    constants: tuple[float, ...] = ()
    monotone = False
    spread = False
    lower: Any = None
    ordered = False
    later_visits: LaterVisits | None = None
    step_bonus: NDArray[np.float64] | None = None
    sorts_rows = False  # rows are sorted for each machine state, so that plans look at one at a time

    @property
    def counts_steps(self) -> bool:
        return self.later_visits is not None

    @property
    def has_step_numbers(self) -> bool:
        """Whether pairs have numbers that depend on the step."""
        return self.later_visits is not None or self.step_bonus is not None

    @abstractmethod
    def sizes(self, spec: TaskSpec) -> Sizes:
        """Return how many numbers of its own the rule keeps."""

    @abstractmethod
    def recipe(self) -> Recipe:
        """Return what the plan is compiled from. It holds no numbers of a run."""

    @abstractmethod
    def fixed_numbers(self, spec: TaskSpec) -> dict[str, float]:
        """Return the numbers of the rule by their names in ``praemia.kernels.plan_data.FIXED``."""


def _require(kind: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise unknown_name(kind, value, known)


@dataclass(frozen=True, kw_only=True, eq=False)
class BonusRule(PlanRule):
    """Q = min{limit, worth(mean, deviation, pair)}: what a pair is worth, from what follows it under p̂.

    Attributes
    ----------
    worth, numbers, lower : functions as in ``praemia.kernels.bonus``.
    tells_episodes : ``numbers`` is told the episodes so far.
    constants : what ``numbers`` is given.
    variance_of : "Y": the deviation is that of φ + W; "W": that of W alone. The mean is that of φ + W in both cases.
    limit : the most that a pair can be worth, and what it is worth before its first visit: "steps left" H − h,
        "horizon" H at every step, "labels" the largest Y that the pair's labels allow.
    monotone : Q never rises above that of the previous plan.
    spread : ``worth`` is told how far outcomes differ in this task, and what was seen to follow the pair's state.
    lower : ``worth`` and ``lower`` are told the gap; V̲ = max{0, lower(…)} of the action taken. None: no lower values.
    ordered : among equals what is certain is taken, then the soonest unknown (``praemia.kernels.ties``); else a draw.
    repairs : plans can be repaired (``praemia.kernels.repair``).
    later_visits : ``pair.by_step`` is the term in N'. step_bonus : or these numbers, [H, O·A].
    machine : c_a and c_b, where the machine is learned; W then has a bonus of its own, and limits are H − h at most.
    """

    worth: Any
    numbers: Any = None
    tells_episodes: bool = False
    constants: tuple[float, ...] = ()
    variance_of: str = "Y"
    limit: str = "steps left"
    monotone: bool = False
    spread: bool = False
    lower: Any = None
    ordered: bool = False
    repairs: bool = False
    later_visits: LaterVisits | None = None
    step_bonus: NDArray[np.float64] | None = None
    machine: MachineBonus | None = None

    def __post_init__(self) -> None:
        _require("variance_of", self.variance_of, VARIANCES)
        _require("limit", self.limit, LIMITS)
        if self.later_visits is not None and self.step_bonus is not None:
            raise ParameterError("a rule with later_visits and step_bonus; pair.by_step is one or the other")
        if self.machine is not None and self.lower is not None:
            raise ParameterError("a rule with lower values and a machine that is learned: its bonus bounds from above")
        if self.ordered and (self.lower is not None or self.machine is not None or self.variance_of == "W"):
            raise ParameterError("ordered=True with lower values, a machine that is learned or the variance of W")
        made_anew = not self.ordered or self.limit != "labels" or self.monotone or self.has_step_numbers
        if self.repairs and made_anew:
            raise ParameterError(
                "repairs=True needs limit='labels', ordered=True, monotone=False and no numbers by step"
            )

    def try_numbers(self, constants: NDArray[np.float64]) -> Any:
        """Return the numbers of a pair with two visits, computed in Python."""
        if self.numbers is None:
            return ()
        return self.numbers(2.0, 3.0, *((1.0,) if self.tells_episodes else ()), constants)

    def sizes(self, spec: TaskSpec) -> Sizes:
        return Sizes(by_pair=max(1, self._num_numbers))

    def fixed_numbers(self, spec: TaskSpec) -> dict[str, float]:
        later, machine = self.later_visits or LaterVisits(0.0, 0.0), self.machine or MachineBonus(0.0, 0.0)
        return {
            "later_cost": later.cost,
            "later_factor": later.factor,
            "machine_root": machine.per_root,
            "machine_visit": machine.per_visit,
        }

    def recipe(self) -> Recipe:
        lower = self.lower is not None
        parts: Parts = (
            *(learned_machine.BY_BONUS if self.machine is not None else ()),
            ("prepare_pair", bonus.prepare_pair),
            ("begin_step", bonus.find_spread if self.spread else recursion.nothing_per_step),
            ("begin_state", bonus.find_local_limit if self.spread else recursion.nothing_for_state),
            ("pair_value", bonus.pair_value),
            ("LIMIT_LABELS", self.limit == "labels"),
            ("MONOTONE", self.monotone),
            ("HAS_LOWER", lower),
            ("ORDERED", self.ordered),
            ("REPAIRS", self.repairs),
        )
        inner: Parts = (
            ("numbers", self.numbers if self._num_numbers else bonus.one_number),
            ("as_tuple", bonus.AS_TUPLE[max(1, self._num_numbers)]),
            ("TELLS_EPISODES", self._num_numbers > 0 and self.tells_episodes),
            ("worth", self.worth),
            ("lower", self.lower if lower else self.worth),
            ("prepare_steps", bonus.add_later_visits if self.later_visits else recursion.nothing_for_pair),
            ("BY_STEP", self.has_step_numbers),
            ("VARIANCE_OF_W", self.variance_of == "W"),
            ("SPREAD", self.spread),
        )
        return Recipe(parts, inner)

    @property
    def _num_numbers(self) -> int:
        return len(self.try_numbers(np.ones(len(self.constants))))


@dataclass(frozen=True, kw_only=True, eq=False)
class SampleRule(PlanRule):
    """Q = the largest of ``arms`` means of Y, each under a kernel drawn from a posterior.

    The prior has a total weight: spread evenly over all "observations", or all of it on a fictitious "best" one, which
    is worth H − h. ``machine``, where the machine is learned too, is its prior's weight.
    """

    prior: str
    weight: float
    arms: int = 1
    machine: float | None = None

    def __post_init__(self) -> None:
        _require("prior", self.prior, PRIORS)
        if self.prior == "observations" and self.arms != 1:
            raise ParameterError(f"{self.arms} kernels with a prior over observations; only one is drawn")
        if self.prior == "best" and self.machine is not None:
            raise ParameterError("prior='best' cannot learn the machine; use prior='observations'")

    def breaks_sticks(self, spec: TaskSpec) -> bool:
        """Tell whether there are fewer sticks than observations, on average."""
        return 1.0 + self.weight * math.log(1.0 / LEAST_MASS) < spec.num_successors

    @property
    def unseen(self) -> bool:
        return self.prior == "observations"

    def sizes(self, spec: TaskSpec) -> Sizes:
        if self.prior == "best":
            return Sizes(by_pair=self.arms, by_successor=self.arms)
        # The number of sticks is Poisson with this mean; there is room for ten standard deviations more.
        mean = self.weight * math.log(1.0 / LEAST_MASS)
        most = math.ceil(2.0 + mean + 10.0 * math.sqrt(mean))
        sticks = most if self.breaks_sticks(spec) else spec.num_successors
        return Sizes(by_pair=sticks, by_successor=1, drawn=sticks)

    def fixed_numbers(self, spec: TaskSpec) -> dict[str, float]:
        return {
            "prior": self.weight,
            "num_successors": spec.num_successors,
            "least_mass": LEAST_MASS,
            "breaks_sticks": self.breaks_sticks(spec),
            "machine_prior": self.machine or 0.0,
        }

    def recipe(self) -> Recipe:
        one = self.unseen
        parts: Parts = (
            ("UNSEEN", one),
            ("prepare_pair", posterior_draws.draw_kernel if one else posterior_draws.draw_arms),
            ("begin_step", recursion.nothing_per_step),
            ("begin_state", recursion.nothing_for_state),
            ("pair_value", posterior_draws.drawn_value if one else posterior_draws.best_of_arms),
            *(learned_machine.BY_DRAWING if self.machine is not None else ()),
        )
        return Recipe(parts)


@dataclass(frozen=True, kw_only=True, eq=False)
class SetRule(PlanRule):
    """Q = the largest Σ p̃·Y over all p̃ in a confidence set of level ``level`` around p̂, its size times ``scale``.

    ``kind`` is "l1", a ball, or "bernstein", an interval for each successor; ``as_published`` takes its ends for
    distances from p̂. A pair never visited may lead anywhere.
    """

    kind: str
    scale: float
    level: float
    as_published: bool = False

    unseen = True
    sorts_rows = True

    def __post_init__(self) -> None:
        _require("interval", self.kind, SETS)
        if self.as_published and self.kind != "bernstein":
            raise ParameterError("as_published=True is a variant of interval='bernstein' only")

    def sizes(self, spec: TaskSpec) -> Sizes:
        return Sizes(by_pair=spec.num_successors + 1, by_successor=1)

    def fixed_numbers(self, spec: TaskSpec) -> dict[str, float]:
        return {
            "scale": self.scale,
            "level": self.level,
            "log_subsets": log_of_subsets(spec.num_successors),
            "as_published": self.as_published,
        }

    def recipe(self) -> Recipe:
        in_ball = self.kind == "l1"
        parts: Parts = (
            ("UNSEEN", True),
            ("prepare_pair", confidence_sets.prepare_ball if in_ball else confidence_sets.prepare_interval),
            ("begin_step", confidence_sets.sort_rows),
            ("begin_state", recursion.nothing_for_state),
            ("pair_value", confidence_sets.best_in_ball if in_ball else confidence_sets.best_in_intervals),
        )
        return Recipe(parts)
