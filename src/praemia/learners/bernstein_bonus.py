"""The Bernstein bonus that UCBVI-PRM and UCBVI share; its last term is what W itself may still be wrong by."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from praemia.learners.base import bonus_scale_parameter, failure_prob_parameter
from praemia.learners.compiled import CompiledLearner
from praemia.learners.rules import BonusRule, LaterVisits
from praemia.tasks.task import TaskSpec


@dataclass(frozen=True, kw_only=True)
class BernsteinUCBVI(CompiledLearner):
    """What UCBVI-PRM and UCBVI on the product share: the bonus, up to ι and the term for rewards."""

    optimistic: ClassVar[bool] = True

    bonus_scale: float = bonus_scale_parameter(0.001)
    failure_prob: float = failure_prob_parameter()

    @abstractmethod
    def log_term(self, spec: TaskSpec, num_steps: int) -> float:
        """Return ι."""

    @abstractmethod
    def reward_term(self, iota: float) -> float:
        """Return the bonus for rewards, times √n."""

    def rule(self, spec: TaskSpec, num_episodes: int) -> BonusRule:
        iota, most = self.log_term(spec, num_episodes * spec.horizon), float(spec.value_caps[0])
        cost = 100.0**2 * spec.horizon**3 * spec.num_observations**2 * spec.num_actions * (iota * iota)
        # N' never exceeds K. Where c/N' cannot fall below H² in this run, the last term is √8·H/√n.
        sees_steps = cost < num_episodes * (most * most)
        root = self.reward_term(iota) + (0.0 if sees_steps else math.sqrt(8.0) * most)
        return BonusRule(
            worth=worth,
            numbers=pair_numbers,
            constants=(most, self.bonus_scale, iota, root),
            variance_of="W",
            limit="horizon",
            monotone=True,
            later_visits=LaterVisits(cost, self.bonus_scale * math.sqrt(8.0)) if sees_steps else None,
        )


def pair_numbers(visits: float, visits_of_state: float, constants: NDArray[np.float64]) -> tuple[float, ...]:
    """Return γ·√(8ι/n), and the terms of the bonus that are the same at every step."""
    most, scale, iota, root = constants[0], constants[1], constants[2], constants[3]
    flat = 14.0 / 3.0 * most * iota / visits + root / np.sqrt(visits)
    return scale * np.sqrt(8.0 * iota / visits), scale * flat


def worth(mean: Any, deviation: Any, pair: Any) -> Any:
    """Return the mean and the bonus."""
    per_deviation, flat = pair.numbers
    return mean + (per_deviation * deviation + (flat + pair.by_step))
