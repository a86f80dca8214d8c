"""Optimistic posterior sampling: value iteration with the best of J sampled kernels at every action value.

With Y(m, o') = φ + W, and J sampled kernels w_j(·|o, a), each with the probability w_j⁰ of a fictitious observation
that is worth H − h:

    Q_h = max_j w_j⁰·(H − h) + Σ w_j(o')·Y(m, o'),      V_h = max_a Q_h,

and Q_h = H − h for pairs never visited. A kernel that is best at one (h, m) need not be so at another.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from praemia.kernels.arrays import LANES, Actions, Floats, LayerArrays
from praemia.kernels.compiling import compiled
from praemia.kernels.observe import SeenArrays
from praemia.kernels.rows import copied, fill_extra_rows, padded_width
from praemia.kernels.simd import load, select, store, zeros
from praemia.kernels.ties import take_best


@compiled()
def best_of_samples(
    zero: Any,
    seen: SeenArrays,
    v: int,
    phi: Floats,
    worth: Floats,
    best_case: Floats,
    kernels: Floats,
    width: int,
    lane: int,
) -> Any:
    """Return the largest of the samples' means of slot v, for the machine states from ``lane`` on.

    best_case[V, J] is w_j⁰·(H − h); kernels[E, J] the probabilities of the entries.
    """
    best = zero
    for j in range(kernels.shape[1]):
        total = zero + best_case[v, j]
        for e in range(seen.indptr[v], seen.indptr[v + 1]):
            paid = load(zero, phi, int(seen.labels[e]) * width + lane)
            total = total + kernels[e, j] * (load(zero, worth, np.int64(seen.rows[e]) * width + lane) + paid)
        best = select(total > best, total, best)
    return best


@compiled()
def plan_opsrl(
    seen: SeenArrays,
    layers: LayerArrays,
    phi: Floats,
    fictitious: Floats,
    kernels: Floats,
    policy: Actions,
    num_actions: int,
    seed: int,
) -> Floats:
    """Make a plan: update policy[H, O, M] for the active observations; return V_0[O, M].

    layers holds τ alone, phi (flat [L·W]) the mean rewards; fictitious[V, J] is w_j⁰ of every slot and kernels[E, J]
    the w_j of every entry.
    """
    horizon, num_obs, num_states = policy.shape
    width, actions = padded_width(num_states), policy.reshape(-1)
    tables = np.zeros((2, num_obs + seen.row_labels.shape[0], width))
    values, tie, zero = np.empty(num_actions * LANES), seed, zeros(4)
    for h in range(horizon - 1, -1, -1):
        after, here = tables[(h + 1) % 2], tables[h % 2]
        fill_extra_rows(after, num_obs, seen.row_labels, seen.row_targets, layers)
        most = float(horizon - h)
        best_case = fictitious * most
        here[:] = most
        worth, best = after.reshape(-1), here.reshape(-1)
        for i in range(seen.active.shape[0]):
            o = int(seen.active[i])
            for lane in range(0, width, LANES):
                for a in range(num_actions):
                    v = int(seen.slots[o * num_actions + a])
                    value = zero + most
                    if v >= 0:
                        value = best_of_samples(zero, seen, v, phi, worth, best_case, kernels, width, lane)
                    store(values, a * LANES, value)
                place = (h * num_obs + o) * num_states + lane
                tie = take_best(values, num_actions, best, o * width + lane, actions, place, num_states - lane, tie)
    return copied(tables[0], num_obs, num_states)
