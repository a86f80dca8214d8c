"""The Bernstein bonus that UCBVI-PRM and UCBVI share, and its last term: what W itself may still be wrong by."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from praemia.kernels.recursion import PlanData
from praemia.learners.base import bonus_scale_parameter, failure_prob_parameter
from praemia.learners.compiled import BonusLearner
from praemia.tasks.task import TaskSpec


def add_later_visits(data: PlanData, pair: int, visits_of_state: float) -> None:
    """Fill by_step[h, pair] = factor·√(Σ p̂(o')·min(c/N'_{h+1}(o'), cap_h²)/n), from the visits N' at each step.

    ``constants`` begins with c, the cap of the first step, and the factor. Where by_step has no rows, nothing is done.
    """
    cost, factor, first = data.constants[0], data.constants[2], data.counts.first[pair]
    for h in range(data.memory.by_step.shape[0]):
        most, total = data.spec.caps[h] * data.spec.caps[h], 0.0
        for e in range(first, first + np.int64(data.counts.distinct[pair])):
            later = data.counts.steps[h + 1, data.counts.successors[e]]
            total += data.counts.counts[e] * (most if later == 0 else min(cost / later, most))
        data.memory.by_step[h, pair] = factor * np.sqrt(total) / data.counts.visits[pair]


@dataclass(frozen=True, kw_only=True)
class BernsteinUCBVI(BonusLearner):
    """What UCBVI-PRM and UCBVI on the product share: the bonus, up to ι and the term for rewards."""

    uses_steps: ClassVar[bool] = True
    optimistic: ClassVar[bool] = True
    is_monotone: ClassVar[bool] = True
    deviation_without_reward: ClassVar[bool] = True
    cap_is_horizon: ClassVar[bool] = True
    prepare_steps: ClassVar[Any] = staticmethod(add_later_visits)

    bonus_scale: float = bonus_scale_parameter(0.001)
    failure_prob: float = failure_prob_parameter()

    @abstractmethod
    def log_term(self, spec: TaskSpec, num_steps: int) -> float:
        """Return ι."""

    @abstractmethod
    def reward_term(self, iota: float) -> float:
        """Return what the bonus for rewards is multiplied by √n."""

    def run_constants(self, spec: TaskSpec, num_episodes: int) -> tuple[float, ...]:
        iota, most = self.log_term(spec, num_episodes * spec.horizon), float(spec.value_caps[0])
        c = self.later_cost(spec, num_episodes)
        # Where c/N' cannot fall below H² in this run, the last term is √8·H/√n.
        root = self.reward_term(iota) + (0.0 if self.needs_steps(spec, num_episodes) else math.sqrt(8.0) * most)
        return c, most, self.bonus_scale * math.sqrt(8.0), self.bonus_scale, iota, root

    def later_cost(self, spec: TaskSpec, num_episodes: int) -> float:
        """Return c."""
        iota = self.log_term(spec, num_episodes * spec.horizon)
        return 100.0**2 * spec.horizon**3 * spec.num_observations**2 * spec.num_actions * (iota * iota)

    def needs_steps(self, spec: TaskSpec, num_episodes: int) -> bool:
        # N' never exceeds K.
        most = float(spec.value_caps[0])
        return self.later_cost(spec, num_episodes) < num_episodes * (most * most)

    @staticmethod
    def pair_numbers(visits: float, visits_of_state: float, constants: NDArray[np.float64]) -> tuple[float, ...]:
        most, scale, iota, root = constants[1], constants[3], constants[4], constants[5]
        flat = 14.0 / 3.0 * most * iota / visits + root / np.sqrt(visits)
        return scale * np.sqrt(8.0 * iota / visits), scale * flat

    @staticmethod
    def worth(mean: Any, deviation: Any, pair: Any) -> Any:
        per_deviation, flat = pair.numbers
        return mean + (per_deviation * deviation + (flat + pair.by_step))
