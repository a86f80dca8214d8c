"""The recursion that learners plan with: backward over the steps, over the continuation rows of what was counted.

    Q_h(o, m, a) = min{limit, Q_h of the plan before, what the learner says of the pair},      V_h = max_a Q_h,

and a pair never visited is worth the limit: the most that can still be earned (``SpecArrays.caps``), or the most that
the labels allow after the pair (``praemia.kernels.continuation_rows``). Equal best actions are drawn uniformly.

A learner brings its own part as small functions, which are written into ``plan`` before it is compiled. They are
written for one machine state, in NumPy's words, and run on several at a time.

    begin_plan(data)                              once for a plan: what all pairs share; may be left out
    prepare_pair(data, pair, visits_of_state)     once for a plan: the numbers of a pair and of its successors
    begin_step(zero, data, place)                 once for a step
    pair_value(zero, data, pair, place)           what a pair is worth

``praemia.kernels.bonus`` has these for learners with a bonus, ``two_tables`` the variant with a lower value beside.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from praemia.kernels.arrays import Actions, EveryRow, Floats, Ints, LayerArrays, Outlook, SmallInts
from praemia.kernels.best_actions import take_best
from praemia.kernels.compiling import inlined
from praemia.kernels.continuation_rows import fill_rows, fill_tops
from praemia.kernels.counts import NUM_MET, NUM_ROWS, CountArrays
from praemia.kernels.simd import load, store, zeros


class SpecArrays(NamedTuple):
    """What is known of the task, as plans use it."""

    layers: LayerArrays  # what rows are filled with: τ and φ, or τ alone where rewards are kept apart
    paid: Floats  # [L·W], φ
    caps: Floats  # [H + 1], the most that can still be earned
    floors: Floats  # [H + 1], the least
    outlook: Outlook
    every: EveryRow
    sizes: Ints  # the number of actions


class Memory(NamedTuple):
    """What a plan works in, and what it leaves to the next one."""

    tables: Floats  # [2, S + X, W]; V_0 is in the first S rows of tables[0]
    lower_tables: Floats  # the same for lower values, of learners that have them
    action_values: Floats  # [H, slots, W], the Q of the plan before; infinite for pairs that it did not know
    by_step: Floats  # [H, S·A], numbers that depend on the step; [0, S·A] when there are none
    by_pair: Floats  # [S·A, ·]
    by_successor: Floats  # [E, ·]
    drawn: SmallInts  # [S·A, ·], observations that were drawn
    order: SmallInts  # [M, rows], the rows from the best on
    rewards: Floats  # [S·A·W], Σ p̂ φ where rewards are kept apart
    tops: Floats  # [G·W], the most that can follow the pairs of each group
    tops_by_label: Floats  # [L·W]
    options: Floats  # [2·A·lanes], the values of one state's actions


class PlanData(NamedTuple):
    """All that a plan is made from."""

    counts: CountArrays
    spec: SpecArrays
    memory: Memory
    constants: Floats  # of the learner: fixed for a run, but for those that its begin_plan sets
    rng: Any


class Place(NamedTuple):
    """Where in the recursion a pair is looked at."""

    step: int
    worth: Floats  # the table of V_{h+1} and its continuation rows, flat
    lower: Floats  # the same of lower values, for learners that have them
    width: int
    lane: int  # the first of the machine states looked at
    limit: Any


# What a learner's plan replaces.
LANES = 4
LIMIT_IS_TOP = False  # whether the limit is what the labels allow
IS_MONOTONE = False  # whether Q may not rise above that of the plan before
ASKS_UNSEEN = False  # whether pairs never visited are asked about too, over the rows of every (o, a, o')
prepare_pair: Any = None
begin_step: Any = None
pair_value: Any = None


@inlined
def begin_plan(data: PlanData) -> None:
    """Do nothing at the beginning of a plan."""


def nothing_for_pair(data: PlanData, pair: int, visits_of_state: float) -> None:
    """Prepare nothing."""


def nothing_per_step(zero: Any, data: PlanData, place: Place) -> None:
    """Do nothing at the beginning of a step."""


@inlined
def value_of(zero: Any, data: PlanData, place: Place, e: int) -> Any:
    """Return Y of the successor that stands at ``e``: what the step pays and what is to come."""
    return load(zero, place.worth, np.int64(data.counts.rows[np.uint64(e)]) * place.width + place.lane)


@inlined
def lower_value_of(zero: Any, data: PlanData, place: Place, e: int) -> Any:
    """Return Y of the successor that stands at ``e``, from the lower values."""
    return load(zero, place.lower, np.int64(data.counts.rows[np.uint64(e)]) * place.width + place.lane)


@inlined
def value_at(zero: Any, data: PlanData, place: Place, pair: int, z: int) -> Any:
    """Return Y of any observation after a pair, seen or not, for learners with ``needs_unseen_labels``."""
    row = np.int64(data.spec.every.own[np.uint64(pair), np.uint64(z)])
    return load(zero, place.worth, row * place.width + place.lane)


@inlined
def clear_last(table: Floats, counts: CountArrays, num_planned: int, plans_all: bool) -> None:
    """Write V_H = 0 for the states that are planned for."""
    for i in range(num_planned):
        o = np.int64(i if plans_all else counts.met[i])
        for m in range(table.shape[1]):
            table[o, m] = 0.0


def plan(data: PlanData, policy: Actions) -> None:
    """Make a plan: update policy[H, S, M] and memory; V_0 is left in memory.tables[0].

    States that were never met keep the policy that they have, unless values can depend on them.
    """
    counts, spec, memory = data.counts, data.spec, data.memory
    horizon, num_states, num_machine_states = policy.shape
    num_actions, width = spec.sizes[0], memory.tables.shape[2]
    num_slots, actions = memory.action_values.shape[1], policy.reshape(-1)
    old, options, zero = memory.action_values.reshape(-1), memory.options, zeros(LANES)
    plans_all = LIMIT_IS_TOP or ASKS_UNSEEN
    num_planned = num_states if plans_all else counts.sizes[NUM_MET]
    row_labels = spec.every.row_labels if ASKS_UNSEEN else counts.row_labels
    row_targets = spec.every.row_targets[num_states:] if ASKS_UNSEEN else counts.row_targets
    num_rows = row_labels.shape[0] if ASKS_UNSEEN else counts.sizes[NUM_ROWS]
    begin_plan(data)
    for i in range(num_planned):
        first = np.int64(i if plans_all else counts.met[i]) * num_actions
        visits_of_state = 0
        for pair in range(first, first + num_actions):
            visits_of_state += counts.visits[pair]
        for pair in range(first, first + num_actions):
            if ASKS_UNSEEN or counts.visits[pair] > 0:
                prepare_pair(data, pair, float(visits_of_state))
    clear_last(memory.tables[horizon % 2], counts, num_planned, plans_all)
    for h in range(horizon - 1, -1, -1):
        after = memory.tables[(h + 1) % 2]
        worth, here = after.reshape(-1), memory.tables[h % 2].reshape(-1)
        fill_rows(zero, after, num_states, row_labels, row_targets, spec.layers, (0, num_rows), (0, width))
        begin_step(zero, data, Place(h, worth, worth, width, 0, zero))
        if LIMIT_IS_TOP:
            fill_tops(zero, spec.outlook, worth, width, memory.tops_by_label, memory.tops)
        for i in range(num_planned):
            o = np.int64(i if plans_all else counts.met[i])
            for lane in range(0, width, LANES):
                for a in range(num_actions):
                    pair = o * num_actions + a
                    if LIMIT_IS_TOP:
                        value = load(zero, memory.tops, np.int64(spec.outlook.groups[pair]) * width + lane)
                    else:
                        value = zero + spec.caps[h]
                    if ASKS_UNSEEN or counts.visits[np.uint64(pair)] > 0:
                        place = Place(h, worth, worth, width, lane, value)
                        value = np.minimum(value, pair_value(zero, data, pair, place))
                        if IS_MONOTONE:
                            at = (h * num_slots + np.int64(counts.slots[np.uint64(pair)])) * width + lane
                            value = np.minimum(value, load(zero, old, at))
                            store(old, at, value)
                    store(options, a * LANES, value)
                chosen = (h * num_states + o) * num_machine_states + lane
                exist = num_machine_states - lane
                take_best(zero, options, num_actions, here, o * width + lane, actions, chosen, exist, data.rng)
