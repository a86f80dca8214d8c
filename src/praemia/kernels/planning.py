"""Exact planning over H steps: the optimum, the value of a policy, its occupancy. The product is never built.

With table = the continuation rows of V_{h+1}:

    Q_h(o, m, a) = Σ_e p_e · table[row_e, m],    V_h(o, m) = max_a Q_h  or  Σ_a π_h(a|o, m) Q_h.

Two tables take turns: one is read while V_h is written into the other's first O rows. The kernels return V_0[O, M].
``values`` has the shape [H + 1, O, M] to keep every V_h, or [0, O, M] to keep none.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from praemia.kernels.arrays import Actions, Floats, MachineArrays, ModelArrays
from praemia.kernels.rows import fill_extra_rows


@njit(cache=True)
def solve(model: ModelArrays, machine: MachineArrays, num_actions: int, values: Floats, policy: Actions) -> Floats:
    """Find the optimum; fill policy[H, O, M] with the first of the best actions."""
    indptr, probs, rows = model.indptr, model.probs, model.rows
    horizon, num_observations, num_states = policy.shape
    tables = np.zeros((2, num_observations + model.row_labels.shape[0], num_states))
    total = np.empty(num_states)
    for h in range(horizon - 1, -1, -1):
        after, here = tables[(h + 1) % 2], tables[h % 2]
        fill_extra_rows(after, num_observations, model.row_labels, model.row_targets, machine)
        for o in range(num_observations):
            for a in range(num_actions):
                total[:] = 0.0
                for e in range(indptr[o * num_actions + a], indptr[o * num_actions + a + 1]):
                    p = probs[e]
                    row = rows[e]
                    for m in range(num_states):
                        total[m] += p * after[row, m]
                for m in range(num_states):
                    if a == 0 or total[m] > here[o, m]:
                        here[o, m] = total[m]
                        policy[h, o, m] = a
        _keep(values, h, here)
    return tables[0, :num_observations].copy()


@njit(cache=True)
def evaluate(model: ModelArrays, machine: MachineArrays, num_actions: int, values: Floats, policy: Actions) -> Floats:
    """Find the value of a deterministic policy[H, O, M]."""
    indptr, probs, rows = model.indptr, model.probs, model.rows
    horizon, num_observations, num_states = policy.shape
    tables = np.zeros((2, num_observations + model.row_labels.shape[0], num_states))
    for h in range(horizon - 1, -1, -1):
        after, here = tables[(h + 1) % 2], tables[h % 2]
        fill_extra_rows(after, num_observations, model.row_labels, model.row_targets, machine)
        for o in range(num_observations):
            for m in range(num_states):
                pair = o * num_actions + int(policy[h, o, m])
                total = 0.0
                for e in range(indptr[pair], indptr[pair + 1]):
                    total += probs[e] * after[rows[e], m]
                here[o, m] = total
        _keep(values, h, here)
    return tables[0, :num_observations].copy()


@njit(cache=True)
def evaluate_randomised(
    model: ModelArrays, machine: MachineArrays, num_actions: int, values: Floats, policy: Floats
) -> Floats:
    """Find the value of a policy[H, O, M, A] of action probabilities."""
    indptr, probs, rows = model.indptr, model.probs, model.rows
    horizon, num_observations, num_states, _ = policy.shape
    tables = np.zeros((2, num_observations + model.row_labels.shape[0], num_states))
    for h in range(horizon - 1, -1, -1):
        after, here = tables[(h + 1) % 2], tables[h % 2]
        fill_extra_rows(after, num_observations, model.row_labels, model.row_targets, machine)
        for o in range(num_observations):
            for m in range(num_states):
                mean = 0.0
                for a in range(num_actions):
                    weight = policy[h, o, m, a]
                    if weight > 0.0:
                        total = 0.0
                        for e in range(indptr[o * num_actions + a], indptr[o * num_actions + a + 1]):
                            total += probs[e] * after[rows[e], m]
                        mean += weight * total
                here[o, m] = mean
        _keep(values, h, here)
    return tables[0, :num_observations].copy()


@njit(cache=True)
def _keep(values: Floats, h: int, table: Floats) -> None:
    """Copy V_h out of a table into values[h], if values are kept; V_H = 0 along with the last step."""
    if values.shape[0] > 0:
        if h == values.shape[0] - 2:
            values[h + 1] = 0.0
        values[h] = table[: values.shape[1]]


@njit(cache=True)
def occupancy(model: ModelArrays, machine: MachineArrays, num_actions: int, policy: Actions, states: Floats) -> None:
    """Fill states[h, o, m] = P(o_h = o, m_h = m) for h = 1 … H, from states[0], under policy[H, O, M]."""
    horizon, num_observations, num_states = policy.shape
    states[1:] = 0.0
    for h in range(horizon):
        for o in range(num_observations):
            for m in range(num_states):
                if states[h, o, m] > 0.0:
                    _spread(
                        model,
                        machine,
                        o * num_actions + int(policy[h, o, m]),
                        m,
                        states[h, o, m],
                        states[h + 1],
                    )


@njit(cache=True)
def occupancy_randomised(
    model: ModelArrays, machine: MachineArrays, num_actions: int, policy: Floats, states: Floats
) -> None:
    """Fill states as ``occupancy`` does, under a policy[H, O, M, A] of action probabilities."""
    horizon, num_observations, num_states, _ = policy.shape
    states[1:] = 0.0
    for h in range(horizon):
        for o in range(num_observations):
            for m in range(num_states):
                for a in range(num_actions):
                    mass = states[h, o, m] * policy[h, o, m, a]
                    if mass > 0.0:
                        _spread(model, machine, o * num_actions + a, m, mass, states[h + 1])


@njit(cache=True)
def _spread(model: ModelArrays, machine: MachineArrays, pair: int, m: int, mass: float, onto: Floats) -> None:
    """Add the mass of (pair, m) to where it goes in one step, onto[O, M]."""
    num_states = onto.shape[1]
    for e in range(model.indptr[pair], model.indptr[pair + 1]):
        first = model.labels[e] * num_states + m
        for j in range(machine.indptr[first], machine.indptr[first + 1]):
            onto[model.successors[e], machine.targets[j]] += mass * model.probs[e] * machine.probs[j]
