"""Optimistic posterior sampling: the best of J draws from a Dirichlet posterior, at every (h, o, a, m).

With Y(m, o') = φ + W and a fictitious observation that was visited n₀ times and is worth H − h:

    w ~ Dirichlet(n₀, N(o, a, o'₁), N(o, a, o'₂), …),      Q_h = max over J draws of w₀·(H − h) + Σ w_i·Y(m, o'_i).

A draw is made from gamma numbers divided by their sum.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from praemia.kernels.arrays import Actions, Floats, MachineArrays
from praemia.kernels.observe import SeenArrays
from praemia.kernels.rows import fill_extra_rows


@njit(cache=True)
def best_of_draws(
    seen: SeenArrays, v: int, m: int, phi: Floats, table: Floats, most: float, prior: float, draws: int, rng: Any
) -> float:
    """Return the largest of some posterior samples of Σ p Y at slot v in machine state m."""
    best = -1.0
    for _ in range(draws):
        weight = rng.standard_gamma(prior)
        total, worth = weight, weight * most
        for e in range(seen.indptr[v], seen.indptr[v + 1]):
            weight = rng.standard_gamma(seen.counts[e])
            total += weight
            worth += weight * (phi[seen.labels[e], m] + table[seen.rows[e], m])
        best = max(best, worth / total)
    return best


@njit(cache=True)
def plan_opsrl(
    seen: SeenArrays,
    machine: MachineArrays,
    phi: Floats,
    policy: Actions,
    num_actions: int,
    prior: float,
    draws: int,
    rng: Any,
) -> Floats:
    """Make a plan: update policy[H, O, M] for the active observations; return V_0[O, M].

    machine holds τ with rewards 0, phi[L, M] the mean rewards; rng is a NumPy Generator.
    """
    horizon, num_obs, num_states = policy.shape
    tables = np.zeros((2, num_obs + seen.row_labels.shape[0], num_states))
    for h in range(horizon - 1, -1, -1):
        after, here = tables[(h + 1) % 2], tables[h % 2]
        fill_extra_rows(after, num_obs, seen.row_labels, seen.row_targets, machine)
        most = float(horizon - h)
        here[:] = most
        for i in range(seen.active.shape[0]):
            o = seen.active[i]
            for m in range(num_states):
                best, equals = -1.0, 0
                for a in range(num_actions):
                    v = seen.slots[o * num_actions + a]
                    value = most
                    if v >= 0:
                        value = best_of_draws(seen, v, m, phi, after, most, prior, draws, rng)
                    equals = equals + 1 if value == best else 1 if value > best else equals
                    if value > best or (value == best and rng.random() * equals < 1.0):
                        best = value
                        policy[h, o, m] = a
                here[o, m] = best
    return tables[0, :num_obs].copy()
