"""EULER's pair of recursions, upper and lower values side by side (Zanette and Brunskill 2019, Bernstein form).

With n = N(o, a), ℓ the log term, J = Hℓ/3, B_v = √(2ℓ), B_p = H√(2ℓ), and Y = φ + W over the next observation:

    bonus(Y) = √(2·Var_p̂(Y)·ℓ/n) + J/n + (4J + B_p)/n + B_v·‖W̄ − W̲‖_{2,p̂}/√n
    Q̄ = min(H − h, p̂Ȳ + γ·bonus(Ȳ)), greedy in Q̄;   V̲ = max(0, p̂Y̲ − γ·bonus(Y̲)) along the greedy action.

Steps h count from 0. A pair never visited has Q̄ = H − h and lower value 0.
"""

from __future__ import annotations

import math

import numpy as np

from praemia.kernels.arrays import Actions, Floats, LayerArrays
from praemia.kernels.compiling import compiled
from praemia.kernels.observe import SeenArrays
from praemia.kernels.rows import copied, fill_extra_rows, padded_width
from praemia.kernels.ties import draw_best


@compiled()
def euler_backup(
    seen: SeenArrays, v: int, m: int, phi: Floats, upper: Floats, lower: Floats, horizon: int, log_term: float
) -> tuple[float, float, float, float]:
    """Return p̂Ȳ, p̂Y̲ and their bonuses at slot v in machine state m."""
    n = seen.visits[v]
    mean_up, mean_low, gap_square = 0.0, 0.0, 0.0
    for e in range(seen.indptr[v], seen.indptr[v + 1]):
        p, row = seen.counts[e] / n, seen.rows[e]
        reward = phi[seen.labels[e], m]
        mean_up += p * (reward + upper[row, m])
        mean_low += p * (reward + lower[row, m])
        gap_square += p * (upper[row, m] - lower[row, m]) ** 2
    var_up, var_low = 0.0, 0.0
    for e in range(seen.indptr[v], seen.indptr[v + 1]):
        p, row = seen.counts[e] / n, seen.rows[e]
        reward = phi[seen.labels[e], m]
        var_up += p * (reward + upper[row, m] - mean_up) ** 2
        var_low += p * (reward + lower[row, m] - mean_low) ** 2
    correction = horizon * log_term / 3.0
    spread = math.sqrt(2.0 * log_term) * math.sqrt(gap_square) / math.sqrt(n)
    shared = (5.0 * correction + horizon * math.sqrt(2.0 * log_term)) / n + spread
    scale = 2.0 * log_term / n
    return mean_up, mean_low, math.sqrt(scale * var_up) + shared, math.sqrt(scale * var_low) + shared


@compiled()
def plan_euler(
    seen: SeenArrays,
    layers: LayerArrays,
    phi: Floats,
    policy: Actions,
    num_actions: int,
    log_term: float,
    scale: float,
    seed: int,
) -> tuple[Floats, Floats]:
    """Make a plan: update policy[H, O, M] for the active observations; return V̄_0 and V̲_0, both [O, M]."""
    horizon, num_obs, num_states = policy.shape
    num_rows = num_obs + seen.row_labels.shape[0]
    shape = (2, num_rows, padded_width(num_states))
    uppers, lowers = np.zeros(shape), np.zeros(shape)
    values, lows, tie = np.empty(num_actions), np.empty(num_actions), seed
    for h in range(horizon - 1, -1, -1):
        upper, lower = uppers[(h + 1) % 2], lowers[(h + 1) % 2]
        fill_extra_rows(upper, num_obs, seen.row_labels, seen.row_targets, layers)
        fill_extra_rows(lower, num_obs, seen.row_labels, seen.row_targets, layers)
        most = float(horizon - h)
        uppers[h % 2] = most
        lowers[h % 2] = 0.0
        for i in range(seen.active.shape[0]):
            o = seen.active[i]
            for m in range(num_states):
                for a in range(num_actions):
                    v = seen.slots[o * num_actions + a]
                    values[a], lows[a] = most, 0.0
                    if v >= 0:
                        mean_up, mean_low, bonus_up, bonus_low = euler_backup(
                            seen, v, m, phi, upper, lower, horizon, log_term
                        )
                        values[a] = min(most, mean_up + scale * bonus_up)
                        lows[a] = max(0.0, mean_low - scale * bonus_low)
                choice, tie = draw_best(values, 0, 1, num_actions, tie)
                policy[h, o, m] = choice
                uppers[h % 2, o, m] = values[choice]
                lowers[h % 2, o, m] = lows[choice]
    return copied(uppers[0], num_obs, num_states), copied(lowers[0], num_obs, num_states)
