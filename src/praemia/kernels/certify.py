"""Backward passes behind a certificate: how far two laws of trajectories can be apart, and brackets of values.

``model`` is the estimate p̂ with its labels. tv[pair] bounds the total variation ½‖p̂ − p‖₁; it is 1 for a pair never
visited. Tables over product states are [O, M], as everywhere in the kernels.
"""

from __future__ import annotations

import math

import numpy as np

from praemia.kernels.arrays import Actions, Floats, Ints, LayerArrays, ModelArrays
from praemia.kernels.compiling import compiled
from praemia.kernels.rows import copied, fill_extra_rows, padded_width
from praemia.kernels.ucrl2 import DenseRows, best_in_intervals, best_in_l1_ball


@compiled()
def policy_distance(model: ModelArrays, layers: LayerArrays, num_actions: int, tv: Floats, policy: Actions) -> Floats:
    """Return D_0[O, M], D_h(o, m) = min(1, tv(o, a) + Σ p̂·τ·D_{h+1}) along the policy's action a.

    ``layers`` pay nothing: the continuation rows are then those of D alone.
    """
    horizon, num_obs, num_states = policy.shape
    tables = np.zeros((2, num_obs + model.row_labels.shape[0], padded_width(num_states)))
    for h in range(horizon - 1, -1, -1):
        after, here = tables[(h + 1) % 2], tables[h % 2]
        fill_extra_rows(after, num_obs, model.row_labels, model.row_targets, layers)
        for o in range(num_obs):
            for m in range(num_states):
                pair = o * num_actions + int(policy[h, o, m])
                total = tv[pair]
                for e in range(model.indptr[pair], model.indptr[pair + 1]):
                    total += model.probs[e] * after[model.rows[e], m]
                here[o, m] = min(1.0, total)
    return copied(tables[0], num_obs, num_states)


@compiled()
def worst_value(
    visits: Ints,
    p_hat: Floats,
    radius: Floats,
    lower: Floats,
    upper: Floats,
    rows: DenseRows,
    layers: LayerArrays,
    policy: Actions,
) -> Floats:
    """Return V_0[O, M] of policy[H, O, M] in the worst kernel of a confidence set.

    Arguments are as in ``plan_ucrl2``. The minimising kernel is the maximising one for the negated worth; a pair
    never visited may go anywhere, so it is worth its worst o'.
    """
    horizon, num_obs, num_states = policy.shape
    targets = rows.targets
    tables = np.zeros((2, targets.shape[0], padded_width(num_states)))
    everything, nothing = np.full(num_obs, 1.0), np.zeros(num_obs)
    for h in range(horizon - 1, -1, -1):
        after, here = tables[(h + 1) % 2], tables[h % 2]
        fill_extra_rows(after, num_obs, rows.extra_labels, targets[num_obs:], layers)
        for m in range(num_states):
            loss = -after[:, m]
            order = np.argsort(-loss, kind="mergesort")
            for o in range(num_obs):
                a = int(policy[h, o, m])
                own = rows.own[o, a]
                if visits[o, a] == 0:
                    value = best_in_intervals(nothing, everything, own, order, targets, loss)
                elif radius.shape[0] > 0:
                    value = best_in_l1_ball(p_hat[o, a], own, radius[o, a], order, targets, loss)
                else:
                    value = best_in_intervals(lower[o, a], upper[o, a], own, order, targets, loss)
                here[o, m] = -value
    return copied(tables[0], num_obs, num_states)


@compiled()
def deviation_bound(square: float, x: float, most: float) -> float:
    """Bound |(p̂ − p)f| for a function f with values in [0, most], from its variance under p̂ and x = √(2ζ/n).

    The true deviation σ of f solves σ²(1 − x²) − σ·R·x(1 + x²/3) − R²x⁴/36 ≤ Var_p̂(f), and is at most R/2; the bound
    is Bernstein's, σx + Rx²/6.
    """
    sigma = 0.5 * most
    if x < 1.0:
        lead, slope = 1.0 - x * x, most * x * (1.0 + x * x / 3.0)
        rest = square + most * most * x**4 / 36.0
        sigma = min(sigma, (slope + math.sqrt(slope * slope + 4.0 * lead * rest)) / (2.0 * lead))
    return sigma * x + most * x * x / 6.0


@compiled()
def optimum_bonus(model: ModelArrays, pair: int, m: int, upper: Floats, lower: Floats, x: float, most: float) -> float:
    """Bound |(p̂ − p)f*| at a pair, where f* = φ + W* lies between lower and upper.

    The deviation of f* under p̂ is at most that of the middle of the two plus half their distance.
    """
    mean, square, spread = 0.0, 0.0, 0.0
    for e in range(model.indptr[pair], model.indptr[pair + 1]):
        p, row = model.probs[e], model.rows[e]
        middle = 0.5 * (upper[row, m] + lower[row, m])
        mean += p * middle
        square += p * middle * middle
        spread += p * (upper[row, m] - lower[row, m]) ** 2
    deviation = math.sqrt(max(0.0, square - mean * mean)) + 0.5 * math.sqrt(spread)
    return deviation_bound(deviation * deviation, x, most)


@compiled()
def model_error(
    model: ModelArrays,
    pair: int,
    m: int,
    upper: Floats,
    own: Floats,
    tv: float,
    raised: Floats,
    miss: float,
    far: float,
) -> float:
    """Bound (p − p̂)g for a function 0 ≤ g ≤ upper − own on the successors seen, and ≤ far on the others."""
    total = miss * far
    for e in range(model.indptr[pair], model.indptr[pair + 1]):
        row = model.rows[e]
        total += raised[e] * (upper[row, m] - own[row, m])
    return min(total, tv * far)


@compiled()
def bracket(
    model: ModelArrays,
    layers: LayerArrays,
    num_actions: int,
    x: Floats,
    tv: Floats,
    raised: Floats,
    miss: Floats,
    most: Floats,
    policy: Actions,
) -> tuple[Floats, Floats]:
    """Return V̄_0 ≥ V* and V̲_0 ≤ V^π, both [O, M], for the deterministic policy[H, O, M].

    x[pair] = √(2ζ/n), negative for a pair never visited; raised[edge] = the upper end of p less p̂; miss[pair] bounds
    the mass of successors never seen; most[h, m] is the most that the machine can still pay. The last observation is
    the sink, which no visited pair leads to.
    """
    horizon, num_obs, num_states = policy.shape
    shape = (2, num_obs + model.row_labels.shape[0], padded_width(num_states))
    uppers, lowers, owns = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for h in range(horizon - 1, -1, -1):
        now, then = h % 2, (h + 1) % 2
        upper, lower, own = uppers[then], lowers[then], owns[then]
        # How far the policy can be from the optimum anywhere: what unseen successors are charged with.
        far = np.max(upper[: num_obs - 1, :num_states] - own[: num_obs - 1, :num_states])
        for table in (upper, lower, own):
            fill_extra_rows(table, num_obs, model.row_labels, model.row_targets, layers)
        for o in range(num_obs):
            for m in range(num_states):
                best, floor, kept = 0.0, 0.0, 0.0
                for a in range(num_actions):
                    pair = o * num_actions + a
                    if x[pair] < 0.0:
                        best = most[h, m]
                        continue
                    bonus = optimum_bonus(model, pair, m, upper, lower, x[pair], most[h, m])
                    mean_up, mean_low, mean_own = 0.0, 0.0, 0.0
                    for e in range(model.indptr[pair], model.indptr[pair + 1]):
                        p, row = model.probs[e], model.rows[e]
                        mean_up += p * upper[row, m]
                        mean_low += p * lower[row, m]
                        mean_own += p * own[row, m]
                    best = max(best, min(most[h, m], mean_up + bonus))
                    floor = max(floor, mean_low - bonus)
                    if a == policy[h, o, m]:
                        error = model_error(model, pair, m, upper, own, tv[pair], raised, miss[pair], far)
                        kept = max(0.0, mean_own - bonus - error)
                uppers[now, o, m], lowers[now, o, m], owns[now, o, m] = best, floor, kept
    return copied(uppers[0], num_obs, num_states), copied(owns[0], num_obs, num_states)
