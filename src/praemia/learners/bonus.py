"""What the learners with a bonus of the form c₁·√Var + c₂ share: from their coefficients to a plan."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from praemia.kernels.bonus import plan_with_bonus
from praemia.kernels.observe import SeenArrays
from praemia.learners.base import Experience, LearnerPlan, tie_seed
from praemia.learners.ucbvi_prm import first_policy


def bonus_plan(
    experience: Experience,
    previous: LearnerPlan | None,
    rng: np.random.Generator,
    *,
    per_deviation: NDArray[np.float64],
    flat: NDArray[np.float64],
    caps: NDArray[np.float64],
    monotone: bool = False,
    seen: SeenArrays | None = None,
) -> LearnerPlan:
    """Plan with Q_h = min(cap_h, Σ p̂ Y + per_deviation·√Var_p̂(Y) + flat), Y = φ + W.

    Parameters
    ----------
    per_deviation : float64[V], the factor of the standard deviation, for each slot.
    flat : float64[H, V], the rest of the bonus; an array that spreads to this shape will do.
    caps : float64[H], the most that Q_h can be, and what pairs without a slot are worth.
    monotone : whether Q never rises above that of the plan before, which is kept as the plan's memory.
    seen : the counts to plan with, where they are not those of the experience.
    """
    spec, seen = experience.spec, experience.seen if seen is None else seen
    policy = first_policy(spec, rng) if previous is None else previous.policy.copy()
    before = previous.memory if monotone and previous is not None else np.empty((spec.horizon, 0, 1))
    action_values, values = plan_with_bonus(
        seen,
        spec.table.transition_layers,
        spec.table.layers.paid,
        np.ascontiguousarray(per_deviation),
        np.ascontiguousarray(np.broadcast_to(flat, (spec.horizon, len(seen.visits)))),
        np.ascontiguousarray(caps),
        before,
        policy,
        spec.num_actions,
        tie_seed(rng),
    )
    return LearnerPlan(policy, values, action_values if monotone else None)


def steps_left(horizon: int) -> NDArray[np.float64]:
    """Return H − h for every step h: the most that can still be earned, a reward being at most 1."""
    return np.arange(horizon, 0, -1, dtype=np.float64)
