"""UCBVI-PRM, the paper's learner (Algorithms 1 and 2), whose regret does not grow with the machine; and UCBVI.

UCBVI-PRM estimates p over (o, a) only and plans with the known machine. With n = N(o, a), p̂ = N(o, a, ·)/n,
W(q, o') = Σ_q' τ(q'|q, σ)·V_{h+1}(o', q'), ι = ln(6·M·O·A·T/ρ), c = 100²H³O²Aι² and κ = ``bonus_scale``,
for visited pairs:

    b = √(8ι·Var_p̂(W)/n) + 14Hι/(3n) + √(2ι/n) + √(8·Σ p̂(o')·min(c/N'_{h+1}(o'), H²)/n)
    Q_h = min{Q_h of the previous plan, H, Σ p̂(φ + W) + κ·b},      V_h = max_a Q_h,

and Q_h = H for the others.

Differences from the paper's text: a pair is known when N(o, a) > 0 (Algorithm 1 says ≥ 0); c has H³, as in
Algorithm 2 and Lemma 13 (some lines of the appendix have H²), N' = 0 counts as H², and a transition that ends the
episode adds nothing to the last term, since the value of an end is known; equal best actions are sampled uniformly when
the plan is made; a plan that is due starts with the next episode, so that every episode is played by one policy.

UCBVI (Azar et al. 2017, Bernstein form) does the same on the cross product and does not use the machine. It counts
product states s = (q, o) and their successors, with S = M·O and L = ln(5·S·A·T/ρ) in place of O and ι. The reward of a
transition that was seen is known, so there is no bonus √(2ι/n) for rewards.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia._support.arithmetic import portable_log
from praemia.learners.backward import plan_with_bonus
from praemia.learners.base import Learner, LearnerPlan, bonus_scale_parameter, failure_prob_parameter
from praemia.learners.experience import Experience
from praemia.learners.learned_machine import PER_VISIT, CanLearnMachine
from praemia.tasks.spec import TaskSpec


class UCBVI(Learner):
    """UCBVI on the cross product of the environment and the machine.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.make("warehouse-3")
    >>> run = praemia.simulate(task, praemia.UCBVI(bonus_scale=1), num_episodes=100, seed=0)
    >>> bool(run.optimistic_values.min() >= run.optimal_value)  # its values are never below the optimum
    True
    """

    summary = "ucbvi-prm's value iteration on the product, blind to the machine"
    reference = "Azar, Osband and Munos 2017, Minimax Regret Bounds for RL"
    sees = "product"
    optimistic = True
    has_estimate = True
    uses_steps = True
    union = 5.0  # the factor in ι

    bonus_scale: float = bonus_scale_parameter(0.001)
    failure_prob: float = failure_prob_parameter()

    def log_term(self, spec: TaskSpec, num_steps: int) -> float:
        """Return ι; of the product task, whose observations are the product states, L."""
        sizes = spec.num_machine_states * spec.num_observations * spec.num_actions
        return portable_log(self.union * sizes * num_steps / self.failure_prob)

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        spec, n = experience.spec, np.maximum(1.0, experience.visits)
        iota, cap = self.log_term(spec, experience.num_steps), float(spec.value_caps[0])
        bonus = 14 / 3 * cap * iota / n + self.reward_bonus(iota, n)
        cost = 100.0**2 * spec.horizon**3 * spec.num_observations**2 * spec.num_actions * (iota * iota)
        bonus = bonus + np.sqrt(8 * later_visits(experience, cost, cap * cap)) / n
        return plan_with_bonus(
            experience,
            self.bonus_scale * bonus,
            deviation_scale=self.bonus_scale * np.sqrt(8 * iota / n),
            cap="horizon",
            monotone_with=previous,
            variance_of="W",
            machine=self.machine(experience),
            rng=rng,
        )

    def reward_bonus(self, iota: float, n: NDArray[np.int64]) -> Any:
        """Return the bonus for rewards: 0, since the reward of an observed transition is known."""
        return 0.0

    def machine(self, experience: Experience) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Return the estimate of a learned machine; None if the machine is known."""
        return None


class UCBVIPRM(CanLearnMachine, UCBVI):
    """UCBVI for probabilistic reward machines.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.make("warehouse-3")
    >>> run = praemia.simulate(task, praemia.UCBVIPRM(bonus_scale=1), num_episodes=100, seed=0)
    >>> bool(run.optimistic_values.min() >= run.optimal_value)  # its values are never below the optimum
    True
    """

    name = "ucbvi-prm"
    summary = "optimistic value iteration, Bernstein bonus; the paper's learner"
    reference = "Lin and Zhang 2025 (AAAI), Efficient RL in Probabilistic Reward Machines"
    sees = "observations"
    union = 6.0

    def reward_bonus(self, iota: float, n: NDArray[np.int64]) -> Any:
        """Return √(2ι/n): rewards come through the machine."""
        return np.sqrt(2 * iota / n)

    def machine(self, experience: Experience) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        per_root = self.bonus_scale * self.machine_root(experience, self.failure_prob)
        return self.estimated_machine(experience, per_root, PER_VISIT)


def later_visits(experience: Experience, cost: float, caps: float | NDArray[np.float64]) -> NDArray[Any]:
    """Return Σ N(o, a, o')·min(c/N'_{h+1}(o'), cap_h²) as [H, 1, O, A]; an end adds nothing.

    ``caps`` are the squares of the caps: one number, or [H, 1, 1, 1]. N' never exceeds the number k of episodes begun:
    where c/k is above them, the minimum is the cap everywhere, and the sum is cap²·(n − n_end).
    """
    spec = experience.spec
    if cost >= (experience.episodes_played + 1) * (caps.max() if isinstance(caps, np.ndarray) else caps):
        going_on = experience.visits - experience.ends if spec.can_end else experience.visits
        return caps * going_on
    seen = experience.transitions
    pairs, counts = seen.observations * spec.num_actions + seen.actions, np.where(seen.ends, 0, seen.counts)
    sums = np.empty((spec.horizon, 1, spec.num_observations, spec.num_actions))
    for h, cap in enumerate(np.broadcast_to(np.ravel(caps), spec.horizon)):
        later = experience.step_visits[h + 1, seen.successors]
        smaller = np.where(later > 0, np.minimum(cost / np.maximum(1, later), cap), cap)
        sums[h, 0] = np.bincount(pairs, counts * smaller, minlength=experience.visits.size).reshape(sums.shape[2:])
    return sums
