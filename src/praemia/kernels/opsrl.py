"""Optimistic posterior sampling: value iteration with the best of J sampled kernels at every action value.

With Y(m, o') = φ + W, and J sampled kernels w_j(·|o, a), each with the probability w_j⁰ of a fictitious observation
that is worth H − h:

    Q_h = max_j w_j⁰·(H − h) + Σ w_j(o')·Y(m, o'),      V_h = max_a Q_h,

and Q_h = H − h for pairs never visited. A kernel that is best at one (h, m) need not be so at another.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from praemia.kernels.arrays import Actions, Floats, MachineArrays
from praemia.kernels.observe import SeenArrays
from praemia.kernels.rows import fill_extra_rows
from praemia.kernels.ties import next_tie


@njit(cache=True)
def best_of_samples(
    seen: SeenArrays, v: int, phi: Floats, table: Floats, best_case: Floats, kernels: Floats, means: Floats
) -> None:
    """Fill means[J, M] with each sample's mean of slot v, and then means[0, M] with the largest.

    best_case[V, J] is w_j⁰·(H − h); kernels[E, J] the probabilities of the entries.
    """
    num_samples, num_states = means.shape
    for j in range(num_samples):
        means[j] = best_case[v, j]
    for e in range(seen.indptr[v], seen.indptr[v + 1]):
        row, paid = seen.rows[e], seen.labels[e]
        for j in range(num_samples):
            for m in range(num_states):
                means[j, m] += kernels[e, j] * (table[row, m] + phi[paid, m])
    for j in range(1, num_samples):
        for m in range(num_states):
            means[0, m] = max(means[0, m], means[j, m])


@njit(cache=True)
def plan_opsrl(
    seen: SeenArrays,
    machine: MachineArrays,
    phi: Floats,
    fictitious: Floats,
    kernels: Floats,
    policy: Actions,
    num_actions: int,
    seed: int,
) -> Floats:
    """Make a plan: update policy[H, O, M] for the active observations; return V_0[O, M].

    machine holds τ with rewards 0, phi[L, M] the mean rewards; fictitious[V, J] is w_j⁰ of every slot and kernels[E, J]
    the w_j of every entry.
    """
    horizon, num_obs, num_states = policy.shape
    tables = np.zeros((2, num_obs + seen.row_labels.shape[0], num_states))
    means, best = np.empty((kernels.shape[1], num_states)), np.empty(num_states)
    equals, tie = np.zeros(num_states, dtype=np.int64), seed
    for h in range(horizon - 1, -1, -1):
        after, here = tables[(h + 1) % 2], tables[h % 2]
        fill_extra_rows(after, num_obs, seen.row_labels, seen.row_targets, machine)
        most = float(horizon - h)
        best_case = fictitious * most
        here[:] = most
        for i in range(seen.active.shape[0]):
            o = seen.active[i]
            best[:] = -1.0
            for a in range(num_actions):
                v = seen.slots[o * num_actions + a]
                means[0] = most
                if v >= 0:
                    best_of_samples(seen, v, phi, after, best_case, kernels, means)
                for m in range(num_states):
                    if means[0, m] > best[m]:
                        best[m], equals[m] = means[0, m], 1
                        policy[h, o, m] = a
                    elif means[0, m] == best[m]:
                        equals[m] += 1
                        tie = next_tie(tie)
                        if tie % equals[m] == 0:
                            policy[h, o, m] = a
            here[o] = best
    return tables[0, :num_obs].copy()
