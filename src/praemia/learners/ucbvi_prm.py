"""UCBVI-PRM: the paper's learner (Algorithms 1 and 2), whose regret does not grow with the machine.

It estimates p over (o, a) only and plans with the known machine; the recursion is written out in
``praemia.kernels.ucbvi``, with ι = ln(6·Q·O·A·T/ρ) and c = 100²H³O²Aι².

Differences from the paper's text: a pair is known when N(o, a) > 0 (Algorithm 1 says ≥ 0); c has H³, as in
Algorithm 2 and Lemma 13 (some lines of the appendix have H²), and N' = 0 counts as H²; equal best actions are drawn
uniformly when the plan is made; a plan that is due starts with the next episode, so that every episode is played by
one policy. Successors that were never seen are never stored.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from praemia.kernels.arrays import Actions, action_type, padded_width
from praemia.kernels.ucbvi import plan_ucbvi
from praemia.learners.base import (
    Experience,
    Learner,
    LearnerPlan,
    bonus_scale_parameter,
    failure_prob_parameter,
    tie_seed,
)
from praemia.models.limits import require_memory
from praemia.models.task import TaskSpec

LARGE = 1 << 28  # bytes of action values from which on it is asked whether they fit


@dataclass(frozen=True, kw_only=True)
class UCBVIPRM(Learner):
    """UCBVI for probabilistic reward machines."""

    name: ClassVar[str] = "ucbvi-prm"
    summary: ClassVar[str] = "optimistic value iteration, Bernstein bonus on W; the paper's learner"
    reference: ClassVar[str] = "Lin and Zhang 2024, Efficient RL in Probabilistic Reward Machines"
    uses_steps: ClassVar[bool] = True
    optimistic: ClassVar[bool] = True

    bonus_scale: float = bonus_scale_parameter(0.001)
    failure_prob: float = failure_prob_parameter()

    def log_term(self, spec: TaskSpec, num_steps: int) -> float:
        """Return ι."""
        sizes = spec.num_machine_states * spec.num_observations * spec.num_actions
        return math.log(6.0 * sizes * num_steps / self.failure_prob)

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        iota = self.log_term(experience.spec, experience.num_steps)
        return optimistic_plan(experience, previous, rng, iota, self.bonus_scale, reward_bonus=True)


def optimistic_plan(
    experience: Experience,
    previous: LearnerPlan | None,
    rng: np.random.Generator,
    iota: float,
    scale: float,
    *,
    reward_bonus: bool,
) -> LearnerPlan:
    """Plan on whatever states the experience counts: observations here, product states for UCBVI."""
    spec = experience.spec
    cap = 100.0**2 * spec.horizon**3 * spec.num_observations**2 * spec.num_actions * iota**2
    # N' never exceeds K: when even c/K is above H², the minimum is H² everywhere and N' is not looked at.
    steps = experience.steps if cap < experience.num_episodes * spec.horizon**2 else experience.steps[:0]
    if previous is None:
        policy = first_policy(spec, rng)
        memory, visits = np.empty((spec.horizon, 0, padded_width(spec.num_machine_states))), np.empty(0)
    else:
        policy = previous.policy.copy()
        memory, visits = previous.memory
    size = 8 * spec.horizon * len(experience.seen.visits) * padded_width(spec.num_machine_states)
    if size >= LARGE:
        require_memory(2 * size, "the action values of two plans")
    action_values, values = plan_ucbvi(
        experience.seen,
        spec.table.transition_layers,
        spec.table.layers.paid,
        steps,
        memory,
        visits,
        policy,
        spec.num_actions,
        iota,
        scale,
        reward_bonus,
        cap,
        tie_seed(rng),
    )
    return LearnerPlan(policy, values, (action_values, experience.seen.visits))


def first_policy(spec: TaskSpec, rng: np.random.Generator) -> Actions:
    """Draw a policy [H, O, M] for the time when nothing is known and all actions are equally good."""
    shape = (spec.horizon, spec.num_observations, spec.num_machine_states)
    return rng.integers(0, spec.num_actions, size=shape, dtype=action_type(spec.num_actions))
