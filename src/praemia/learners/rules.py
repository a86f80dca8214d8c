"""What makes a compiled plan a learner's own. All plans but Q-learning's share ``praemia.kernels.recursion``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.errors import ParameterError, unknown_name
from praemia.kernels import recursion
from praemia.learners.base import CountLayout

LIMITS = ("steps left", "horizon", "labels")
VARIANCES = ("Y", "W")


@dataclass(frozen=True, kw_only=True, eq=False)
class PlanRule(CountLayout):
    """How a learner plans in one run: its numbers are those of the task and of the number of episodes.

    Attributes
    ----------
    parts : the learner's own functions, by their names in ``praemia.kernels.switches``; ``plan`` is what they go into.
    constants : numbers for these functions; fixed : others, by their names in ``praemia.kernels.plan_data.FIXED``.
    variance_of : "Y": the deviation is that of φ + W; "W": that of W alone. The mean is that of φ + W in both cases.
    limit : the most that a pair can be worth, and what it is worth before its first visit: "steps left" H − h,
        "horizon" H at every step, "labels" the largest Y that the pair's labels allow.
    unseen : pairs never visited have a value of their own. sorts_rows : rows are sorted for each machine state, so
        that plans look at one at a time.
    monotone : Q never rises above that of the previous plan.
    spread : how far outcomes differ in this task is measured (``praemia.kernels.bonus``).
    lower : there are lower values. counts_steps : the bonus has a term in the visits at later steps.
    ordered : among equals what is certain is taken, then the soonest unknown (``praemia.kernels.ties``); else a draw.
    repairs : plans can be repaired (``praemia.kernels.repair``).
    learn_machine : the machine is learned; a bonus or a draw makes up for what is not known of it.
    step_bonus : numbers [H, O·A] of a pair at each step.
    by_pair, by_successor : how many numbers are kept of each; drawn : how many successors are drawn for a pair.
    """

    parts: Mapping[str, Any]
    plan: Any = recursion.plan
    constants: tuple[float, ...] = ()
    fixed: Mapping[str, float] = field(default_factory=dict)
    sorts_rows: bool = False
    monotone: bool = False
    spread: bool = False
    lower: bool = False
    ordered: bool = False
    learn_machine: bool = False
    step_bonus: NDArray[np.float64] | None = None
    by_pair: int = 1
    by_successor: int = 0
    drawn: int = 0

    def __post_init__(self) -> None:
        if self.variance_of not in VARIANCES:
            raise unknown_name("variance_of", self.variance_of, VARIANCES)
        if self.limit not in LIMITS:
            raise unknown_name("limit", self.limit, LIMITS)
        if self.learn_machine and self.lower:
            raise ParameterError("a rule with lower values and a machine that is learned: its bonus bounds from above")
        if self.spread and self.variance_of == "W":
            raise ParameterError("spread=True with the variance of W: what is left open is measured in φ + W")
        if self.ordered and (self.lower or self.learn_machine or self.variance_of == "W"):
            raise ParameterError("ordered=True with lower values, a machine that is learned or the variance of W")
        if self.repairs and (not self.ordered or self.limit != "labels" or self.monotone or self.has_step_numbers):
            raise ParameterError(
                "repairs=True needs limit='labels', ordered=True, monotone=False and no numbers by step"
            )

    @property
    def has_step_numbers(self) -> bool:
        """Whether pairs have numbers that depend on the step."""
        return self.counts_steps or self.step_bonus is not None

    def compiled_with(self, lanes: int) -> dict[str, Any]:
        """Return what takes the place of the names in ``praemia.kernels.switches``. It holds no numbers of a run."""
        return {
            "LANES": lanes,
            "LIMIT_LABELS": self.limit == "labels",
            "MONOTONE": self.monotone,
            "UNSEEN": self.unseen,
            "SORTS_ROWS": self.sorts_rows,
            "LEARN_MACHINE": self.learn_machine,
            "HAS_LOWER": self.lower,
            "ORDERED": self.ordered,
            "REPAIRS": self.repairs,
            "VARIANCE_OF_W": self.variance_of == "W",
            "SPREAD": self.spread,
            "BY_STEP": self.has_step_numbers,
            "LATER_VISITS": self.counts_steps,
            **self.parts,
        }
