"""Compute again only what changed: in a plan that is repaired, and from step to step of one that is made.

A repair keeps the tables of all steps, and with them what the plan was made from: the counts of each pair at its last
plan, its numbers, the tops and the spread. Only pairs whose visits have grown as the replan rule asks take over their
new counts. Backward over the steps, the values of their states are computed again, and of the states that were seen to
lead to one whose values changed a step later. All others would come out as they are, bit for bit: a repair is the
whole recursion, without the work that changes nothing.

In a whole plan the same holds from step to step. Where the tops, the spread and the exits of a step are those of the
step after it, a state has the values that it has there, unless it leads to one that has not. Far from the horizon this
is most of them, above all where tasks are deterministic and not discounted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from praemia.kernels.bonus import find_spread
from praemia.kernels.compiling import INTERNAL, called, compiled
from praemia.kernels.counts import has_grown
from praemia.kernels.numbers import row
from praemia.kernels.records import FIRST, Actions, CountArrays, Floats, Records, Whole
from praemia.kernels.rows import fill_after, fill_tops
from praemia.kernels.switches import SPREAD, prepare_pair


def refresh_counts(counts: CountArrays, pair: Whole) -> None:
    """Let plans go by what is counted of a pair now."""
    own = counts.pairs[pair]
    own["at_plan"], own["planned"] = own["visits"], own["distinct"]
    for e in range(own["first"], own["first"] + np.int64(own["distinct"])):
        counts.successors[e]["planned"] = counts.successors[e]["count"]


@called
def find_seeds(data: Any, rng: Any, num_actions: int) -> Whole:
    """Take over the counts of the pairs that have grown; list the states to begin with, and return how many."""
    counts, agenda = data.counts, data.memory.agenda
    pairs, total = counts.pairs, counts.totals[0]
    for i in range(total["changed"]):
        o = np.int64(counts.states[i]["ith_changed"])
        visits_of_state = 0
        for pair in range(o * num_actions, (o + 1) * num_actions):
            visits_of_state += pairs[pair]["visits"]
        for pair in range(o * num_actions, (o + 1) * num_actions):
            if has_grown(pairs[pair]["visits"], pairs[pair]["at_plan"]):
                refresh_counts(counts, pair)
                prepare_pair(data, rng, pair, float(visits_of_state))
        agenda[i]["ith_seed"] = o
    return np.int64(total["changed"])


@compiled(**INTERNAL)
def forget_changes(counts: CountArrays) -> None:
    """Note that a plan takes all changes into account."""
    total, states = counts.totals[0], counts.states
    for i in range(total["changed"]):
        states[states[i]["ith_changed"]]["is_changed"] = 0
    total["changed"], total["planned_rows"] = 0, total["rows"]


@compiled(**INTERNAL)
def list_states(counts: CountArrays, agenda: Records, num_seeds: Whole, num_changed: Whole) -> Whole:
    """List the states to be computed at a step: the seeds, and what leads to a state that changed a step later."""
    count: Whole = num_seeds
    for i in range(num_seeds):
        agenda[i]["ith_todo"] = agenda[i]["ith_seed"]
        agenda[agenda[i]["ith_seed"]]["is_listed"] = 1
    for i in range(num_changed):
        place = np.int64(counts.states[agenda[i]["ith_changed"]]["into"])
        while place > 0:
            link = counts.links[place - 1]
            if agenda[link["state"]]["is_listed"] == 0:
                agenda[link["state"]]["is_listed"] = 1
                agenda[count]["ith_todo"] = link["state"]
                count += 1
            place = np.int64(link["next"])
    return count


@called
def fill_changed_rows(zero: Any, data: Any, step: int, num_changed: Whole) -> None:
    """Fill the extra rows of the states that changed at the step after this one."""
    states, rows, agenda = data.counts.states, data.counts.rows, data.memory.agenda
    for i in range(num_changed):
        place = np.int64(states[agenda[i]["ith_changed"]]["rows"])
        while place > 0:
            fill_after(zero, data, step, place - 1, place)
            place = np.int64(rows[place - 1]["next"])


@called
def begin_repair(zero: Any, data: Any, step: int, num_seeds: Whole, num_changed: Whole) -> Whole:
    """Begin a step of a repair; return how many states are to be computed."""
    total = data.counts.totals[0]
    if total["planned_rows"] < total["rows"]:
        fill_after(zero, data, step, total["planned_rows"], total["rows"])
    fill_changed_rows(zero, data, step, num_changed)
    return list_states(data.counts, data.memory.agenda, num_seeds, num_changed)


@called
def begin_again(zero: Any, data: Any, view: Any, policy: Actions, num_changed: Whole) -> Whole:
    """Begin a step of a whole plan; return how many states are to be computed. The others are as a step later."""
    spec, memory, step = data.spec, data.memory, view.step
    horizon, num_observations, num_rows = policy.shape[0], policy.shape[1], data.counts.totals[0]["rows"]
    is_new = step == horizon - 1
    if not is_new:
        is_new = differ(row(spec.exits, step + 1), row(spec.exits, step + 2), spec.exits.shape[1] * view.width)
    fill_after(zero, data, step, FIRST, num_rows)
    if SPREAD:
        find_spread(zero, data, view)
    if is_new or num_changed > 0:
        fill_tops(zero, spec.support, view.values, view.width, memory.tops_by_label, view.tops)
    else:
        copy(row(memory.tops, step + 1), view.tops, memory.tops.shape[1])
    # The first step is not discounted, and an episode cannot be over there.
    is_new = is_new or step == 0
    if not is_new:
        is_new = differ(row(memory.shares, step), row(memory.shares, step + 1), memory.shares.shape[1])
    if not is_new:
        is_new = differ(view.tops, row(memory.tops, step + 1), memory.tops.shape[1])
    if is_new:
        for o in range(num_observations):
            memory.agenda[o]["ith_todo"] = o
        return np.int64(num_observations)
    size = memory.tables.shape[1] * view.width
    copy(view.values, row(memory.tables, step), size)
    copy(view.least, row(memory.least_tables, step), size)
    copy(view.soon, row(memory.soon_tables, step), size)
    copy(row(policy, step + 1), row(policy, step), num_observations * policy.shape[2])
    return list_states(data.counts, memory.agenda, FIRST, num_changed)


@compiled(**INTERNAL)
def differ(first: Floats, second: Floats, size: int) -> bool:
    """Tell whether the first ``size`` numbers differ anywhere."""
    i = 0
    while i < size and first[i] == second[i]:
        i += 1
    return i < size


@compiled(**INTERNAL)
def copy(source: Any, target: Any, size: int) -> None:
    """Copy the first ``size`` numbers."""
    for i in range(size):
        target[i] = source[i]
