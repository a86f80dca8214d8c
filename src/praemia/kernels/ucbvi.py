"""Optimistic value iteration with a Bernstein bonus (Algorithms 1 and 2 of the paper; Azar et al. 2017).

For visited pairs, with n = N(o, a), p̂ = N(o, a, ·)/n and W(m, o') = Σ_m' τ(m'|m, σ) V_{h+1}(o', m'):

    b = √(8ι·Var_p̂(W)/n) + 14Hι/(3n) + [√(2ι/n)] + √(8·Σ p̂(o')·min(c/N'_{h+1}(o'), H²)/n)
    Q_h = min{Q_h of the previous plan, H, Σ p̂(φ + W) + γ·b},      V_h = max_a Q_h,

and Q_h = H for the others. The term in brackets belongs to the paper's algorithm, where rewards come through the
machine; on the product, where the reward of a seen transition is known, it is left out.

Work is reused: a pair that was not visited since the previous plan, and whose successors' V_{h+1} are the same numbers
as then, has the same Q_h. On large tasks that is most pairs; the result is that of the full plan, bit for bit.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from praemia.kernels.arrays import LANES, Actions, Floats, LayerArrays, SmallInts
from praemia.kernels.compiling import compiled
from praemia.kernels.moments import moments_to_come
from praemia.kernels.observe import SeenArrays
from praemia.kernels.rows import copied, fill_extra_rows, padded_width
from praemia.kernels.simd import any_lane, load, select, store, zeros
from praemia.kernels.ties import take_best


@compiled()
def pair_rewards(seen: SeenArrays, phi: Floats, width: int) -> Floats:
    """Return Σ p̂ φ for every slot and machine state, flat [V·W]: the mean reward, which does not depend on h."""
    num_slots = seen.visits.shape[0]
    rewards = np.empty(num_slots * width)
    zero = zeros(4)
    for v in range(num_slots):
        for lane in range(0, width, LANES):
            total = zero
            for e in range(seen.indptr[v], seen.indptr[v + 1]):
                total = total + seen.counts[e] * load(zero, phi, seen.labels[e] * width + lane)
            store(rewards, v * width + lane, total * (1.0 / seen.visits[v]))
    return rewards


@compiled()
def carried_over(previous: Floats, num_slots: int, limit: float) -> Floats:
    """Return the Q of the plan before with room for the slots that are new, which start at the limit."""
    horizon, known, width = previous.shape
    action_values = np.empty((horizon, num_slots, width))
    for h in range(horizon):
        for v in range(num_slots):
            for m in range(width):
                action_values[h, v, m] = previous[h, v, m] if v < known else limit
    return action_values


@compiled()
def bonus_factors(seen: SeenArrays, iota: float, scale: float, limit: float, per_root: float) -> tuple[Floats, Floats]:
    """Return for every slot what its bonus has at any h and m, and the factor of the deviation.

    per_root is the factor of 1/√n: the bonus for rewards, and the last term where c/N' cannot fall below H².
    """
    num_slots = seen.visits.shape[0]
    flat, per_deviation = np.empty(num_slots), np.empty(num_slots)
    for v in range(num_slots):
        inverse = 1.0 / seen.visits[v]
        inverse_root = math.sqrt(inverse)
        flat[v] = scale * (14.0 / 3.0 * limit * iota * inverse + per_root * inverse_root)
        per_deviation[v] = scale * math.sqrt(8.0 * iota) * inverse_root
    return flat, per_deviation


@compiled(forceinline=True)
def later_visits_bonus(seen: SeenArrays, v: int, later: SmallInts, cap: float, worst: float) -> float:
    """Return the last term of the bonus, from later[o'] = N'_{h+1}(o') and worst = H²."""
    spread = 0.0
    for e in range(seen.indptr[v], seen.indptr[v + 1]):
        visits = later[seen.successors[e]]
        spread += seen.counts[e] * (worst if visits == 0 else min(cap / visits, worst))
    return math.sqrt(8.0 * spread) / float(seen.visits[v])


@compiled(forceinline=True)
def any_moved(seen: SeenArrays, v: int, moved: Any) -> bool:
    """Tell whether V moved at a successor of slot v."""
    for e in range(seen.indptr[v], seen.indptr[v + 1]):  # noqa: SIM110 - any() takes longer when compiled
        if moved[seen.successors[e]]:
            return True
    return False


@compiled()
def plan_ucbvi(
    seen: SeenArrays,
    layers: LayerArrays,
    phi: Floats,
    steps: SmallInts,
    previous: Floats,
    previous_visits: Floats,
    policy: Actions,
    num_actions: int,
    iota: float,
    scale: float,
    reward_bonus: bool,
    cap: float,
    seed: int,
) -> tuple[Floats, Floats]:
    """Make a plan: update policy[H, S, M] for the active states; return Q[H, V, W] and V_0[S, M].

    layers holds τ alone, phi (flat [L·W]) the mean rewards. previous[H, V', W] is the Q of the plan before and
    previous_visits[V'] its N(o, a), for the slots that existed then. steps is N'[H + 1, S], or empty when c/N' cannot
    fall below H² in this run.

    This is most of a run's time. Means and variances are taken about the first successor's row, so that equal rows
    have variance 0 exactly.
    """
    horizon, num_obs, num_states = policy.shape
    num_slots, width, limit = seen.visits.shape[0], padded_width(num_states), float(horizon)
    uses_steps = steps.shape[0] > 0
    action_values = carried_over(previous, num_slots, limit)
    old_values, actions = action_values.reshape(-1), policy.reshape(-1)
    rewards = pair_rewards(seen, phi, width)
    per_root = (math.sqrt(2.0 * iota) if reward_bonus else 0.0) + (0.0 if uses_steps else math.sqrt(8.0) * limit)
    flat, per_deviation = bonus_factors(seen, iota, scale, limit, per_root)
    stale = np.ones(num_slots, dtype=np.bool_)  # visited since the previous plan
    for v in range(0 if uses_steps else previous.shape[1]):
        stale[v] = seen.visits[v] != previous_visits[v]
    tables = np.zeros((2, num_obs + seen.row_labels.shape[0], width))
    moved = np.zeros((2, num_obs), dtype=np.bool_)  # V_h is not what it was in the previous plan
    values, tie, zero = np.empty(num_actions * LANES), seed, zeros(4)
    for h in range(horizon - 1, -1, -1):
        after, here = tables[(h + 1) % 2], tables[h % 2]
        moved_after, moved_here = moved[(h + 1) % 2], moved[h % 2]
        fill_extra_rows(after, num_obs, seen.row_labels, seen.row_targets, layers)
        if h >= horizon - 2:
            here[:] = limit
        worth, best = after.reshape(-1), here.reshape(-1)
        for i in range(seen.active.shape[0]):
            o = int(seen.active[i])
            moved_here[o] = False
            for lane in range(0, width, LANES):
                old = zero
                for a in range(num_actions):
                    v = int(seen.slots[o * num_actions + a])
                    value = zero + limit
                    if v >= 0:
                        at = (h * num_slots + v) * width + lane
                        value = load(zero, old_values, at)
                    old = select(value > old, value, old)
                    if v >= 0 and (stale[v] or any_moved(seen, v, moved_after)):
                        mean, deviation = moments_to_come(zero, seen, v, worth, width, lane)
                        fixed = flat[v]
                        if uses_steps:
                            fixed += scale * later_visits_bonus(seen, v, steps[h + 1], cap, limit * limit)
                        paid = load(zero, rewards, v * width + lane)
                        new = paid + mean + (per_deviation[v] * deviation + fixed)
                        value = select(value > new, new, value)
                        store(old_values, at, value)
                    store(values, a * LANES, value)
                place = (h * num_obs + o) * num_states + lane
                tie = take_best(values, num_actions, best, o * width + lane, actions, place, num_states - lane, tie)
                if any_lane(old > load(zero, best, o * width + lane), num_states - lane):
                    moved_here[o] = True
    return action_values, copied(tables[0], num_obs, num_states)
