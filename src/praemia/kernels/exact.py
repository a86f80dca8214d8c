"""Exact planning over H steps: the optimum, the value of a policy, where a policy goes. The product is never built.

With table = the continuation rows of V_{h+1}:

    Q_h(o, m, a) = Σ_e p_e · table[row_e, m],    V_h(o, m) = max_a Q_h  or  Σ_a π_h(a|o, m) Q_h.

With a discount γ the rows are those of γ·V_{h+1}.

Two tables take turns: one is read while V_h is written into the other's first O rows. After them come the
terminal values of the exits, and then the continuation rows. A table has one column for each machine state, and columns
of 0 up to a multiple of four. ``solve`` and ``evaluate`` do a range of steps, and of each a
range of rows and of observations, so that threads can share a step; they release Python's lock.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from praemia.kernels.compiling import INTERNAL, POINTED_AT, UNCOUNTED, called, compiled, inlined, specialised
from praemia.kernels.lanes import load, select, store, store_whole, zeros
from praemia.kernels.numbers import row
from praemia.kernels.records import (
    FIRST,
    Actions,
    Floats,
    Ints,
    LayerArrays,
    MachineArrays,
    ModelArrays,
    Records,
    Unsigned,
    Whole,
)
from praemia.kernels.rows import fill_exits, fill_rows

MOST_LANES = 4  # replaced: the most lanes used, machine states that are done at a time
Range = tuple[int, int]


def lanes_of(width: int) -> int:
    """Return how many machine states are done at a time; kernels for 8 and 16 lanes are compiled only when needed."""
    return 16 if width >= 16 else 8 if width >= 8 else 4


@called
def fill(
    table: Floats,
    width: int,
    num_observations: int,
    extra_rows: Records,
    layers: LayerArrays,
    first: Whole,
    last: Whole,
) -> None:
    """Fill a range of the continuation rows of a flat table: sixteen machine states at a time, then four."""
    wide: Whole = FIRST
    if MOST_LANES == 16:
        wide = width & ~15
        fill_rows(zeros(16), table, width, num_observations, extra_rows, layers, first, last, FIRST, wide)
    fill_rows(zeros(4), table, width, num_observations, extra_rows, layers, first, last, wide, width)


@compiled(**INTERNAL)
def improve_lanes(
    zero: Any,
    indptr: Ints,
    probs: Floats,
    rows: Unsigned,
    num_actions: int,
    after: Floats,
    here: Floats,
    policy: Actions,
    sizes: tuple[int, int],
    o: int,
    lane: int,
) -> None:
    """Find V_h and the first of the best actions for some machine states of one observation.

    Tables and the policy are flat, ``sizes`` are the numbers of columns of a table and of machine states. Sums and
    maxima stay in registers.
    """
    best, choice, width = zero, zero, sizes[0]
    e = np.uint64(indptr[o * num_actions])  # unsigned: see ``ModelArrays.rows``
    for a in range(num_actions):
        total, last = zero, np.uint64(indptr[o * num_actions + a + 1])
        while e < last:
            total = total + probs[e] * load(zero, after, np.int64(rows[e]) * width + lane)
            e += np.uint64(1)
        if a == 0:
            best = total
        else:
            better = total > best
            best, choice = select(better, total, best), select(better, float(a), choice)
    store(here, o * width + lane, best)
    store_whole(policy, o * sizes[1] + lane, choice, sizes[1] - lane)


@called
def improve(
    model: ModelArrays, after: Floats, here: Floats, width: int, policy: Actions, h: int, first: int, last: int
) -> None:
    """Fill here[o] with V_h and policy[h, o, m] with the first of the best actions, for a range of observations.

    As many machine states at a time as registers hold: an edge is then read once for all of them.
    """
    indptr, probs, rows = model.indptr, model.probs, model.rows
    num_actions = (indptr.shape[0] - 1) // policy.shape[1]
    actions, sizes = row(policy, h), (width, policy.shape[2])
    for o in range(first, last):
        lane = 0
        if MOST_LANES == 16:
            while lane + 16 <= width:
                improve_lanes(zeros(16), indptr, probs, rows, num_actions, after, here, actions, sizes, o, lane)
                lane += 16
        if MOST_LANES >= 8 and lane + 8 <= width:
            improve_lanes(zeros(8), indptr, probs, rows, num_actions, after, here, actions, sizes, o, lane)
            lane += 8
        if lane < width:
            improve_lanes(zeros(4), indptr, probs, rows, num_actions, after, here, actions, sizes, o, lane)


@inlined
def mean_value(indptr: Ints, probs: Floats, rows: Unsigned, pair: Whole, m: Whole, after: Floats, width: int) -> float:
    """Return Σ_e p_e · after[row_e, m] over the edges of a pair."""
    i = np.uint64(pair)
    total, e, end = 0.0, np.uint64(indptr[i]), np.uint64(indptr[i + np.uint64(1)])
    while e < end:
        total += probs[e] * after[np.int64(rows[e]) * width + m]
        e += np.uint64(1)
    return total


@inlined
def assess_state(
    model: ModelArrays, after: Floats, width: int, policy: Actions, now: Actions, first: Whole, o: Whole, m: Whole
) -> float:
    """Return V_h(o, m) of policy[h, o, m], or of probabilities policy[h, o, m, a].

    ``now`` is policy[h], flat, and ``first`` the first of the pairs of o.
    """
    indptr, probs, rows = model.indptr, model.probs, model.rows
    place, total = o * policy.shape[2] + m, 0.0
    if policy.ndim == 3:
        total = mean_value(indptr, probs, rows, first + np.int64(now[place]), m, after, width)
    else:
        for a in range(policy.shape[3]):
            share = now[place * policy.shape[3] + a]
            if share > 0.0:
                total += share * mean_value(indptr, probs, rows, first + a, m, after, width)
    return total


@called
def assess(
    model: ModelArrays, after: Floats, here: Floats, width: int, policy: Actions, h: int, first: int, last: int
) -> None:
    """Fill here with V_h of a policy, for a range of observations."""
    now, num_actions = row(policy, h), (model.indptr.shape[0] - 1) // policy.shape[1]
    for o in range(first, last):
        for m in range(policy.shape[2]):
            here[o * width + m] = assess_state(model, after, width, policy, now, o * num_actions, o, m)


step: Any = None  # replaced: ``improve``, or ``assess``


def backward(
    model: ModelArrays,
    layers: LayerArrays,
    exits: Floats,
    tables: Floats,
    values: Floats,
    policy: Actions,
    discount: float,
    steps: Range,
    rows: Range,
    part: Range,
) -> None:
    """Do the steps steps[1] − 1 … steps[0]; of each fill a range of rows, then find V_h in a range of observations.

    exits[H + 1, NUM_EXITS, W] are the terminal values. tables[2, O + NUM_EXITS + X, W] are worked in: γ·V_h is
    left in tables[h % 2], and V_0 in tables[0]. values[H + 1, O, M] keeps V_h, unless it has no rows.
    """
    width = tables.shape[2]
    for h in range(steps[1] - 1, steps[0] - 1, -1):
        after, here = row(tables, (h + 1) & 1), row(tables, h & 1)
        fill_exits(after, width, policy.shape[1], row(exits, h + 1))
        fill(after, width, policy.shape[1], model.extra_rows, layers, rows[0], rows[1])
        step(model, after, here, width, policy, h, part[0], part[1])
        if values.shape[0] > 0:
            for o in range(part[0], part[1]):
                for m in range(values.shape[2]):
                    values[h, o, m] = here[o * width + m]
        if discount < 1.0 and h > 0:
            for i in range(part[0] * width, part[1] * width):
                here[i] *= discount


class ExactKernels(NamedTuple):
    """The kernels for tables of a width: those of wide machines are compiled where there is one."""

    solve: Any  # fills policy[H, O, M]
    evaluate: Any  # takes policy[H, O, M], or policy[H, O, M, A] of action probabilities


@cache
def exact_kernels(lanes: int) -> ExactKernels:
    """Return the kernels that do so many machine states at a time: 4, 8 or 16."""
    kinds, options = {"solve": improve, "evaluate": assess}, {**UNCOUNTED, "nogil": True}
    return ExactKernels(
        **{
            name: specialised(backward, f"{name}_{lanes}", {"MOST_LANES": lanes, "step": kind}, **options)
            for name, kind in kinds.items()
        }
    )


# A state (o, m) in which a policy that is being played is valued.
PRODUCT_STATE = np.dtype([("o", "i4"), ("m", "i4")], align=True)


class ValueArrays(NamedTuple):
    """What the exact value of a policy that is being played is computed from.

    ``states`` are the states (o, m) that an episode can reach, in the order of the first step at which it can; the
    first until[h] of them can be met at step h.
    """

    model: ModelArrays
    layers: LayerArrays
    exits: Floats  # [H + 1, NUM_EXITS, W]
    states: Records
    until: Ints  # [H]
    discounts: Floats  # [H], what V_h counts for the step before: γ, and 1 for the first step
    tables: Floats  # [2, O + NUM_EXITS + X, W], to work in


@inlined
def start_value(starts: Records, table: Floats) -> float:
    """Return the value at the start, from a table whose first rows hold V_0[o, m]."""
    total = 0.0
    for i in range(starts.shape[0]):
        start = starts[i]
        total += start["prob"] * table[start["o"], start["m"]]
    return total


def policy_value(values: ValueArrays, starts: Records, policy: Actions) -> float:
    """Return the exact value of policy[H, O, M], computed only for states that an episode can reach."""
    model, tables, width = values.model, values.tables, values.tables.shape[2]
    last, num_actions = row(tables, policy.shape[0] & 1), (model.indptr.shape[0] - 1) // policy.shape[1]
    for i in range(policy.shape[1] * width):
        last[i] = 0.0
    for h in range(policy.shape[0] - 1, -1, -1):
        after, here = row(tables, (h + 1) & 1), row(tables, h & 1)
        fill_exits(after, width, policy.shape[1], row(values.exits, h + 1))
        fill(after, width, policy.shape[1], model.extra_rows, values.layers, FIRST, model.extra_rows.shape[0])
        now = row(policy, h)
        for i in range(values.until[h]):
            state = values.states[i]
            o, m = np.int64(state["o"]), np.int64(state["m"])
            worth = assess_state(model, after, width, policy, now, o * num_actions, o, m)
            here[o * width + m] = worth * values.discounts[h]
    return start_value(starts, tables[0])


@cache
def policy_value_for(lanes: int) -> Any:
    """Return ``policy_value`` for tables that are filled so many machine states at a time."""
    return specialised(policy_value, f"policy_value_{lanes}", {"MOST_LANES": lanes}, **POINTED_AT)


@compiled(**UNCOUNTED)
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


@compiled(nogil=True, **UNCOUNTED)
def occupancy(model: ModelArrays, machine: MachineArrays, policy: Actions, discount: float, states: Floats) -> None:
    """Fill states[h, o, m] = γ^h · P(o_h = o, m_h = m) for h = 1 … H, from states[0] and 0 elsewhere.

    ``policy`` is [H, O, M], or [H, O, M, A] of action probabilities.
    """
    num_actions = (model.indptr.shape[0] - 1) // policy.shape[1]
    for h in range(policy.shape[0]):
        for o in range(policy.shape[1]):
            for m in range(policy.shape[2]):
                mass, onto = discount * states[h, o, m], states[h + 1]
                if policy.ndim == 3:
                    if mass > 0.0:
                        push_mass(model, machine, o * num_actions + np.int64(policy[h, o, m]), m, mass, onto)
                else:
                    for a in range(num_actions):
                        share = mass * policy[h, o, m, a]
                        if share > 0.0:
                            push_mass(model, machine, o * num_actions + a, m, share, onto)


@compiled(**INTERNAL)
def push_mass(model: ModelArrays, machine: MachineArrays, pair: int, m: int, mass: float, onto: Floats) -> None:
    """Add the mass of (pair, m) to where it goes in one step, onto[O, M]; what takes an exit is gone."""
    num_machine_states = onto.shape[1]
    for e in range(model.indptr[pair], model.indptr[pair + 1]):
        if model.successors[e] < onto.shape[0]:
            first = model.labels[e] * num_machine_states + m
            for j in range(machine.indptr[first], machine.indptr[first + 1]):
                onto[model.successors[e], machine.targets[j]] += mass * model.probs[e] * machine.probs[j]
