"""UCBVI-PRM: the paper's learner (Algorithms 1 and 2), whose regret does not grow with the machine.

It estimates p over (o, a) only and plans with the known machine. With n = N(o, a), p̂ = N(o, a, ·)/n,
W(m, o') = Σ_m' τ(m'|m, σ)·V_{h+1}(o', m'), ι = ln(6·Q·O·A·T/ρ) and c = 100²H³O²Aι², for visited pairs:

    b = √(8ι·Var_p̂(W)/n) + 14Hι/(3n) + √(2ι/n) + √(8·Σ p̂(o')·min(c/N'_{h+1}(o'), H²)/n)
    Q_h = min{Q_h of the previous plan, H, Σ p̂(φ + W) + γ·b},      V_h = max_a Q_h,

and Q_h = H for the others.

Differences from the paper's text: a pair is known when N(o, a) > 0 (Algorithm 1 says ≥ 0); c has H³, as in
Algorithm 2 and Lemma 13 (some lines of the appendix have H²), and N' = 0 counts as H²; equal best actions are drawn
uniformly when the plan is made; a plan that is due starts with the next episode, so that every episode is played by
one policy. Successors that were never seen are never stored.
"""

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
from praemia.learners.machine_learning import PER_VISIT, CanLearnMachine
from praemia.models.task import TaskSpec


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
        return 100.0**2 * spec.horizon**3 * spec.num_observations**2 * spec.num_actions * iota**2

    def needs_steps(self, spec: TaskSpec, num_episodes: int) -> bool:
        # N' never exceeds K.
        return self.later_cost(spec, num_episodes) < num_episodes * float(spec.value_caps[0]) ** 2

    @staticmethod
    def pair_numbers(visits: float, visits_of_state: float, constants: NDArray[np.float64]) -> tuple[float, ...]:
        most, scale, iota, root = constants[1], constants[3], constants[4], constants[5]
        flat = 14.0 / 3.0 * most * iota / visits + root / np.sqrt(visits)
        return scale * np.sqrt(8.0 * iota / visits), scale * flat

    @staticmethod
    def worth(mean: Any, deviation: Any, pair: Any) -> Any:
        per_deviation, flat = pair.numbers
        return mean + (per_deviation * deviation + (flat + pair.by_step))


@dataclass(frozen=True, kw_only=True)
class UCBVIPRM(CanLearnMachine, BernsteinUCBVI):
    """UCBVI for probabilistic reward machines.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.make("warehouse-3")
    >>> run = praemia.simulate(task, praemia.UCBVIPRM(bonus_scale=1), num_episodes=100, seed=0)
    >>> bool(run.optimistic_values.min() >= run.optimal_value)  # it never promises less than the optimum
    True
    """

    name: ClassVar[str] = "ucbvi-prm"
    summary: ClassVar[str] = "optimistic value iteration, Bernstein bonus on W; the paper's learner"
    reference: ClassVar[str] = "Lin and Zhang 2024, Efficient RL in Probabilistic Reward Machines"

    def log_term(self, spec: TaskSpec, num_steps: int) -> float:
        sizes = spec.num_machine_states * spec.num_observations * spec.num_actions
        return math.log(6.0 * sizes * num_steps / self.failure_prob)

    def reward_term(self, iota: float) -> float:
        """Return √(2ι): rewards come through the machine."""
        return math.sqrt(2.0 * iota)

    def run_constants(self, spec: TaskSpec, num_episodes: int) -> tuple[float, ...]:
        root = self.machine_root(spec, num_episodes * spec.horizon, self.failure_prob)
        own = super().run_constants(spec, num_episodes)
        return *own, *self.machine_constants(self.bonus_scale * root, PER_VISIT)
