"""UCBVI-PRM, the paper's learner (Algorithms 1 and 2), whose regret does not grow with the machine; and UCBVI.

UCBVI-PRM estimates p over (o, a) only and plans with the known machine. With n = N(o, a), p̂ = N(o, a, ·)/n,
W(m, o') = Σ_m' τ(m'|m, σ)·V_{h+1}(o', m'), ι = ln(6·M·O·A·T/ρ), c = 100²H³O²Aι² and κ = ``bonus_scale``,
for visited pairs:

    b = √(8ι·Var_p̂(W)/n) + 14Hι/(3n) + √(2ι/n) + √(8·Σ p̂(o')·min(c/N'_{h+1}(o'), H²)/n)
    Q_h = min{Q_h of the previous plan, H, Σ p̂(φ + W) + κ·b},      V_h = max_a Q_h,

and Q_h = H for the others.

Differences from the paper's text: a pair is known when N(o, a) > 0 (Algorithm 1 says ≥ 0); c has H³, as in
Algorithm 2 and Lemma 13 (some lines of the appendix have H²), and N' = 0 counts as H²; equal best actions are drawn
uniformly when the plan is made; a plan that is due starts with the next episode, so that every episode is played by
one policy. Successors that were never seen are never stored.

UCBVI (Azar et al. 2017, Bernstein form) does the same on the cross product and does not use the machine. It counts
product states s = (m, o) and their successors, with S = M·O and L = ln(5·S·A·T/ρ), for visited pairs:

    b = √(8L·Var_P̂(V)/N) + 14HL/(3N) + √(8·Σ P̂(s')·min(100²H³S²AL²/N'_{h+1}(s'), H²)/N)
    Q_h = min{Q_h of the previous plan, H, Σ P̂(ν̄ + V) + κ·b},      V_h = max_a Q_h,

and Q_h = H for the others. The reward of a transition that was seen is known (ν̄), so there is no bonus for rewards.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from praemia.arithmetic import portable_log
from praemia.learners.base import bonus_scale_parameter, failure_prob_parameter
from praemia.learners.compiled import BonusLearner
from praemia.learners.learned_machine import PER_VISIT, CanLearnMachine
from praemia.tasks.spec import TaskSpec


@dataclass(frozen=True, kw_only=True)
class BernsteinUCBVI(BonusLearner):
    """What UCBVI-PRM and UCBVI share: the bonus, up to ι and the term for rewards."""

    optimistic: ClassVar[bool] = True
    variance_of: ClassVar[str] = "W"
    limit: ClassVar[str] = "horizon"
    monotone: ClassVar[bool] = True

    bonus_scale: float = bonus_scale_parameter(0.001)
    failure_prob: float = failure_prob_parameter()

    @abstractmethod
    def log_term(self, spec: TaskSpec, num_steps: int) -> float:
        """Return ι."""

    @abstractmethod
    def reward_term(self, iota: float) -> float:
        """Return the bonus for rewards, times √n."""

    def later_visits(self, spec: TaskSpec, num_episodes: int) -> tuple[float, float] | None:
        iota, most = self.log_term(spec, num_episodes * spec.horizon), float(spec.value_caps[0])
        cost = 100.0**2 * spec.horizon**3 * spec.num_observations**2 * spec.num_actions * (iota * iota)
        # N' never exceeds K. Where c/N' cannot fall below H² in this run, the last term is √8·H/√n.
        return (cost, self.bonus_scale * math.sqrt(8.0)) if cost < num_episodes * (most * most) else None

    def run_constants(self, spec: TaskSpec, num_episodes: int) -> tuple[float, ...]:
        iota, most = self.log_term(spec, num_episodes * spec.horizon), float(spec.value_caps[0])
        last_term = math.sqrt(8.0) * most if self.later_visits(spec, num_episodes) is None else 0.0
        return most, self.bonus_scale, iota, self.reward_term(iota) + last_term

    @staticmethod
    def pair_numbers(visits: float, visits_of_state: float, constants: NDArray[np.float64]) -> tuple[float, ...]:
        """Return κ·√(8ι/n), and the terms of the bonus that are the same at every step."""
        most, scale, iota, root = constants[0], constants[1], constants[2], constants[3]
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
    summary: ClassVar[str] = "optimistic value iteration, Bernstein bonus; the paper's learner"
    reference: ClassVar[str] = "Lin and Zhang 2024, Efficient RL in Probabilistic Reward Machines"

    def log_term(self, spec: TaskSpec, num_steps: int) -> float:
        sizes = spec.num_machine_states * spec.num_observations * spec.num_actions
        return portable_log(6.0 * sizes * num_steps / self.failure_prob)

    def reward_term(self, iota: float) -> float:
        """Return √(2ι): rewards come through the machine."""
        return math.sqrt(2.0 * iota)

    def machine_bonus(self, spec: TaskSpec, num_episodes: int) -> tuple[float, float]:
        root = self.machine_root(spec, num_episodes * spec.horizon, self.failure_prob)
        return self.bonus_scale * root, PER_VISIT


@dataclass(frozen=True, kw_only=True)
class UCBVI(BernsteinUCBVI):
    """UCBVI on the cross product of the environment and the machine.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.make("warehouse-3")
    >>> run = praemia.simulate(task, praemia.UCBVI(bonus_scale=1), num_episodes=100, seed=0)
    >>> bool(run.optimistic_values.min() >= run.optimal_value)  # it never promises less than the optimum
    True
    """

    name: ClassVar[str] = "ucbvi"
    summary: ClassVar[str] = "ucbvi-prm's value iteration on the product, blind to the machine"
    reference: ClassVar[str] = "Azar, Osband and Munos 2017, Minimax Regret Bounds for RL"
    sees: ClassVar[str] = "product"

    def log_term(self, spec: TaskSpec, num_steps: int) -> float:
        """Return L; the spec is that of the product task, whose observations are the product states."""
        return portable_log(5.0 * spec.num_observations * spec.num_actions * num_steps / self.failure_prob)

    def reward_term(self, iota: float) -> float:
        """Return 0: the reward of a transition that was seen is known."""
        return 0.0
