"""UCRL2-RM (Bourel et al. 2023) for episodes: plan in the best kernel of a confidence set around p̂.

With n = max(1, N(o, a)), d = ρ/(2OA) and κ = ``bonus_scale``:

    l1 (UCRL2-RM-L):         ‖p̃ − p̂‖₁ ≤ κ·√(2(1 + 1/n)·ln(√(n + 1)(2^O − 2)/d)/n)
    bernstein (UCRL2-RM-B):  |x − p̂(o')| ≤ κ(√(2β·x(1 − x)/n) + β/(3n)) for each o', solved for both ends of x,
                             β(n) = η·ln(ln(max(n, e))·ln(η·max(n, e))/(d·ln²η)), η = 1.12

and Q_h = the largest Σ p̃(o')·(φ + W) over all p̃ in the set, V_h = max_a Q_h. A pair never visited may lead anywhere,
whatever κ. Over a finite horizon "extended value iteration" is one backward pass and always ends.

``as_published``: in the code released with the paper the two *ends* of the Bernstein interval are used as
*distances* from p̂, so the set hardly narrows as data arrives. The paper's figures show that variant; it is kept here
only to reproduce them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from praemia.arithmetic import log_of_subsets
from praemia.errors import ParameterError, unknown_name
from praemia.kernels.confidence_sets import best_in_ball, best_in_intervals, prepare_ball, prepare_interval
from praemia.learners.base import LARGEST, failure_prob_parameter, replan_parameter
from praemia.learners.compiled import CompiledLearner
from praemia.learners.rules import PlanRule
from praemia.tasks.spec import TaskSpec

PARTS = {
    "l1": {"prepare_pair": prepare_ball, "pair_value": best_in_ball},
    "bernstein": {"prepare_pair": prepare_interval, "pair_value": best_in_intervals},
}
PAPER_SCALES = {"l1": 0.5, "bernstein": 0.1}
SUMMARIES = {
    "l1": "plans in the best environment in an L1 ball around the estimate",
    "bernstein": "plans in the best environment within Bernstein intervals",
}


@dataclass(frozen=True, kw_only=True)
class UCRL2RM(CompiledLearner):
    """UCRL2-RM with L1 balls (``interval="l1"``) or element-wise Bernstein intervals (``interval="bernstein"``).

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.make("warehouse-3")
    >>> run = praemia.simulate(task, praemia.UCRL2RM(interval="l1", bonus_scale=1), num_episodes=100, seed=0)
    >>> bool(run.optimistic_values.min() >= run.optimal_value)  # it never promises less than the optimum
    True
    """

    name: ClassVar[str] = "ucrl2-rm"
    summary: ClassVar[str] = "plans in the best environment of a confidence set"
    reference: ClassVar[str] = "Bourel, Jonsson, Maillard and Talebi 2023, Exploration in Reward Machines"
    variants: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "ucrl2-rm-l": {"interval": "l1", "as_published": False},
        "ucrl2-rm-b": {"interval": "bernstein"},
    }
    optimistic: ClassVar[bool] = True

    interval: str = field(default="l1", metadata={"help": "the confidence set: l1 or bernstein"})
    bonus_scale: float | None = field(
        default=None,
        metadata={
            "help": "multiplies the set's size; the paper ends with 0.5 for l1 and 0.1 for bernstein",
            "range": (0.0, LARGEST),
        },
    )
    failure_prob: float = failure_prob_parameter()
    as_published: bool = field(
        default=False,
        metadata={"help": "bernstein only: use the ends as distances, as the released code does"},
    )
    replan: str = replan_parameter("epoch")

    def __post_init__(self) -> None:
        if self.interval not in PARTS:
            raise unknown_name("interval", self.interval, PARTS)
        if self.bonus_scale is None:
            object.__setattr__(self, "bonus_scale", PAPER_SCALES[self.interval])
        object.__setattr__(self, "summary", SUMMARIES[self.interval])
        if not isinstance(self.as_published, bool):
            raise ParameterError(f"as_published={self.as_published!r}; expected true or false")
        if self.as_published and self.interval != "bernstein":
            raise ParameterError("as_published=True is a variant of interval='bernstein' only")
        super().__post_init__()

    def rule(self, spec: TaskSpec, num_episodes: int) -> PlanRule:
        fixed = {
            "scale": float(self.bonus_scale or 0.0),
            "level": self.failure_prob / (2 * spec.num_observations * spec.num_actions),
            "log_subsets": log_of_subsets(spec.num_successors),
            "as_published": self.as_published,
        }
        return PlanRule(
            parts=PARTS[self.interval],
            fixed=fixed,
            unseen=True,
            sorts_rows=True,
            by_pair=spec.num_successors + 1,
            by_successor=1,
        )
