"""UCRL2-RM (Bourel et al. 2023) for episodes: plan in the best kernel of a confidence set around p̂.

With n = max(1, N(o, a)), d = ρ/(2OA) and the exploration coefficient γ:

``l1`` (UCRL2-RM-L): ‖p̃ − p̂‖₁ ≤ γ·√(2(1 + 1/n)·ln(√(n + 1)(2^O − 2)/d)/n).
``bernstein`` (UCRL2-RM-B): |x − p̂(o')| ≤ γ(√(2β·x(1 − x)/n) + β/(3n)) for each o', solved for both ends of x,
    β(n) = η·ln(ln(max(n, e))·ln(η·max(n, e))/(d·ln²η)), η = 1.12.

A pair never visited may go anywhere, whatever γ. Over a finite horizon "extended value iteration" is one backward pass
and always ends. Rewards come through φ, which p̃ carries along.

``as_published``: in the code released with the paper the two *ends* of the Bernstein interval are used as
*distances* from p̂, so the set hardly narrows as data arrives. The paper's figures show that variant; it is kept here
only to reproduce them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from praemia.errors import ParameterError, unknown_name
from praemia.kernels.arrays import LayerArrays, action_type
from praemia.kernels.ucrl2 import DenseRows, plan_ucrl2
from praemia.learners.base import (
    LARGEST,
    Experience,
    Learner,
    LearnerPlan,
    failure_prob_parameter,
    tie_seed,
)
from praemia.models.rows import continuation_rows
from praemia.models.task import TaskSpec

INTERVALS = ("l1", "bernstein")
ETA = 1.12
PAPER_SCALES = {"l1": 0.5, "bernstein": 0.1}


@dataclass(frozen=True, kw_only=True)
class UCRL2RM(Learner):
    """UCRL2-RM with L1 balls (``interval="l1"``) or element-wise Bernstein intervals (``interval="bernstein"``)."""

    name: ClassVar[str] = "ucrl2-rm"
    summary: ClassVar[str] = "plan in the best kernel of a confidence set around the estimate"
    reference: ClassVar[str] = "Bourel, Jonsson, Maillard and Talebi 2023, Exploration in Reward Machines"
    optimistic: ClassVar[bool] = True

    interval: str = field(default="l1", metadata={"help": "the confidence set: l1 or bernstein"})
    bonus_scale: float | None = field(
        default=None,
        metadata={
            "help": "γ, multiplies the set's width; the paper ends with 0.5 for l1 and 0.1 for bernstein",
            "range": (0.0, LARGEST),
        },
    )
    failure_prob: float = failure_prob_parameter()
    as_published: bool = field(
        default=False,
        metadata={"help": "bernstein only: use the ends as distances, as the released code does"},
    )
    replan: str = field(default="epoch", metadata={"help": "when to plan again: doubling, epoch or episode"})

    def __post_init__(self) -> None:
        if self.interval not in INTERVALS:
            raise unknown_name("interval", self.interval, INTERVALS)
        if self.bonus_scale is None:
            object.__setattr__(self, "bonus_scale", PAPER_SCALES[self.interval])
        if not isinstance(self.as_published, bool):
            raise ParameterError(f"as_published={self.as_published!r}; expected true or false")
        if self.as_published and self.interval != "bernstein":
            raise ParameterError("as_published=True is a variant of interval='bernstein' only")
        super().__post_init__()
        # One class, two algorithms: a run is recorded under the name that ``make`` knows.
        object.__setattr__(self, "name", "ucrl2-rm-l" if self.interval == "l1" else "ucrl2-rm-b")

    @property
    def parameters(self) -> dict[str, Any]:
        hidden = {"interval"} if self.interval == "bernstein" else {"interval", "as_published"}
        return {key: value for key, value in super().parameters.items() if key not in hidden}

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        spec = experience.spec
        visits, p_hat = dense_estimate(experience)
        rows, layers = previous.memory if previous is not None else dense_rows(spec)
        radius, lower, upper = self._confidence(visits, p_hat, spec)
        policy = np.empty(
            (spec.horizon, spec.num_observations, spec.num_machine_states), dtype=action_type(spec.num_actions)
        )
        values = plan_ucrl2(visits, p_hat, radius, lower, upper, rows, layers, policy, tie_seed(rng))
        return LearnerPlan(policy, values, (rows, layers))

    def _confidence(
        self, visits: NDArray[np.int64], p_hat: NDArray[np.float64], spec: TaskSpec
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return the radii of L1 balls and no intervals, or no radii and the ends of the intervals."""
        n = np.maximum(1, visits).astype(np.float64)
        level = self.failure_prob / (2 * spec.num_observations * spec.num_actions)
        scale = float(self.bonus_scale)  # type: ignore[arg-type]
        if self.interval == "l1":
            none = np.empty((0, 0, 0))
            return scale * l1_radius(n, spec.num_observations, level), none, none
        lower, upper = bernstein_interval(p_hat, n[..., None], level, scale)
        if self.as_published:
            lower, upper = np.maximum(0.0, p_hat - lower), np.minimum(1.0, p_hat + upper)
        return np.empty((0, 0)), lower, upper


def dense_estimate(experience: Experience) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return N[O, A] and p̂[O, A, O] (rows of 0 where nothing was seen)."""
    spec, seen = experience.spec, experience.seen
    shape = (spec.num_observations, spec.num_actions, spec.num_observations)
    visits = np.zeros(shape[0] * shape[1], dtype=np.int64)
    visits[seen.pairs] = seen.visits
    p_hat = np.zeros((shape[0] * shape[1], shape[2]))
    entries = np.diff(seen.indptr)
    # A black box may label one (o, a, o') in several ways; its entries are added up.
    np.add.at(
        p_hat,
        (np.repeat(seen.pairs, entries), seen.successors),
        seen.counts / np.repeat(seen.visits, entries),
    )
    return visits.reshape(shape[:2]), p_hat.reshape(shape)


def l1_radius(n: NDArray[np.float64], num_observations: int, level: float) -> NDArray[np.float64]:
    """Return √(2(1 + 1/n)·ln(√(n + 1)(2^O − 2)/d)/n); 2^O is never formed."""
    if num_observations == 1:
        return np.zeros_like(n)
    log_subsets = num_observations * math.log(2.0) + math.log1p(-(2.0 ** (1 - num_observations)))
    log_term = 0.5 * np.log(n + 1.0) + log_subsets - math.log(level)
    radius: NDArray[np.float64] = np.sqrt(2.0 * (1.0 + 1.0 / n) * log_term / n)
    return radius


def bernstein_interval(
    p_hat: NDArray[np.float64], n: NDArray[np.float64], level: float, scale: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the ends of {x : |x − p̂| ≤ γ(√(2β·x(1 − x)/n) + β/(3n))}.

    Each end solves (x − p̂ ∓ c)² = s·x(1 − x) with c = γβ/(3n), s = 2γ²β/n; where the shift c alone reaches past 0 or
    1, the end is there.
    """
    most = np.maximum(n, math.e)
    beta = ETA * np.log(np.log(most) * np.log(ETA * most) / (level * math.log(ETA) ** 2))
    shift, slope = scale * beta / (3.0 * n), 2.0 * scale**2 * beta / n

    def root(centre: NDArray[np.float64], sign: float) -> NDArray[np.float64]:
        # The discriminant (c + s/2)² − (1 + s)c² in a form without cancellation: ends near 1 need it.
        inside = np.maximum(0.0, slope * (centre * (1.0 - centre) + 0.25 * slope))
        return (centre + 0.5 * slope + sign * np.sqrt(inside)) / (1.0 + slope)

    low, high = p_hat - shift, p_hat + shift
    lower = np.where(low > 0.0, root(low, -1.0), 0.0)
    upper = np.where(high < 1.0, root(high, 1.0), 1.0)
    return np.clip(lower, 0.0, p_hat), np.clip(upper, p_hat, 1.0)


def dense_rows(spec: TaskSpec) -> tuple[DenseRows, LayerArrays]:
    """Number the continuation rows of every (o, a, o'), once for a run."""
    labels, table = spec.dense_labels
    successors = np.broadcast_to(np.arange(spec.num_observations, dtype=np.int32), labels.shape)
    rows, row_labels, extra_targets = continuation_rows(
        labels.ravel(), successors.ravel(), table.inert, spec.num_observations
    )
    row_targets = np.concatenate((np.arange(spec.num_observations, dtype=np.int32), extra_targets))
    return DenseRows(rows.reshape(labels.shape), row_targets, row_labels), table.layers
