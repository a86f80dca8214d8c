"""Optimistic value iteration with a Bernstein bonus (Algorithms 1 and 2 of the paper; Azar et al. 2017).

For visited pairs, with n = N(o, a), p̂ = N(o, a, ·)/n and W(m, o') = Σ_m' τ(m'|m, σ) V_{h+1}(o', m'):

    b = √(8ι·Var_p̂(W)/n) + 14Hι/(3n) + [√(2ι/n)] + √(8·Σ p̂(o')·min(c/N'_{h+1}(o'), H²)/n)
    Q_h = min{Q_h of the previous plan, H, Σ p̂(φ + W) + γ·b},      V_h = max_a Q_h,

and Q_h = H for the others. The term in brackets belongs to the paper's algorithm, where rewards come through the
machine; on the product, where the reward of a seen transition is known, it is left out.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from praemia.kernels.arrays import Actions, Floats, MachineArrays, SmallInts
from praemia.kernels.observe import SeenArrays
from praemia.kernels.rows import fill_extra_rows
from praemia.kernels.ties import next_tie


@njit(cache=True)
def pair_rewards(seen: SeenArrays, phi: Floats) -> Floats:
    """Return Σ p̂ φ for every slot and machine state: the mean reward, which does not depend on h."""
    num_slots, num_states = seen.visits.shape[0], phi.shape[1]
    rewards = np.zeros((num_slots, num_states))
    for v in range(num_slots):
        for e in range(seen.indptr[v], seen.indptr[v + 1]):
            for m in range(num_states):
                rewards[v, m] += seen.counts[e] * phi[seen.labels[e], m]
        for m in range(num_states):
            rewards[v, m] /= seen.visits[v]
    return rewards


@njit(cache=True)
def flat_bonus(
    seen: SeenArrays,
    v: int,
    steps: SmallInts,
    h: int,
    cap: float,
    horizon: int,
    iota: float,
    reward_bonus: bool,
) -> float:
    """Return the part of the bonus that is the same in every machine state."""
    n = float(seen.visits[v])
    worst = float(horizon * horizon)
    spread = worst
    if steps.shape[0] > 0:
        spread = 0.0
        for e in range(seen.indptr[v], seen.indptr[v + 1]):
            later = steps[h + 1, seen.successors[e]]
            spread += seen.counts[e] / n * (worst if later == 0 else min(cap / later, worst))
    flat = 14.0 * horizon * iota / (3.0 * n) + math.sqrt(8.0 * spread / n)
    return flat + math.sqrt(2.0 * iota / n) if reward_bonus else flat


@njit(cache=True)
def plan_ucbvi(
    seen: SeenArrays,
    machine: MachineArrays,
    phi: Floats,
    steps: SmallInts,
    previous: Floats,
    policy: Actions,
    num_actions: int,
    iota: float,
    scale: float,
    reward_bonus: bool,
    cap: float,
    seed: int,
) -> tuple[Floats, Floats]:
    """Make a plan: update policy[H, S, M] for the active states; return Q[H, V, M] and V_0[S, M].

    machine holds τ with rewards 0, phi[L, M] the mean rewards. previous[H, V', M] is the Q of the plan before, for the
    slots that existed then. steps is N'[H + 1, S], or empty when c/N' cannot fall below H² in this run.

    The loop over machine states is innermost and everything in it is indexed flat: this is most of a run's time.
    Means and variances are taken about the first successor's row, so that equal rows have variance 0 exactly.
    """
    horizon, num_obs, num_states = policy.shape
    num_slots, known_slots = seen.visits.shape[0], previous.shape[1]
    indptr, rows, counts, slots, active = seen.indptr, seen.rows, seen.counts, seen.slots, seen.active
    tables = np.zeros((2, num_obs + seen.row_labels.shape[0], num_states))
    rewards = pair_rewards(seen, phi)
    action_values = np.empty((horizon, num_slots, num_states))
    mean, square, best = np.empty(num_states), np.empty(num_states), np.empty(num_states)
    equals, tie = np.zeros(num_states, dtype=np.int64), seed
    limit = float(horizon)
    flat, per_deviation = np.empty(num_slots), np.empty(num_slots)
    for v in range(num_slots):
        flat[v] = flat_bonus(seen, v, steps[:0], 0, cap, horizon, iota, reward_bonus)
        per_deviation[v] = scale * math.sqrt(8.0 * iota / seen.visits[v])
    for h in range(horizon - 1, -1, -1):
        after, here = tables[(h + 1) % 2], tables[h % 2]
        fill_extra_rows(after, num_obs, seen.row_labels, seen.row_targets, machine)
        if h >= horizon - 2:
            here[:] = limit
        for i in range(active.shape[0]):
            o = active[i]
            for m in range(num_states):
                best[m] = -1.0
            for a in range(num_actions):
                v = slots[o * num_actions + a]
                if v >= 0:
                    first = indptr[v]
                    base = rows[first]
                    for m in range(num_states):
                        mean[m] = 0.0
                        square[m] = 0.0
                    for e in range(first + 1, indptr[v + 1]):
                        row, count = rows[e], counts[e]
                        for m in range(num_states):
                            off = after[row, m] - after[base, m]
                            mean[m] += count * off
                            square[m] += count * off * off
                    inverse = 1.0 / seen.visits[v]
                    fixed = flat[v]
                    if steps.shape[0] > 0:
                        fixed = flat_bonus(seen, v, steps, h, cap, horizon, iota, reward_bonus)
                for m in range(num_states):
                    value = limit
                    if v >= 0:
                        off = mean[m] * inverse
                        deviation = math.sqrt(max(0.0, square[m] * inverse - off * off))
                        bonus = per_deviation[v] * deviation + scale * fixed
                        value = min(limit, rewards[v, m] + after[base, m] + off + bonus)
                        if v < known_slots:
                            value = min(value, previous[h, v, m])
                        action_values[h, v, m] = value
                    if value > best[m]:
                        best[m] = value
                        policy[h, o, m] = a
                        equals[m] = 1
                    elif value == best[m]:
                        equals[m] += 1
                        tie = next_tie(tie)
                        if tie % equals[m] == 0:
                            policy[h, o, m] = a
            for m in range(num_states):
                here[o, m] = best[m]
    return action_values, tables[0, :num_obs].copy()
