"""The recursion that learners plan with: backward over the steps, over the continuation rows of what was counted.

    Q_h(o, m, a) = min{limit, Q_h of the previous plan, what the pair is worth to the learner},    V_h = max_a Q_h,

and a pair never visited is worth the limit: the most that can still be earned (``SpecArrays.steps``), or the most that
the labels allow after the pair (``praemia.kernels.rows``). Among equally good actions one is drawn uniformly; a random
number is taken only where there are several. Learners with lower values have, beside these upper ones,

    V̲_h = max{0, lower bound of the pair}  at the action taken;   a pair never visited has 0.

Two functions are a learner's own, and are put into ``plan`` before it is compiled:

    prepare_pair(data, rng, pair, visits)   once for a plan: the numbers of a pair and of its successors, from the
                                            visits to its state
    pair_value(zero, data, pair, view)      what a pair is worth, and a lower bound for learners that have them

They are those of ``praemia.kernels.bonus``, ``….posterior_draws`` or ``….confidence_sets``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from praemia.kernels.bonus import find_local_limit, find_spread
from praemia.kernels.compiling import called
from praemia.kernels.confidence_sets import sort_rows
from praemia.kernels.lanes import any_lane, load, select, store, zeros
from praemia.kernels.learned_machine import add_machine_bonus, estimate_machine, sample_machine
from praemia.kernels.numbers import flat, row
from praemia.kernels.plan_data import PlanData, StepView
from praemia.kernels.records import END, FIRST, UNKNOWN, Actions, Records, Whole
from praemia.kernels.repair import (
    begin_again,
    begin_repair,
    find_seeds,
    forget_changes,
    refresh_counts,
)
from praemia.kernels.rows import fill_after, fill_tops
from praemia.kernels.switches import (
    HAS_LOWER,
    LANES,
    LEARN_MACHINE,
    LIMIT_LABELS,
    MONOTONE,
    ORDERED,
    REPAIRS,
    SORTS_ROWS,
    SPREAD,
    UNSEEN,
    pair_value,
    prepare_pair,
)
from praemia.kernels.ties import counted_values, take_best, take_in_order


def value_in(zero: Any, view: StepView, place: Whole) -> Any:
    """Return Y of a continuation row: the step's reward and the value to come."""
    return load(zero, view.values, np.int64(place) * view.width + view.lane)


def value_of(zero: Any, successors: Records, view: StepView, e: int) -> Any:
    """Return Y of the successor at place ``e``."""
    return value_in(zero, view, successors[np.uint64(e)]["row"])


@called
def prepare(data: PlanData, rng: Any, num_planned: Whole, plans_all: bool, num_actions: int) -> None:
    """Compute what is the same at every step: the machine, and the numbers of the pairs that are planned for."""
    if LEARN_MACHINE and UNSEEN:
        sample_machine(data, rng)
    elif LEARN_MACHINE:
        estimate_machine(data)
    pairs = data.counts.pairs
    for i in range(num_planned):
        first = np.int64(i if plans_all else data.counts.states[i]["ith_met"]) * num_actions
        visits_of_state = 0
        for pair in range(first, first + num_actions):
            visits_of_state += pairs[pair]["visits"]
        for pair in range(first, first + num_actions):
            if UNSEEN or pairs[pair]["visits"] > 0:
                if REPAIRS:
                    refresh_counts(data.counts, pair)
                prepare_pair(data, rng, pair, float(visits_of_state))


def value_actions(zero: Any, data: PlanData, view: StepView, o: Whole, num_actions: int) -> None:
    """Write what a state's actions are worth to memory.options, and then what else there is: lower, or L and E."""
    pairs, memory, step = data.counts.pairs, data.memory, data.spec.steps[view.step]
    options, old, num_slots = flat(memory.options), flat(memory.action_values), memory.action_values.shape[1]
    width, lane = view.width, view.lane
    if SPREAD:
        find_local_limit(zero, data, view, o, num_actions)
    for a in range(num_actions):
        pair = o * num_actions + a
        i = np.uint64(pair)
        value = zero + step["cap"]
        if LIMIT_LABELS:
            value = load(zero, view.tops, np.int64(data.spec.support.groups[i]) * width + lane)
            if LEARN_MACHINE:  # a bonus for the machine may exceed what can be earned
                value = np.minimum(value, zero + step["cap"])
        low, soon = zero, zero + 1.0
        if ORDERED:
            low = load(zero, view.least, (data.counts.states.shape[0] + UNKNOWN) * width + lane)
        visits = pairs[i]["at_plan"] if REPAIRS else pairs[i]["visits"]
        if UNSEEN or visits > 0:
            limited = StepView(view.step, view.values, view.least, view.soon, view.tops, width, lane, value)
            bound, low_bound = pair_value(zero, data, pair, limited)
            value, low = np.minimum(value, bound), np.maximum(low, low_bound)
            if ORDERED:
                low, soon = counted_values(zero, data, pair, limited)
            if MONOTONE:
                at = (view.step * num_slots + np.int64(pairs[i]["slot"])) * width + lane
                value = np.minimum(value, load(zero, old, at))
                store(old, at, value)
        store(options, a * LANES, value)
        if HAS_LOWER or ORDERED:
            store(options, (num_actions + a) * LANES, low)
        if ORDERED:
            store(options, (2 * num_actions + a) * LANES, soon)


def view_of(zero: Any, data: PlanData, step: int) -> StepView:
    """Return what a step sees: the tables of the one after it."""
    memory = data.memory
    after, top = (step + 1) % memory.tables.shape[0], step % memory.tops.shape[0]
    values = row(memory.tables, after)
    lower = row(memory.least_tables, after) if HAS_LOWER or ORDERED else values
    soon = row(memory.soon_tables, after) if ORDERED else values
    return StepView(step, values, lower, soon, row(memory.tops, top), memory.tables.shape[2], 0, zero)


def kept_value(zero: Any, data: PlanData, view: StepView, value: Any) -> Any:
    """Return what a table keeps of a value: γ times it, or what an end is worth where the episode is over."""
    kept = value * data.spec.steps[view.step]["discount"]
    if view.step > 0:  # at the first step no episode is over
        end = load(zero, row(data.spec.exits, view.step), END * view.width + view.lane)
        kept = select(load(zero, data.spec.is_done, view.lane) > 0.0, end, kept)
    return kept


def draw_actions(
    zero: Any, data: PlanData, view: StepView, o: Whole, num_actions: int, policy: Actions, rng: Any
) -> None:
    """Find the best actions of a state, drawing among equals, and keep what they are worth."""
    memory, actions = data.memory, flat(policy)
    _, num_observations, num_machine_states = policy.shape
    now, at = view.step % memory.tables.shape[0], o * view.width + view.lane
    chosen, exist = (view.step * num_observations + o) * num_machine_states + view.lane, num_machine_states - view.lane
    best = take_best(zero, flat(memory.options), num_actions, actions, chosen, exist, rng)
    store(row(memory.tables, now), at, kept_value(zero, data, view, best))
    if HAS_LOWER:
        below = row(memory.least_tables, now)
        for k in range(LANES if exist > LANES else exist):
            taken = np.int64(actions[chosen + k])
            below[at + k] = memory.options[(num_actions + taken) * LANES + k]
        store(below, at, kept_value(zero, data, view, load(zero, below, at)))


def order_actions(
    zero: Any,
    data: PlanData,
    view: StepView,
    o: Whole,
    num_actions: int,
    policy: Actions,
    rng: Any,
    old: StepView,
    keeps: bool,
) -> bool:
    """Find the best actions of a state in their order, keep their values; tell whether these differ from ``old``."""
    memory, lane = data.memory, view.lane
    _, num_observations, num_machine_states = policy.shape
    chosen, exist = (view.step * num_observations + o) * num_machine_states + lane, num_machine_states - lane
    best, low, soon = take_in_order(zero, flat(memory.options), num_actions, flat(policy), chosen, exist, rng, keeps)
    best, low = kept_value(zero, data, view, best), kept_value(zero, data, view, low)
    if view.step > 0:  # nothing new comes after an end
        soon = select(load(zero, data.spec.is_done, lane) > 0.0, 0.0, soon)
    now, at = view.step % memory.tables.shape[0], o * view.width + lane
    moved = select(best == load(zero, old.values, at), zero, 1.0)
    moved = select(low == load(zero, old.least, at), moved, 1.0)
    moved = select(soon == load(zero, old.soon, at), moved, 1.0)
    store(row(memory.tables, now), at, best)
    store(row(memory.least_tables, now), at, low)
    store(row(memory.soon_tables, now), at, soon)
    has_moved: bool = any_lane(moved > 0.0, exist)
    return has_moved


@called
def begin_all(zero: Any, data: PlanData, view: StepView) -> None:
    """Begin a step at which every state is computed."""
    if LEARN_MACHINE and not UNSEEN:
        add_machine_bonus(data, view.step)
    fill_after(zero, data, view.step, FIRST, data.counts.totals[0]["rows"])
    if SPREAD:
        find_spread(zero, data, view)
    if SORTS_ROWS:
        sort_rows(data, view)
    if LIMIT_LABELS:
        fill_tops(zero, data.spec.support, view.values, view.width, data.memory.tops_by_label, view.tops)


@called
def clear_last(data: PlanData, num_planned: Whole, plans_all: bool) -> None:
    """Write V_H = 0 for the states that are planned for, and the same for what else there is of them."""
    memory = data.memory
    last = (data.spec.steps.shape[0] - 1) % memory.tables.shape[0]
    for i in range(num_planned):
        o = np.int64(i if plans_all else data.counts.states[i]["ith_met"])
        for m in range(memory.tables.shape[2]):
            memory.tables[last, o, m] = 0.0
            if HAS_LOWER or ORDERED:
                memory.least_tables[last, o, m] = 0.0
            if ORDERED:
                memory.soon_tables[last, o, m] = 0.0


def plan(data: PlanData, rng: Any, policy: Actions) -> None:
    """Make a plan, or repair the last one: update policy[H, O, M] and memory.

    V_0 is left in memory.tables[0]; at other steps a table holds γ·V_h. States that were never met keep the
    policy that they have, unless values can depend on them.
    """
    counts, memory, zero = data.counts, data.memory, zeros(LANES)
    horizon, num_observations, _ = policy.shape
    num_actions, total = counts.pairs.shape[0] // num_observations, counts.totals[0]
    plans_all = LIMIT_LABELS or UNSEEN
    num_todo = np.int64(num_observations) if plans_all else total["states"]
    num_seeds: Whole = FIRST
    is_repair, num_changed = False, FIRST
    if REPAIRS:  # a test of its own: what a learner does not do is not compiled for it
        is_repair = total["is_repair"] > 0
        if is_repair:
            num_seeds = find_seeds(data, rng, num_actions)
    if not is_repair:
        prepare(data, rng, num_todo, plans_all, num_actions)
        clear_last(data, num_todo, plans_all)
    total["computed"] = 0
    for h in range(horizon - 1, -1, -1):
        view = view_of(zero, data, h)
        old = view
        if REPAIRS:
            if is_repair:
                num_todo, old = begin_repair(zero, data, h, num_seeds, num_changed), view_of(zero, data, h - 1)
            else:
                num_todo = begin_again(zero, data, view, policy, num_changed)
            num_changed = FIRST
        else:
            begin_all(zero, data, view)
        for i in range(num_todo):
            met = np.int64(i if plans_all else counts.states[i]["ith_met"])
            o = np.int64(memory.agenda[i]["ith_todo"]) if REPAIRS else met
            has_changed = False
            for lane in range(0, view.width, LANES):
                here = StepView(h, view.values, view.least, view.soon, view.tops, view.width, lane, zero)
                value_actions(zero, data, here, o, num_actions)
                if not ORDERED:
                    draw_actions(zero, data, here, o, num_actions, policy, rng)
                elif order_actions(zero, data, here, o, num_actions, policy, rng, old, is_repair):
                    has_changed = True
            if REPAIRS:
                memory.agenda[o]["is_listed"] = 0
                if has_changed:
                    memory.agenda[num_changed]["ith_changed"] = o
                    num_changed += 1
        total["computed"] += num_todo
    if REPAIRS:
        forget_changes(counts)
