"""The recursion that learners plan with: backward over the steps, over the continuation rows of what was counted.

    Q_h(o, m, a) = min{limit, Q_h of the previous plan, what the pair is worth to the learner},    V_h = max_a Q_h,

and a pair never visited is worth the limit: the most that can still be earned (``SpecArrays.caps``), or the most that
the labels allow after the pair (``praemia.kernels.continuation_rows``). Among equally good actions one is drawn
uniformly; a random number is taken only where there are several.

A learner supplies its own part as small functions, which are put into ``plan`` before it is compiled. They are written
with NumPy functions, as for one machine state, and run on several at a time.

    begin_plan(data)                              once for a plan: what all pairs share; may be left out
    prepare_machine(data)                         once for a plan: write the machine's layers, where it is learned
    machine_at_step(data, step)                   once for a step, before the rows are filled
    prepare_pair(data, pair, visits_of_state)     once for a plan: the numbers of a pair and of its successors
    begin_step(zero, data, place)                 once for a step
    pair_value(zero, data, pair, place)           what a pair is worth

``praemia.kernels.bonus`` has these for learners with a bonus. ``praemia.kernels.two_sided_recursion`` is the variant
that has lower values too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from praemia.kernels.arrays import Actions, EveryRow, Floats, Ints, LayerArrays, Outlook, SmallInts
from praemia.kernels.compiling import INTERNAL, compiled, inlined
from praemia.kernels.continuation_rows import fill_rows, fill_tops
from praemia.kernels.counts import NUM_MET, NUM_ROWS, CountArrays
from praemia.kernels.simd import any_lane, load, num_lanes, select, store, store_whole, zeros


class SpecArrays(NamedTuple):
    """What is known of the task, as plans use it."""

    layers: LayerArrays  # what rows are filled with: τ and φ, or τ alone where rewards are kept apart
    paid: Floats  # [L·W], φ
    caps: Floats  # [H + 1], the most that can still be earned
    floors: Floats  # [H + 1], the least
    outlook: Outlook
    every: EveryRow
    sizes: Ints  # the number of actions
    possible: SmallInts  # [L·M·M], 1 where a machine that has to be learned can move; empty where it is known


class Memory(NamedTuple):
    """The memory that a plan works in, part of which it leaves to the next one."""

    tables: Floats  # [2, S + X, W]; V_0 is in the first S rows of tables[0]
    lower_tables: Floats  # the same for lower values, of learners that have them
    action_values: Floats  # [H, slots, W], Q of the previous plan; infinite for pairs that it did not know
    by_step: Floats  # [H, S·A], numbers that depend on the step; [0, S·A] when there are none
    by_pair: Floats  # [S·A, ·]
    by_successor: Floats  # [E, ·]
    drawn: SmallInts  # [S·A, ·], observations that were drawn
    order: SmallInts  # [M, rows], the rows, best first
    rewards: Floats  # [S·A·W], Σ p̂ φ where rewards are kept apart
    tops: Floats  # [G·W], the most that can follow the pairs of each group
    tops_by_label: Floats  # [L·W]
    options: Floats  # [2·A·lanes], the values of one state's actions
    spread: Floats  # [2·lanes + 1], sums over the steps done and the spread they make, where it is measured


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


# Replaced when a learner's plan is compiled.
LANES = 4
LIMIT_IS_TOP = False  # whether the limit is what the labels allow
IS_MONOTONE = False  # whether Q never rises above that of the previous plan
ASKS_UNSEEN = False  # whether ``pair_value`` covers pairs never visited too, over the rows of every (o, a, o')
LEARNS_MACHINE = False  # whether the machine's layers are estimates, rewritten for every plan
prepare_machine: Any = None
machine_at_step: Any = None
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
    """Return Y of the successor at place ``e``: the step's reward and the value to come."""
    return load(zero, place.worth, np.int64(data.counts.rows[np.uint64(e)]) * place.width + place.lane)


@inlined
def lower_value_of(zero: Any, data: PlanData, place: Place, e: int) -> Any:
    """Return Y of the successor at place ``e``, from the lower values."""
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


@compiled(forceinline=True, **INTERNAL)
def take_best(
    zero: Any,
    options: Floats,
    num_actions: int,
    here: Floats,
    at: int,
    policy: Actions,
    place: int,
    count: int,
    rng: Any,
) -> None:
    """Write the best of options[a · lanes + k] to here[at + k] and its action to policy[place + k].

    ``count`` or fewer of the machine states k exist; here and policy are flat.
    """
    lanes = num_lanes(zero)
    best, choice, ties = load(zero, options, 0), zero, zero
    for a in range(1, num_actions):
        value = load(zero, options, a * lanes)
        better, ties = value > best, select(value == best, 1.0, ties)
        best, choice = select(better, value, best), select(better, float(a), choice)
    store(here, at, best)
    store_whole(policy, place, choice, count)
    if any_lane(ties > 0.0, count):
        for k in range(min(count, lanes)):
            policy[place + k] = draw_best(options, k, lanes, num_actions, rng)


@compiled(**INTERNAL)
def draw_best(options: Floats, first: int, step: int, num_actions: int, rng: Any) -> int:
    """Return the action with the largest of options[first + a · step], drawn among equals."""
    best, equals = options[first], 1
    for a in range(1, num_actions):
        value = options[first + a * step]
        equals = 1 if value > best else equals + (value == best)
        best = max(best, value)
    skipped = int(rng.random() * equals) if equals > 1 else 0
    for a in range(num_actions):
        if options[first + a * step] == best:
            if skipped == 0:
                return a
            skipped -= 1
    return 0


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
    if LEARNS_MACHINE:
        prepare_machine(data)
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
        if LEARNS_MACHINE:
            machine_at_step(data, h)
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
                        if LEARNS_MACHINE:  # a bonus for the machine may exceed what can be earned
                            value = np.minimum(value, zero + spec.caps[h])
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
