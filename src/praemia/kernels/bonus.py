"""Optimistic value iteration with any bonus of the form c₁·√Var + c₂: the recursion that several learners share.

For a known pair, with p̂ = N(o, a, ·)/n and Y(m, o') = φ + W = what the step pays and what is to come:

    Q_h = min{Q_h of the previous plan, cap_h, Σ p̂ Y + c₁(o, a)·√Var_p̂(Y) + c₂(h, o, a)},      V_h = max_a Q_h,

and Q_h = cap_h for the others. The learner gives c₁ and c₂ as arrays over slots, so that they may depend on n in any
way. Without a previous plan the first member is left out.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from praemia.kernels.arrays import Actions, Floats, MachineArrays
from praemia.kernels.observe import SeenArrays
from praemia.kernels.rows import fill_extra_rows
from praemia.kernels.ties import next_tie


@njit(cache=True)
def mean_and_deviation(seen: SeenArrays, v: int, phi: Floats, table: Floats, mean: Floats, deviation: Floats) -> None:
    """Fill mean[M] = Σ p̂ Y and deviation[M] = √Var_p̂(Y) of slot v, in every machine state.

    Both are taken about the first successor, so that equal Y have variance 0 exactly.
    """
    first, num_states = seen.indptr[v], mean.shape[0]
    base, label = seen.rows[first], seen.labels[first]
    for m in range(num_states):
        mean[m] = 0.0
        deviation[m] = 0.0
    for e in range(first + 1, seen.indptr[v + 1]):
        row, paid, count = seen.rows[e], seen.labels[e], seen.counts[e]
        for m in range(num_states):
            off = table[row, m] - table[base, m] + phi[paid, m] - phi[label, m]
            mean[m] += count * off
            deviation[m] += count * off * off
    inverse = 1.0 / seen.visits[v]
    for m in range(num_states):
        off = mean[m] * inverse
        deviation[m] = math.sqrt(max(0.0, deviation[m] * inverse - off * off))
        mean[m] = table[base, m] + phi[label, m] + off


@njit(cache=True)
def plan_with_bonus(
    seen: SeenArrays,
    machine: MachineArrays,
    phi: Floats,
    per_deviation: Floats,
    flat: Floats,
    caps: Floats,
    previous: Floats,
    policy: Actions,
    num_actions: int,
    seed: int,
) -> tuple[Floats, Floats]:
    """Make a plan: update policy[H, O, M] for the active observations; return Q[H, V, M] and V_0[O, M].

    machine holds τ with rewards 0, phi[L, M] the mean rewards. per_deviation[V] is c₁, flat[H, V] is c₂, caps[H] the
    most that Q_h can be. previous[H, V', M] is the Q of the plan before, for the slots that existed then.
    """
    horizon, num_obs, num_states = policy.shape
    known_slots = previous.shape[1]
    tables = np.zeros((2, num_obs + seen.row_labels.shape[0], num_states))
    action_values = np.empty((horizon, seen.visits.shape[0], num_states))
    mean, deviation, best = np.empty(num_states), np.empty(num_states), np.empty(num_states)
    equals, tie = np.zeros(num_states, dtype=np.int64), seed
    for h in range(horizon - 1, -1, -1):
        after, here, cap = tables[(h + 1) % 2], tables[h % 2], caps[h]
        fill_extra_rows(after, num_obs, seen.row_labels, seen.row_targets, machine)
        here[:] = cap
        for i in range(seen.active.shape[0]):
            o = seen.active[i]
            best[:] = -1.0
            for a in range(num_actions):
                v = seen.slots[o * num_actions + a]
                if v >= 0:
                    mean_and_deviation(seen, v, phi, after, mean, deviation)
                for m in range(num_states):
                    value = cap
                    if v >= 0:
                        value = min(cap, mean[m] + per_deviation[v] * deviation[m] + flat[h, v])
                        if v < known_slots:
                            value = min(value, previous[h, v, m])
                        action_values[h, v, m] = value
                    if value > best[m]:
                        best[m], equals[m] = value, 1
                        policy[h, o, m] = a
                    elif value == best[m]:
                        equals[m] += 1
                        tie = next_tie(tie)
                        if tie % equals[m] == 0:
                            policy[h, o, m] = a
            here[o] = best
    return action_values, tables[0, :num_obs].copy()
