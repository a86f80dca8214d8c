"""Play whole stretches of episodes, counting as they go, until a new plan is due; plan, and so on.

A choice among several alternatives takes the next number of the world's generator; a single alternative takes none.
``plan_and_play`` returns after an amount of work that the caller sets, so that the caller can serve Ctrl-C and show
progress.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from praemia.kernels.compiling import INLINED, INTERNAL, POINTED_AT, UNCOUNTED, compiled, specialised
from praemia.kernels.counts import (
    add_row,
    add_state,
    add_successor,
    count_episode,
    count_move,
    count_visit,
    note_plan,
)
from praemia.kernels.exact import assess_state, exact_kernels
from praemia.kernels.records import (
    END,
    NUM_EXITS,
    Actions,
    Bools,
    CountArrays,
    Floats,
    Ints,
    LayerArrays,
    ModelArrays,
    Records,
    Whole,
)
from praemia.kernels.recursion import FIRST, PlanData
from praemia.kernels.rows import fill_exits

# A task to be sampled from: ``sum`` is a running sum of probabilities within a row.
START = np.dtype([("sum", "f8"), ("prob", "f8"), ("o", "i4"), ("m", "i4")], align=True)
# An edge of p: where it leads (o', or O + o' where the episode ends there), its continuation row among all that there
# can be, and where it is counted once it has happened (−1 before).
EDGE = np.dtype([("sum", "f8"), ("target", "i4"), ("label", "i4"), ("row", "u4"), ("place", "i4")], align=True)
MOVE = np.dtype([("sum", "f8"), ("target", "i4")], align=True)
REWARD = np.dtype([("sum", "f8"), ("value", "f8"), ("width", "f8")], align=True)
# An extra continuation row, and its place in the learner's tables (−1 before it is needed).
ROW_PLACE = np.dtype([("label", "i4"), ("target", "i4"), ("place", "i4")], align=True)


class WorldArrays(NamedTuple):
    """A task to be sampled from, and where a learner counts what happens. A learner never sees these."""

    starts: Records  # START
    indptr: Ints  # [O·A + 1]
    edges: Records  # EDGE
    extra_rows: Records  # ROW_PLACE
    move_indptr: Ints  # [L·M + 1]
    moves: Records  # MOVE
    reward_indptr: Ints
    rewards: Records  # REWARD
    exits: Floats  # [H + 1, NUM_EXITS, M], what having left is worth
    weights: Floats  # [H], what a reward counts at each step: γ^h
    is_done: Bools  # [M], whether an episode is over in a machine state


@compiled(**UNCOUNTED)
def draw(sums: Floats, first: Any, last: Any, uniform: float) -> Any:
    """Return the first place in [first, last) whose running sum exceeds a uniform number."""
    while last - first > 8:
        middle = (first + last) // 2
        if uniform < sums[middle - 1]:
            last = middle
        else:
            first = middle
    while first < last - 1 and uniform >= sums[first]:
        first += 1
    return first


@compiled(**UNCOUNTED)
def draw_action(probs: Floats, uniform: float) -> Any:
    """Return the first action up to which the probabilities exceed a uniform number."""
    a, total = FIRST, probs[0]
    while a < probs.shape[0] - 1 and uniform >= total:
        a += 1
        total += probs[a]
    return a


@compiled(**INTERNAL)
def first_sight(world: WorldArrays, counts: CountArrays, pair: Whole, e: Whole) -> Whole:
    """Give an edge that happened for the first time its place among the counts."""
    edge, first_extra = world.edges[e], counts.states.shape[0] + NUM_EXITS
    row, target = np.int64(edge["row"]), np.int64(edge["target"])
    if row >= first_extra:
        extra = world.extra_rows[row - first_extra]
        if extra["place"] < 0:
            extra["place"] = add_row(counts, extra["label"], extra["target"])
        row = np.int64(extra["place"])
    add_state(counts, target)
    place = add_successor(counts, pair, target, edge["label"], row)
    edge["place"] = place
    return place


# What a run records of each plan; how far it has got, and the number of steps after which no episode begins.
PLAN = np.dtype([("episode", "i8"), ("value", "f8"), ("optimistic", "f8")], align=True)
PROGRESS = np.dtype(
    [("played", "i8"), ("steps", "i8"), ("budget", "i8"), ("plans", "i8"), ("is_due", "i8"), ("work", "i8")], align=True
)


class LogArrays(NamedTuple):
    """What a run records.

    The last episode is kept for learners that learn from it: (o, a, z, label, m, m') of each step, with O + z for an
    end. After the last step o is −1.
    """

    plans: Records  # PLAN
    returns: Floats
    steps: Ints  # of each episode
    progress: Records  # [1], PROGRESS
    recent: Ints  # [H, 6], or [0, 6]
    recent_rewards: Floats  # [H], or [0]


@compiled(**INLINED)
def move_machine(world: WorldArrays, row: Whole, rng: Any) -> tuple[Any, float]:
    """Draw where the machine goes from row label · M + m, and what it pays."""
    j = world.move_indptr[row]
    if world.move_indptr[row + 1] - j > 1:
        j = draw(world.moves["sum"], j, world.move_indptr[row + 1], rng.random())
    r = world.reward_indptr[j]
    if world.reward_indptr[j + 1] - r > 1:
        r = draw(world.rewards["sum"], r, world.reward_indptr[j + 1], rng.random())
    law = world.rewards[r]
    reward = law["value"]
    if law["width"] > 0.0:
        reward += law["width"] * rng.random()
    return np.int64(world.moves[j]["target"]), reward


@compiled(**POINTED_AT)
def play(
    world: WorldArrays, counts: CountArrays, policy: Actions, rule: int, rng: Any, log: LogArrays, last: Whole
) -> None:
    """Play policy[H, O, M] (or [H, O, M, A], action probabilities) on from where ``log`` is.

    It stops when a plan is due, ``last`` episodes are played in all, or the budget of steps is spent. An episode that
    ends, or whose machine is done, is over, and its remaining steps are worth what the exit is.
    """
    horizon, num_states = policy.shape[0], policy.shape[2]
    num_actions, starts = counts.pairs.shape[0] // policy.shape[1], world.starts
    indptr, edges, recent = world.indptr, world.edges, log.recent
    uses_steps, keeps_recent = counts.steps.shape[0] > 0, recent.shape[0] > 0
    learns_machine = counts.machine.visits.shape[0] > 0
    due, progress = False, log.progress[0]
    episode, num_steps = progress["played"], progress["steps"]
    while episode < last and num_steps < progress["budget"] and not due:
        s, gain, length = FIRST, 0.0, horizon
        if starts.shape[0] > 1:
            s = draw(starts["sum"], s, starts.shape[0], rng.random())
        start = starts[s]
        o, m = np.int64(start["o"]), np.int64(start["m"])
        add_state(counts, o)
        for h in range(horizon):
            a = np.int64(policy[h, o, m]) if policy.ndim == 3 else draw_action(policy[h, o, m], rng.random())
            pair = o * num_actions + a
            e = indptr[pair]
            if indptr[pair + 1] - e > 1:
                e = draw(edges["sum"], e, indptr[pair + 1], rng.random())
            edge = edges[e]
            z, label, place = np.int64(edge["target"]), np.int64(edge["label"]), np.int64(edge["place"])
            m_next, reward = move_machine(world, label * num_states + m, rng)
            gain += world.weights[h] * reward
            if place < 0:
                place = np.int64(first_sight(world, counts, pair, e))
            if uses_steps:
                counts.steps[h, o] += 1
            if count_visit(counts, pair, place, rule):
                due = True
            if learns_machine and count_move(counts.machine, label * num_states + m, m_next, num_states, reward):
                due = True
            if keeps_recent:
                recent[h, 0], recent[h, 1], recent[h, 2] = o, a, z
                recent[h, 3], recent[h, 4], recent[h, 5] = label, m, m_next
                log.recent_rewards[h] = reward
            o, m = z, m_next
            if z >= policy.shape[1] or world.is_done[m]:
                gain += world.weights[h] * world.exits[h + 1, END, m]
                if keeps_recent and h + 1 < horizon:
                    recent[h + 1, 0] = -1
                length = h + 1
                break
        if uses_steps and o < policy.shape[1]:
            counts.steps[length, o] += 1
        log.returns[episode], log.steps[episode] = gain, length
        episode, num_steps = episode + 1, num_steps + length
        due = count_episode(counts, rule) or due
    progress["played"], progress["steps"], progress["is_due"] = episode, num_steps, due


class ValueArrays(NamedTuple):
    """What the exact value of a policy is computed from.

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


@compiled(**INLINED)
def start_value(starts: Records, table: Floats) -> float:
    """Return the value at the start, from a table whose first rows hold V_0[o, m]."""
    total = 0.0
    for i in range(starts.shape[0]):
        start = starts[i]
        total += start["prob"] * table[start["o"], start["m"]]
    return total


fill_table: Any = None  # replaced: ``praemia.kernels.exact.fill`` for the machine's width


def policy_value(values: ValueArrays, starts: Records, policy: Actions) -> float:
    """Return the exact value of policy[H, O, M], computed only for states that an episode can reach."""
    model, tables, last = values.model, values.tables, values.tables[policy.shape[0] % 2]
    for o in range(policy.shape[1]):
        for m in range(policy.shape[2]):
            last[o, m] = 0.0
    for h in range(policy.shape[0] - 1, -1, -1):
        after, here = tables[(h + 1) % 2], tables[h % 2]
        fill_exits(after, policy.shape[1], values.exits[h + 1])
        fill_table(after, policy.shape[1], model.extra_rows, values.layers, FIRST, model.extra_rows.shape[0])
        for i in range(values.until[h]):
            state = values.states[i]
            observation, machine_state = np.int64(state["o"]), np.int64(state["m"])
            assess_state(model, after, here, policy[h], observation, machine_state)
            here[observation, machine_state] *= values.discounts[h]
    return start_value(starts, tables[0])


@cache
def policy_value_for(lanes: int) -> Any:
    """Return ``policy_value`` for tables that are filled so many machine states at a time."""
    filler = {"fill_table": exact_kernels(lanes).fill}
    return specialised(policy_value, f"policy_value_{lanes}", replacements=filler, **POINTED_AT)


@compiled(**UNCOUNTED)
def plan_and_play(
    plan: Any,
    play: Any,
    value_policy: Any,
    world: WorldArrays,
    data: PlanData,
    learner_rng: Any,
    policy: Actions,
    values: ValueArrays,
    log: LogArrays,
    rule: int,
    rng: Any,
    most_work: int,
) -> None:
    """Plan and play on from where ``log`` is; ``play`` and ``value_policy`` are those above.

    It ends when all episodes are played or the budget of steps is spent, after an amount of work (in sums), or when the
    log or the memory of action values is full. ``rng`` is the world's. Plans are valued unless values.states is empty.
    """
    progress, counts, memory = log.progress[0], data.counts, data.memory
    horizon, total, work = policy.shape[0], log.returns.shape[0], 0
    while progress["played"] < total and progress["steps"] < progress["budget"] and work < most_work:
        number, slots = progress["plans"], counts.totals[0]["slots"]
        if progress["is_due"]:
            if number == log.plans.shape[0] or 0 < memory.action_values.shape[1] < slots:
                break
            note_plan(counts)
            plan(data, learner_rng, policy)
            entry = log.plans[number]
            entry["episode"] = progress["played"]
            entry["optimistic"] = start_value(world.starts, memory.tables[0])
            if values.states.shape[0] > 0:
                entry["value"] = value_policy(values, world.starts, policy)
            progress["plans"], progress["is_due"] = number + 1, 0
            work += horizon * policy.shape[2] * (policy.shape[1] + 4 * slots)
        first = progress["played"]
        left = most_work - work if most_work > work else 0
        last = first + 1 + left // (8 * horizon)
        last = last if last < total else np.int64(total)
        play(world, counts, policy, rule, rng, log, last)
        work += (progress["played"] - first) * 8 * horizon
    progress["work"] += work
