"""The recursion that learners plan with: backward over the steps, over the continuation rows of what was counted.

    Q_h(o, m, a) = min{limit, Q_h of the previous plan, what the pair is worth to the learner},    V_h = max_a Q_h,

and a pair never visited is worth the limit: the most that can still be earned (``SpecArrays.steps``), or the most that
the labels allow after the pair (``praemia.kernels.rows``). Among equally good actions one is drawn uniformly; a random
number is taken only where there are several. Learners with lower values have, beside these upper ones,

    V̲_h = max{0, lower bound of the pair}  at the action taken;   a pair never visited has 0.

A learner supplies its own part as small functions, which are put into ``plan`` before it is compiled. They are written
with NumPy functions, as for one machine state, and run on several at a time.

    prepare_machine(data, rng)                    once for a plan: write the machine's layers, where it is learned
    machine_at_step(data, step)                   once for a step, before the rows are filled
    prepare_pair(data, rng, pair, visits)         once for a plan: the numbers of a pair and of its successors, from
                                                  the visits to its state
    begin_step(zero, data, place)                 once for a step
    pair_value(zero, data, pair, place)           what a pair is worth, and a lower bound for learners that have them

``praemia.kernels.bonus`` has these for learners with a bonus.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from praemia.kernels.compiling import INLINED, INTERNAL, compiled, inlined
from praemia.kernels.lanes import any_lane, flat, load, num_lanes, select, store, store_whole, zeros
from praemia.kernels.records import (
    Actions,
    CountArrays,
    EveryRow,
    Floats,
    LabelSupport,
    LayerArrays,
    Records,
    SmallInts,
    Whole,
)
from praemia.kernels.rows import fill_done, fill_exits, fill_rows, fill_tops

# The most that can still be earned at a step, and what its values count for the step before: γ. At step 0 that is 1:
# V_0 is kept as it is.
STEP = np.dtype([("cap", "f8"), ("discount", "f8")], align=True)


class SpecArrays(NamedTuple):
    """What is known of the task, as plans use it."""

    layers: LayerArrays  # what rows are filled with: τ and φ, or τ alone where rewards are kept apart
    paid: Floats  # [L·W], φ
    steps: Records  # [H + 1], STEP
    exits: Floats  # [H + 1, NUM_EXITS, W], what having left is worth
    support: LabelSupport
    every: EveryRow
    possible: SmallInts  # [L·M·M], 1 where a machine that has to be learned can move; empty where it is known
    done: SmallInts  # the machine states in which an episode is over


class Memory(NamedTuple):
    """The memory that a plan works in, part of which it leaves to the next one."""

    tables: Floats  # [2, S + NUM_EXITS + X, W]; V_0 is in the first S rows of tables[0]
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
    exists: Floats  # [W], 1 for a column that is a machine state and 0 for one that fills a vector up


class PlanData(NamedTuple):
    """All arrays that a plan is made from; kernels take it by reference."""

    counts: CountArrays
    spec: SpecArrays
    memory: Memory
    constants: Floats  # of the learner, fixed for a run


class Place(NamedTuple):
    """Where in the recursion a pair is looked at."""

    step: int
    worth: Floats  # the table of V_{h+1} and its continuation rows, flat
    lower: Floats  # the same of lower values, for learners that have them
    width: int
    lane: int  # the first of the machine states looked at
    limit: Any


FIRST = np.int64(0)  # a literal 0 would have kernels compiled for it

# Replaced when a learner's plan is compiled.
LANES = 4
LIMIT_IS_TOP = False  # whether the limit is what the labels allow
IS_MONOTONE = False  # whether Q never rises above that of the previous plan
ASKS_UNSEEN = False  # whether ``pair_value`` covers pairs never visited too, over the rows of every (o, a, o')
LEARNS_MACHINE = False  # whether the machine's layers are estimates, rewritten for every plan
HAS_LOWER = False  # whether there are lower values
prepare_machine: Any = None
machine_at_step: Any = None
prepare_pair: Any = None
begin_step: Any = None
pair_value: Any = None


def nothing_for_pair(data: PlanData, rng: Any, pair: int, visits_of_state: float) -> None:
    """Prepare nothing."""


def nothing_per_step(zero: Any, data: PlanData, place: Place) -> None:
    """Do nothing at the beginning of a step."""


@inlined
def value_of(zero: Any, successors: Records, place: Place, e: int) -> Any:
    """Return Y of the successor at place ``e``: the step's reward and the value to come."""
    return load(zero, place.worth, np.int64(successors[np.uint64(e)]["row"]) * place.width + place.lane)


@inlined
def value_at(zero: Any, every: EveryRow, place: Place, pair: int, z: int) -> Any:
    """Return Y of any observation after a pair, seen or not, for learners that ask about successors never seen."""
    row = np.int64(every.own[np.uint64(pair), np.uint64(z)])
    return load(zero, place.worth, row * place.width + place.lane)


@inlined
def clear_last(table: Floats, states: Records, num_planned: int, plans_all: bool) -> None:
    """Write V_H = 0 for the states that are planned for."""
    for i in range(num_planned):
        o = np.int64(i if plans_all else states[i]["met"])
        for m in range(table.shape[1]):
            table[o, m] = 0.0


@compiled(**INLINED)
def take_best(
    zero: Any,
    options: Floats,
    num_actions: int,
    here: Floats,
    at: int,
    policy: Actions,
    place: int,
    count: int,
    discount: float,
    rng: Any,
) -> None:
    """Write γ times the best of options[a · lanes + k] to here[at + k] and its action to policy[place + k].

    ``count`` or fewer of the machine states k exist; here and policy are flat.
    """
    lanes = num_lanes(zero)
    best, choice, ties = load(zero, options, 0), zero, zero
    for a in range(1, num_actions):
        value = load(zero, options, a * lanes)
        better, ties = value > best, select(value == best, 1.0, ties)
        best, choice = select(better, value, best), select(better, float(a), choice)
    store(here, at, best * discount)
    store_whole(policy, place, choice, count)
    if any_lane(ties > 0.0, count):
        for k in range(lanes if count > lanes else count):
            policy[place + k] = draw_best(options, k, lanes, num_actions, rng)


@compiled(**INTERNAL)
def draw_best(options: Floats, first: int, step: int, num_actions: int, rng: Any) -> int:
    """Return the action with the largest of options[first + a · step], drawn among equals."""
    best, equals = options[first], 1
    for a in range(1, num_actions):
        value = options[first + a * step]
        if value > best:
            best, equals = value, 1
        elif value == best:
            equals += 1
    skipped = np.int64(rng.random() * equals) if equals > 1 else FIRST
    for a in range(num_actions):
        if options[first + a * step] == best:
            if skipped == 0:
                return a
            skipped -= 1
    return 0


def prepare(data: PlanData, rng: Any, num_planned: int, plans_all: bool, num_actions: int) -> None:
    """Compute what is the same at every step: the machine, and the numbers of the pairs that are planned for."""
    if LEARNS_MACHINE:
        prepare_machine(data, rng)
    pairs = data.counts.pairs
    for i in range(num_planned):
        first = np.int64(i if plans_all else data.counts.states[i]["met"]) * num_actions
        visits_of_state = 0
        for pair in range(first, first + num_actions):
            visits_of_state += pairs[pair]["visits"]
        for pair in range(first, first + num_actions):
            if ASKS_UNSEEN or pairs[pair]["visits"] > 0:
                prepare_pair(data, rng, pair, float(visits_of_state))


def value_actions(zero: Any, data: PlanData, place: Place, o: Whole, num_actions: int) -> None:
    """Write what a state's actions are worth to memory.options, and then their lower bounds, if there are any."""
    pairs, memory, step = data.counts.pairs, data.memory, data.spec.steps[place.step]
    options, old, num_slots = memory.options, flat(memory.action_values), memory.action_values.shape[1]
    width, lane = place.width, place.lane
    for a in range(num_actions):
        pair = o * num_actions + a
        i = np.uint64(pair)
        value = zero + step["cap"]
        if LIMIT_IS_TOP:
            value = load(zero, memory.tops, np.int64(data.spec.support.groups[i]) * width + lane)
            if LEARNS_MACHINE:  # a bonus for the machine may exceed what can be earned
                value = np.minimum(value, zero + step["cap"])
        low = zero
        if ASKS_UNSEEN or pairs[i]["visits"] > 0:
            limited = Place(place.step, place.worth, place.lower, width, lane, value)
            bound, low_bound = pair_value(zero, data, pair, limited)
            value, low = np.minimum(value, bound), np.maximum(low, low_bound)
            if IS_MONOTONE:
                at = (place.step * num_slots + np.int64(pairs[i]["slot"])) * width + lane
                value = np.minimum(value, load(zero, old, at))
                store(old, at, value)
        store(options, a * LANES, value)
        if HAS_LOWER:
            store(options, (num_actions + a) * LANES, low)


def plan(data: PlanData, rng: Any, policy: Actions) -> None:
    """Make a plan: update policy[H, S, M] and memory.

    V_0 is left in memory.tables[0]; at other steps a table holds γ·V_h. States that were never met keep the
    policy that they have, unless values can depend on them.
    """
    counts, spec, memory = data.counts, data.spec, data.memory
    horizon, num_states, num_machine_states = policy.shape
    num_actions, width = counts.pairs.shape[0] // num_states, memory.tables.shape[2]
    actions, options, zero = flat(policy), memory.options, zeros(LANES)
    plans_all = LIMIT_IS_TOP or ASKS_UNSEEN
    num_planned = num_states if plans_all else counts.totals[0]["states"]
    rows, num_rows = counts.rows, counts.totals[0]["rows"]
    prepare(data, rng, num_planned, plans_all, num_actions)
    clear_last(memory.tables[horizon % 2], counts.states, num_planned, plans_all)
    if HAS_LOWER:
        clear_last(memory.lower_tables[horizon % 2], counts.states, num_planned, plans_all)
    for h in range(horizon - 1, -1, -1):
        after = memory.tables[(h + 1) % 2]
        worth, here, discount = flat(after), flat(memory.tables[h % 2]), spec.steps[h]["discount"]
        lower, below = worth, here
        if LEARNS_MACHINE:
            machine_at_step(data, h)
        fill_exits(after, num_states, spec.exits[h + 1])
        fill_done(after, num_states, spec.done, spec.exits[h + 1])
        fill_rows(zero, after, num_states, rows, spec.layers, FIRST, num_rows, FIRST, width)
        if HAS_LOWER:
            low_after = memory.lower_tables[(h + 1) % 2]
            fill_exits(low_after, num_states, spec.exits[h + 1])
            fill_done(low_after, num_states, spec.done, spec.exits[h + 1])
            fill_rows(zero, low_after, num_states, rows, spec.layers, FIRST, num_rows, FIRST, width)
            lower, below = flat(low_after), flat(memory.lower_tables[h % 2])
        begin_step(zero, data, Place(h, worth, lower, width, 0, zero))
        if LIMIT_IS_TOP:
            fill_tops(zero, spec.support, worth, width, memory.tops_by_label, memory.tops)
        for i in range(num_planned):
            o = np.int64(i if plans_all else counts.states[i]["met"])
            for lane in range(0, width, LANES):
                value_actions(zero, data, Place(h, worth, lower, width, lane, zero), o, num_actions)
                chosen, exist = (h * num_states + o) * num_machine_states + lane, num_machine_states - lane
                take_best(zero, options, num_actions, here, o * width + lane, actions, chosen, exist, discount, rng)
                if HAS_LOWER:
                    for k in range(LANES if exist > LANES else exist):
                        taken = np.int64(actions[chosen + k])
                        below[o * width + lane + k] = discount * options[(num_actions + taken) * LANES + k]
