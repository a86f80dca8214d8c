"""Optimistic value iteration with any bonus of the form c₁·√Var + c₂: the recursion that several learners share.

For a known pair, with p̂ = N(o, a, ·)/n and Y(m, o') = φ + W = what the step pays and what is to come:

    Q_h = min{Q_h of the previous plan, cap_h, Σ p̂ Y + c₁(o, a)·√Var_p̂(Y) + c₂(h, o, a)},      V_h = max_a Q_h,

and Q_h = cap_h for the others. The learner gives c₁ and c₂ as arrays over slots, so that they may depend on n in any
way. Without a previous plan the first member is left out.
"""

from __future__ import annotations

import numpy as np

from praemia.kernels.arrays import LANES, Actions, Floats, LayerArrays
from praemia.kernels.compiling import compiled
from praemia.kernels.moments import moments
from praemia.kernels.observe import SeenArrays
from praemia.kernels.rows import copied, fill_extra_rows, padded_width
from praemia.kernels.simd import load, select, store, zeros
from praemia.kernels.ties import take_best


@compiled()
def plan_with_bonus(
    seen: SeenArrays,
    layers: LayerArrays,
    phi: Floats,
    per_deviation: Floats,
    flat: Floats,
    caps: Floats,
    previous: Floats,
    policy: Actions,
    num_actions: int,
    seed: int,
) -> tuple[Floats, Floats]:
    """Make a plan: update policy[H, O, M] for the active observations; return Q[H, V, W] and V_0[O, M].

    layers holds τ alone, phi (flat [L·W]) the mean rewards. per_deviation[V] is c₁, flat[H, V] is c₂, caps[H] the most
    that Q_h can be. previous[H, V', W] is the Q of the plan before, for the slots that existed then.
    """
    horizon, num_obs, num_states = policy.shape
    known_slots, num_slots, width = previous.shape[1], seen.visits.shape[0], padded_width(num_states)
    tables = np.zeros((2, num_obs + seen.row_labels.shape[0], width))
    action_values = np.empty((horizon, num_slots, width))
    old_values, new_values, actions = previous.reshape(-1), action_values.reshape(-1), policy.reshape(-1)
    values, tie, zero = np.empty(num_actions * LANES), seed, zeros(4)
    for h in range(horizon - 1, -1, -1):
        after, here = tables[(h + 1) % 2], tables[h % 2]
        fill_extra_rows(after, num_obs, seen.row_labels, seen.row_targets, layers)
        here[:] = caps[h]
        worth, best = after.reshape(-1), here.reshape(-1)
        for i in range(seen.active.shape[0]):
            o = int(seen.active[i])
            for lane in range(0, width, LANES):
                for a in range(num_actions):
                    v = int(seen.slots[o * num_actions + a])
                    value = zero + caps[h]
                    if v >= 0:
                        mean, deviation = moments(zero, seen, v, phi, worth, width, lane)
                        new = mean + per_deviation[v] * deviation + flat[h, v]
                        value = select(value > new, new, value)
                        if v < known_slots:
                            old = load(zero, old_values, (h * known_slots + v) * width + lane)
                            value = select(value > old, old, value)
                        store(new_values, (h * num_slots + v) * width + lane, value)
                    store(values, a * LANES, value)
                place = (h * num_obs + o) * num_states + lane
                tie = take_best(values, num_actions, best, o * width + lane, actions, place, num_states - lane, tie)
    return action_values, copied(tables[0], num_obs, num_states)
