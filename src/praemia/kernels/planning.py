"""Exact planning over H steps: the optimum, the value of a policy, its occupancy. The product is never built.

With table = the continuation rows of V_{h+1}:

    Q_h(o, m, a) = Σ_e p_e · table[row_e, m],    V_h(o, m) = max_a Q_h  or  Σ_a π_h(a|o, m) Q_h.

Two tables take turns: one is read while V_h is written into the other's first O rows. A table has one column for each
machine state, and columns of 0 up to a multiple of four. What is done at one step is a kernel over a range of
observations (``improve``, ``assess``), so that threads can share a step; they release Python's lock.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from praemia.kernels.arrays import Actions, Floats, MachineArrays, ModelArrays
from praemia.kernels.rows import fill_some_rows
from praemia.kernels.simd import edge_sums


@njit(cache=True, nogil=True)
def improve(
    model: ModelArrays, num_actions: int, after: Floats, here: Floats, policy: Actions, first: int, last: int
) -> None:
    """Fill here[o] with V_h and policy[o, m] with the first of the best actions, for observations first … last − 1.

    Four machine states at a time; sums, best values and best actions stay in registers.
    """
    indptr, rows, probs = model.indptr, model.rows, model.probs
    num_states = policy.shape[1]
    for o in range(first, last):
        for lane in range(0, num_states, 4):
            b0, b1, b2, b3 = edge_sums(probs, rows, indptr[o * num_actions], indptr[o * num_actions + 1], after, lane)
            a0, a1, a2, a3 = 0, 0, 0, 0
            for a in range(1, num_actions):
                pair = o * num_actions + a
                s0, s1, s2, s3 = edge_sums(probs, rows, indptr[pair], indptr[pair + 1], after, lane)
                a0 = a if s0 > b0 else a0
                b0 = s0 if s0 > b0 else b0
                a1 = a if s1 > b1 else a1
                b1 = s1 if s1 > b1 else b1
                a2 = a if s2 > b2 else a2
                b2 = s2 if s2 > b2 else b2
                a3 = a if s3 > b3 else a3
                b3 = s3 if s3 > b3 else b3
            here[o, lane], here[o, lane + 1], here[o, lane + 2], here[o, lane + 3] = b0, b1, b2, b3
            policy[o, lane] = a0
            if lane + 1 < num_states:
                policy[o, lane + 1] = a1
            if lane + 2 < num_states:
                policy[o, lane + 2] = a2
            if lane + 3 < num_states:
                policy[o, lane + 3] = a3


@njit(cache=True, nogil=True)
def assess(
    model: ModelArrays, num_actions: int, after: Floats, here: Floats, policy: Actions, first: int, last: int
) -> None:
    """Fill here[o, m] with V_h of a deterministic policy[o, m], for observations first … last − 1."""
    indptr, rows, probs = model.indptr, model.rows, model.probs
    for o in range(first, last):
        for m in range(policy.shape[1]):
            pair = o * num_actions + int(policy[o, m])
            total = 0.0
            for e in range(indptr[pair], indptr[pair + 1]):
                total += probs[e] * after[rows[e], m]
            here[o, m] = total


@njit(cache=True, nogil=True)
def assess_randomised(
    model: ModelArrays, num_actions: int, after: Floats, here: Floats, policy: Floats, first: int, last: int
) -> None:
    """Fill here[o, m] with V_h of a policy[o, m, a] of action probabilities, for observations first … last − 1."""
    indptr, rows, probs = model.indptr, model.rows, model.probs
    for o in range(first, last):
        for m in range(policy.shape[1]):
            mean = 0.0
            for a in range(num_actions):
                weight = policy[o, m, a]
                if weight > 0.0:
                    total = 0.0
                    for e in range(indptr[o * num_actions + a], indptr[o * num_actions + a + 1]):
                        total += probs[e] * after[rows[e], m]
                    mean += weight * total
            here[o, m] = mean


@njit(cache=True, nogil=True)
def solve(model: ModelArrays, machine: MachineArrays, num_actions: int, values: Floats, policy: Actions) -> Floats:
    """Find the optimum: fill policy[H, O, M]; return V_0[O, M].

    values has the shape [H + 1, O, M] to keep every V_h, or [0, O, M] to keep none.
    """
    horizon, num_observations, num_states = policy.shape
    tables = np.zeros((2, num_observations + model.row_labels.shape[0], padded_width(num_states)))
    for h in range(horizon - 1, -1, -1):
        after, here = tables[(h + 1) % 2], tables[h % 2]
        fill_table(model, machine, after, num_observations, num_states)
        improve(model, num_actions, after, here, policy[h], 0, num_observations)
        _keep(values, h, here)
    return tables[0, :num_observations, :num_states].copy()


@njit(cache=True, nogil=True)
def evaluate(model: ModelArrays, machine: MachineArrays, num_actions: int, values: Floats, policy: Actions) -> Floats:
    """Find the value of a deterministic policy[H, O, M]; values and result as in ``solve``."""
    horizon, num_observations, num_states = policy.shape
    tables = np.zeros((2, num_observations + model.row_labels.shape[0], padded_width(num_states)))
    for h in range(horizon - 1, -1, -1):
        after, here = tables[(h + 1) % 2], tables[h % 2]
        fill_table(model, machine, after, num_observations, num_states)
        assess(model, num_actions, after, here, policy[h], 0, num_observations)
        _keep(values, h, here)
    return tables[0, :num_observations, :num_states].copy()


@njit(cache=True, nogil=True)
def evaluate_randomised(
    model: ModelArrays, machine: MachineArrays, num_actions: int, values: Floats, policy: Floats
) -> Floats:
    """Find the value of a policy[H, O, M, A] of action probabilities; values and result as in ``solve``."""
    horizon, num_observations, num_states, _ = policy.shape
    tables = np.zeros((2, num_observations + model.row_labels.shape[0], padded_width(num_states)))
    for h in range(horizon - 1, -1, -1):
        after, here = tables[(h + 1) % 2], tables[h % 2]
        fill_table(model, machine, after, num_observations, num_states)
        assess_randomised(model, num_actions, after, here, policy[h], 0, num_observations)
        _keep(values, h, here)
    return tables[0, :num_observations, :num_states].copy()


@njit(cache=True, nogil=True)
def fill_table(
    model: ModelArrays, machine: MachineArrays, table: Floats, num_observations: int, num_states: int
) -> None:
    """Fill the extra rows of a table whose first O rows hold V."""
    count = model.row_labels.shape[0]
    fill_some_rows(table, num_observations, model.row_labels, model.row_targets, machine, num_states, 0, count)


@njit(cache=True, nogil=True)
def padded_width(num_states: int) -> int:
    """Return the number of columns of a table: the next multiple of four."""
    return (num_states + 3) // 4 * 4


@njit(cache=True, nogil=True)
def _keep(values: Floats, h: int, table: Floats) -> None:
    """Copy V_h out of a table into values[h], if values are kept; V_H = 0 along with the last step."""
    if values.shape[0] > 0:
        if h == values.shape[0] - 2:
            values[h + 1] = 0.0
        values[h] = table[: values.shape[1], : values.shape[2]]


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _spread(model: ModelArrays, machine: MachineArrays, pair: int, m: int, mass: float, onto: Floats) -> None:
    """Add the mass of (pair, m) to where it goes in one step, onto[O, M]."""
    num_states = onto.shape[1]
    for e in range(model.indptr[pair], model.indptr[pair + 1]):
        first = model.labels[e] * num_states + m
        for j in range(machine.indptr[first], machine.indptr[first + 1]):
            onto[model.successors[e], machine.targets[j]] += mass * model.probs[e] * machine.probs[j]
