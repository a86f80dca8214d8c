"""Exact planning over H steps: the optimum, the value of a policy, where a policy goes. The product is never built.

With table = the continuation rows of V_{h+1}:

    Q_h(o, m, a) = Σ_e p_e · table[row_e, m],    V_h(o, m) = max_a Q_h  or  Σ_a π_h(a|o, m) Q_h.

Two tables take turns: one is read while V_h is written into the other's first O rows. A table has one column for each
machine state, and columns of 0 up to a multiple of four. What is done at one step is a kernel over a range of
observations (``improve``, ``assess``), so that threads can share a step; they release Python's lock.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from praemia.kernels.arrays import Actions, Floats, LayerArrays, MachineArrays, ModelArrays
from praemia.kernels.compiling import INTERNAL, compiled, specialised
from praemia.kernels.continuation_rows import copied, fill_rows
from praemia.kernels.simd import load, select, store, store_whole, zeros


@compiled(nogil=True)
def fill(table: Floats, num_observations: int, model: ModelArrays, layers: LayerArrays, first: int, last: int) -> None:
    """Fill the continuation rows first … last − 1 of a table: sixteen machine states at a time, then four."""
    wide, width = table.shape[1] // 16 * 16, table.shape[1]
    labels, targets = model.row_labels, model.row_targets
    fill_rows(zeros(16), table, num_observations, labels, targets, layers, (first, last), (0, wide))
    fill_rows(zeros(4), table, num_observations, labels, targets, layers, (first, last), (wide, width))


@compiled(nogil=True)
def improve(
    model: ModelArrays, num_actions: int, after: Floats, here: Floats, policy: Actions, first: int, last: int
) -> None:
    """Fill here[o] with V_h and policy[o, m] with the first of the best actions, for observations first … last − 1.

    As many machine states at a time as registers hold: an edge is then read once for all of them.
    """
    flat, best, actions = after.reshape(-1), here.reshape(-1), policy.reshape(-1)
    width = after.shape[1]
    four, eight, sixteen = zeros(4), zeros(8), zeros(16)
    for o in range(first, last):
        lane = 0
        while lane + 16 <= width:
            _improve_lanes(sixteen, model, num_actions, flat, best, actions, width, policy.shape[1], o, lane)
            lane += 16
        if lane + 8 <= width:
            _improve_lanes(eight, model, num_actions, flat, best, actions, width, policy.shape[1], o, lane)
            lane += 8
        if lane < width:
            _improve_lanes(four, model, num_actions, flat, best, actions, width, policy.shape[1], o, lane)


@compiled(nogil=True, **INTERNAL)
def _improve_lanes(
    zero: Any,
    model: ModelArrays,
    num_actions: int,
    after: Floats,
    here: Floats,
    policy: Actions,
    width: int,
    num_states: int,
    o: int,
    lane: int,
) -> None:
    """Do the work of ``improve`` for some machine states of one observation; sums and maxima stay in registers."""
    best, choice = zero, zero
    e = np.uint64(model.indptr[o * num_actions])  # unsigned: see ``ModelArrays.rows``
    for a in range(num_actions):
        total, last = zero, np.uint64(model.indptr[o * num_actions + a + 1])
        while e < last:
            total = total + model.probs[e] * load(zero, after, np.int64(model.rows[e]) * width + lane)
            e += np.uint64(1)
        if a == 0:
            best = total
        else:
            better = total > best
            best, choice = select(better, total, best), select(better, float(a), choice)
    store(here, o * width + lane, best)
    store_whole(policy, o * num_states + lane, choice, num_states - lane)


@compiled(nogil=True)
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


@compiled(nogil=True)
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


step: Any = None  # ``improve``, ``assess`` or ``assess_randomised``


def backward(
    model: ModelArrays, layers: LayerArrays, num_actions: int, tables: Floats, values: Floats, policy: Actions
) -> Floats:
    """Run a step from the last to the first; return V_0[O, M].

    tables[2, O + X, W] are zeros to work in; values has the shape [H + 1, O, M] to keep every V_h, or [0, O, M].
    """
    num_observations = policy.shape[1]
    for h in range(policy.shape[0] - 1, -1, -1):
        after, here = tables[(h + 1) % 2], tables[h % 2]
        fill(after, num_observations, model, layers, 0, model.row_labels.shape[0])
        step(model, num_actions, after, here, policy[h], 0, num_observations)
        _keep(values, h, here)
    return copied(tables[0], num_observations, policy.shape[2])


@compiled(nogil=True, **INTERNAL)
def _keep(values: Floats, h: int, table: Floats) -> None:
    """Copy V_h out of a table into values[h], if values are kept; V_H = 0 along with the last step."""
    if values.shape[0] > 0:
        if h == values.shape[0] - 2:
            values[h + 1] = 0.0
        for o in range(values.shape[1]):
            for m in range(values.shape[2]):
                values[h, o, m] = table[o, m]


# The optimum: fills policy[H, O, M]. The value of policy[H, O, M], and of policy[H, O, M, A] of action probabilities.
solve = specialised(backward, "solve", replacements={"step": improve}, nogil=True)
evaluate = specialised(backward, "evaluate", replacements={"step": assess}, nogil=True)
evaluate_randomised = specialised(backward, "evaluate_randomised", replacements={"step": assess_randomised}, nogil=True)


@compiled()
def first_bad_row(weights: Floats, tolerance: float) -> int:
    """Return the first row of weights[R, A] that is not a distribution, −1 if all are."""
    for i in range(weights.shape[0]):
        total, least = 0.0, 0.0
        for a in range(weights.shape[1]):
            total += weights[i, a]
            least = min(least, weights[i, a])
        # Written so that NaN fails.
        if not (abs(total - 1.0) <= tolerance and least >= 0.0):
            return i
    return -1


@compiled()
def summed_up(weights: Floats) -> Floats:
    """Return the running sums of each row of weights[H, O, M, A]: to draw actions from."""
    sums = weights.copy()
    rows = sums.reshape((-1, weights.shape[3]))
    for i in range(rows.shape[0]):
        for a in range(1, rows.shape[1]):
            rows[i, a] += rows[i, a - 1]
    return sums


@compiled(nogil=True)
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


@compiled(nogil=True)
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


@compiled(nogil=True)
def _spread(model: ModelArrays, machine: MachineArrays, pair: int, m: int, mass: float, onto: Floats) -> None:
    """Add the mass of (pair, m) to where it goes in one step, onto[O, M]."""
    num_states = onto.shape[1]
    for e in range(model.indptr[pair], model.indptr[pair + 1]):
        first = model.labels[e] * num_states + m
        for j in range(machine.indptr[first], machine.indptr[first + 1]):
            onto[model.successors[e], machine.targets[j]] += mass * model.probs[e] * machine.probs[j]
