"""Exact planning over H steps: the optimum, the value of a policy, where a policy goes. The product is never built.

With table = the continuation rows of V_{h+1}:

    Q_h(o, m, a) = Σ_e p_e · table[row_e, m],    V_h(o, m) = max_a Q_h  or  Σ_a π_h(a|o, m) Q_h.

With a discount γ the rows are those of γ·V_{h+1}.

Two tables take turns: one is read while V_h is written into the other's first O rows. After them come the
terminal values of the exits, and then the continuation rows. A table is flat and has W columns: one for each machine
state, and columns of 0 up to a multiple of four. A policy is [H, O, M] of actions, or [H, O, M, A] of probabilities.
``solve`` and ``evaluate`` compute a range of steps, and of each a range of rows and of observations, so that threads
can share a step.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from praemia.kernels.compiling import compiled, inlined, part
from praemia.kernels.lanes import following, load, num_lanes, select, store, store_integers, zeros
from praemia.kernels.records import (
    NUM_EXITS,
    Actions,
    Floats,
    Ints,
    LayerArrays,
    ModelArrays,
    Records,
    SmallInts,
    Unsigned,
)
from praemia.kernels.rows import fill_rows

Range = tuple[int, int]
Moves = tuple[Ints, SmallInts, Floats]  # τ: row label · M + m holds the edges indptr[row] : indptr[row + 1], to targets


class PassArrays(NamedTuple):
    """What a backward pass computes from, and what it works in; the first four are those of a ``ModelArrays``."""

    indptr: Ints
    probs: Floats
    rows: Unsigned
    extra_rows: Records
    layers: LayerArrays
    exits: Floats  # [H + 1, NUM_EXITS·W], the terminal values
    tables: Floats  # [2, (O + NUM_EXITS + X)·W]: γ·V_h is left in tables[h % 2], and V_0 in tables[0]
    values: Floats  # [H + 1, O, M], filled with V_h unless it has no rows


@inlined
def fill(
    zero: Any, table: Floats, exits: Floats, size: int, extra_rows: Records, layers: LayerArrays, rows: Range
) -> None:
    """Fill in the exits of a table, [NUM_EXITS·W], and a range of its continuation rows."""
    width, lanes = exits.shape[0] // NUM_EXITS, num_lanes(zero)
    for at in range(0, NUM_EXITS * width, 4):
        store(table, size * width + at, load(zeros(4), exits, at))
    for lane in range(0, width, lanes):
        first = min(lane, width - lanes)
        fill_rows(zero, table, width, size, extra_rows, layers, layers.paid, rows, (first, first + lanes))


@part
def keep(table: Floats, width: int, values: Floats, h: int, discount: float, observations: Range) -> None:
    """Copy V_h of a range of observations to values[h], if there are any, and discount it in its table."""
    if values.shape[0] > 0:
        for o in range(observations[0], observations[1]):
            for m in range(values.shape[2]):
                values[h, o, m] = table[o * width + m]
    if discount < 1.0 and h > 0:
        for i in range(observations[0] * width, observations[1] * width):
            table[i] *= discount


@inlined
def mean_value(indptr: Ints, probs: Floats, rows: Unsigned, pair: Any, m: Any, after: Floats, width: Any) -> float:
    """Return Σ_e p_e · after[row_e, m] over the edges of a pair. Integers are unsigned: see ``ModelArrays.rows``."""
    total, e, end = 0.0, np.uint64(indptr[pair]), np.uint64(indptr[pair + np.uint64(1)])
    while e < end:
        total += probs[e] * after[np.uint64(rows[e]) * width + m]
        e = following(e)
    return total


@inlined
def state_value(
    indptr: Ints, probs: Floats, rows: Unsigned, after: Floats, now: Actions, sizes: Any, o: Any, m: Any
) -> float:
    """Return V_h(o, m) of policy[h], which is ``now``; ``sizes`` are actions and columns. Integers are unsigned."""
    num_actions, width = sizes
    first, total = o * num_actions, 0.0
    if now.ndim == 2:
        total = mean_value(indptr, probs, rows, first + np.uint64(now[o, m]), m, after, width)
    else:
        for a in range(num_actions):
            share = now[o, m, a]
            if share > 0.0:
                total += share * mean_value(indptr, probs, rows, first + a, m, after, width)
    return total


class ExactKernels(NamedTuple):
    """The kernels for tables of a width: those of wide machines are compiled where there is one."""

    solve: Any  # fills policy[H, O, M]
    evaluate: Any  # takes policy[H, O, M], or policy[H, O, M, A] of action probabilities


@cache
def exact_kernels(lanes: int) -> ExactKernels:
    """Return the kernels that compute so many machine states at a time: 4, 8 or 16."""

    @compiled
    def solve(
        data: PassArrays, policy: Actions, discount: float, steps: Range, rows: Range, observations: Range
    ) -> None:
        """Compute the steps steps[1] − 1 … steps[0]; of each a range of rows, then of observations."""
        indptr, probs, edge_rows = data.indptr, data.probs, data.rows
        width, (_, size, num_states) = data.exits.shape[1] // NUM_EXITS, policy.shape
        num_actions, zero = (indptr.shape[0] - 1) // size, zeros(lanes)
        for h in range(steps[1] - 1, steps[0] - 1, -1):
            after, here, actions = data.tables[(h + 1) & 1], data.tables[h & 1], policy[h].reshape(-1)
            fill(zero, after, data.exits[h + 1], size, data.extra_rows, data.layers, rows)
            for o in range(observations[0], observations[1]):
                for block in range(0, width, lanes):
                    lane = min(block, width - lanes)
                    best, choice = zero, zero
                    e = np.uint64(indptr[o * num_actions])  # unsigned: see ``ModelArrays.rows``
                    for a in range(num_actions):
                        total, last = zero, np.uint64(indptr[o * num_actions + a + 1])
                        while e < last:
                            total = total + probs[e] * load(zero, after, np.int64(edge_rows[e]) * width + lane)
                            e = following(e)
                        if a == 0:
                            best = total
                        else:
                            better = total > best
                            best, choice = select(better, total, best), select(better, float(a), choice)
                    store(here, o * width + lane, best)
                    store_integers(actions, o * num_states + lane, choice, num_states - lane)
            keep(here, width, data.values, h, discount, observations)

    @compiled
    def evaluate(
        data: PassArrays, policy: Actions, discount: float, steps: Range, rows: Range, observations: Range
    ) -> None:
        """Compute the value of a policy, in the same way."""
        indptr, probs, edge_rows = data.indptr, data.probs, data.rows
        width, size = data.exits.shape[1] // NUM_EXITS, policy.shape[1]
        sizes = (np.uint64((indptr.shape[0] - 1) // size), np.uint64(width))
        for h in range(steps[1] - 1, steps[0] - 1, -1):
            after, here = data.tables[(h + 1) & 1], data.tables[h & 1]
            fill(zeros(lanes), after, data.exits[h + 1], size, data.extra_rows, data.layers, rows)
            now = policy[h]
            for o in range(observations[0], observations[1]):
                for m in range(policy.shape[2]):
                    value = state_value(indptr, probs, edge_rows, after, now, sizes, np.uint64(o), np.uint64(m))
                    here[o * width + m] = value
            keep(here, width, data.values, h, discount, observations)

    return ExactKernels(solve, evaluate)


def lanes_of(width: int) -> int:
    """Return how many machine states are computed at a time."""
    return 16 if width >= 16 else 8 if width >= 8 else 4


# A state (o, m) in which a policy that is being played is valued.
PRODUCT_STATE = np.dtype([("o", "u4"), ("m", "u4")], align=True)


class ValueArrays(NamedTuple):
    """What the exact value of a policy that is being played is computed from.

    ``states`` are the states (o, m) that an episode can reach, in the order of the first step at which it can; the
    first until[h] of them can be met at step h.
    """

    model: ModelArrays
    layers: LayerArrays
    exits: Floats  # [H + 1, NUM_EXITS·W]
    states: Records
    until: Ints  # [H]
    discounts: Floats  # [H], what V_h counts for the step before: γ, and 1 for the first step
    tables: Floats  # [2, (O + NUM_EXITS + X)·W], to work in


@part
def start_value(starts: Records, table: Floats, width: int) -> float:
    """Return the value at the start, from a flat table whose first rows hold V_0."""
    total = 0.0
    for i in range(starts.shape[0]):
        total += starts[i]["prob"] * table[np.int64(starts[i]["o"]) * width + np.int64(starts[i]["m"])]
    return total


@part
def policy_value(values: ValueArrays, starts: Records, policy: Actions) -> float:
    """Return the exact value of policy[H, O, M], computed only for states that an episode can reach."""
    model, tables, width, size = values.model, values.tables, values.exits.shape[1] // NUM_EXITS, policy.shape[1]
    indptr, probs, rows = model.indptr, model.probs, model.rows
    sizes = (np.uint64((indptr.shape[0] - 1) // size), np.uint64(width))
    last = tables[policy.shape[0] & 1]
    for i in range(size * width):
        last[i] = 0.0
    for h in range(policy.shape[0] - 1, -1, -1):
        after, here = tables[(h + 1) & 1], tables[h & 1]
        fill(
            zeros(4), after, values.exits[h + 1], size, model.extra_rows, values.layers, (0, model.extra_rows.shape[0])
        )
        now = policy[h]
        for i in range(values.until[h]):
            o, m = np.uint64(values.states[i]["o"]), np.uint64(values.states[i]["m"])
            value = state_value(indptr, probs, rows, after, now, sizes, o, m)
            here[o * np.uint64(width) + m] = value * values.discounts[h]
    return start_value(starts, tables[0], width)


@inlined
def push_mass(model: ModelArrays, machine: Moves, pair: int, m: int, mass: float, onto: Floats) -> None:
    """Add the mass of (pair, m) to where it goes in one step, onto[O, M]; what takes an exit is gone."""
    num_machine_states, (starts, targets, probs) = onto.shape[1], machine
    for e in range(model.indptr[pair], model.indptr[pair + 1]):
        if model.successors[e] < onto.shape[0]:
            first = model.labels[e] * num_machine_states + m
            for j in range(starts[first], starts[first + 1]):
                onto[model.successors[e], targets[j]] += mass * model.probs[e] * probs[j]


@compiled
def occupancy(model: ModelArrays, machine: Moves, policy: Actions, discount: float, states: Floats) -> None:
    """Fill states[h, o, m] = γ^h · P(o_h = o, m_h = m) for h = 1 … H, from states[0] and 0 elsewhere."""
    num_actions = (model.indptr.shape[0] - 1) // policy.shape[1]
    for h in range(policy.shape[0]):
        onto = states[h + 1]
        for o in range(policy.shape[1]):
            for m in range(policy.shape[2]):
                mass = discount * states[h, o, m]
                if policy.ndim == 3:
                    if mass > 0.0:
                        push_mass(model, machine, o * num_actions + np.int64(policy[h, o, m]), m, mass, onto)
                else:
                    for a in range(num_actions):
                        share = mass * policy[h, o, m, a]
                        if share > 0.0:
                            push_mass(model, machine, o * num_actions + a, m, share, onto)
