"""Play whole stretches of episodes, counting as they go, until a new plan is due; plan, and so on.

A choice among several alternatives takes the next number of the world's generator; a single alternative takes none.
``plan_and_play`` returns after an amount of work that the caller sets, so that the caller can serve Ctrl-C and show
progress.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from praemia.kernels.compiling import INTERNAL, UNCOUNTED, compiled, plain, rebound
from praemia.kernels.counts import (
    add_row,
    add_state,
    add_successor,
    count_episode,
    count_move,
    count_visit,
    note_plan,
)
from praemia.kernels.exact import assess
from praemia.kernels.records import (
    END,
    NUM_EXITS,
    Actions,
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


@compiled(**INTERNAL)
def first_sight(edges: Records, extra_rows: Records, counts: CountArrays, pair: Whole, e: Whole) -> Whole:
    """Give an edge that happened for the first time its place among the counts."""
    row, num_states = np.int64(edges[e]["row"]), counts.states.shape[0]
    if row >= num_states + NUM_EXITS:
        x = row - num_states - NUM_EXITS
        if extra_rows[x]["place"] < 0:
            label, target = extra_rows[x]["label"], extra_rows[x]["target"]
            extra_rows[x]["place"] = add_row(counts.rows, counts.totals, num_states, label, target)
        row = np.int64(extra_rows[x]["place"])
    target = np.int64(edges[e]["target"])
    add_state(counts.states, counts.totals, target)
    place = add_successor(counts.pairs, counts.successors, pair, target, edges[e]["label"], row)
    edges[e]["place"] = place
    return place


@compiled(**INTERNAL)
def play(
    world: WorldArrays,
    counts: CountArrays,
    policy: Actions,
    rule: int,
    rng: Any,
    returns: Floats,
    first: Whole,
    last: Whole,
    recent: Ints,
    recent_rewards: Floats,
) -> tuple[Whole, bool]:
    """Play policy[H, O, M] (or [H, O, M, A], running sums of action probabilities), the episodes first … last − 1.

    It ends when a plan is due. returns[k] is filled for the episodes played; an episode that ends is over, and its
    remaining steps are worth what the exit is. recent[H, 6] holds (o, a, z, label, m, m') of the last episode (O + z
    for an end, after which o is −1) and recent_rewards[H] its rewards, unless they are empty. Returns the first episode
    not played, and whether a plan is due.
    """
    horizon, num_states = policy.shape[0], policy.shape[2]
    num_actions, starts = counts.pairs.shape[0] // policy.shape[1], world.starts
    indptr, edges, move_indptr, moves = world.indptr, world.edges, world.move_indptr, world.moves
    reward_indptr, rewards = world.reward_indptr, world.rewards
    uses_steps, keeps_recent = counts.steps.shape[0] > 0, recent.shape[0] > 0
    learns_machine = counts.machine.visits.shape[0] > 0
    due, episode = False, first
    while episode < last and not due:
        s, gain = FIRST, 0.0
        if starts.shape[0] > 1:
            s = draw(starts["sum"], s, starts.shape[0], rng.random())
        o, m = np.int64(starts[s]["o"]), np.int64(starts[s]["m"])
        add_state(counts.states, counts.totals, o)
        for h in range(horizon):
            if policy.ndim == 3:
                a = np.int64(policy[h, o, m])
            else:
                a = np.int64(draw(policy[h, o, m], 0, num_actions, rng.random()))
            pair = o * num_actions + a
            e = indptr[pair]
            if indptr[pair + 1] - e > 1:
                e = draw(edges["sum"], e, indptr[pair + 1], rng.random())
            z, label = np.int64(edges[e]["target"]), np.int64(edges[e]["label"])
            row = label * num_states + m
            j = move_indptr[row]
            if move_indptr[row + 1] - j > 1:
                j = draw(moves["sum"], j, move_indptr[row + 1], rng.random())
            m_next = np.int64(moves[j]["target"])
            r = reward_indptr[j]
            if reward_indptr[j + 1] - r > 1:
                r = draw(rewards["sum"], r, reward_indptr[j + 1], rng.random())
            reward = rewards[r]["value"]
            if rewards[r]["width"] > 0.0:
                reward += rewards[r]["width"] * rng.random()
            gain += reward
            place = np.int64(edges[e]["place"])
            if place < 0:
                place = np.int64(first_sight(edges, world.extra_rows, counts, pair, e))
            if uses_steps:
                counts.steps[h, o] += 1
            if count_visit(counts.pairs, counts.successors, counts.totals, pair, place, rule):
                due = True
            if learns_machine and count_move(counts.machine, row, m_next, num_states, reward):
                due = True
            if keeps_recent:
                recent[h, 0], recent[h, 1], recent[h, 2] = o, a, z
                recent[h, 3], recent[h, 4], recent[h, 5] = label, m, m_next
                recent_rewards[h] = reward
            if z >= policy.shape[1]:
                gain += world.exits[h + 1, END, m_next]
                if keeps_recent and h + 1 < horizon:
                    recent[h + 1, 0] = -1
                o = z
                break
            o, m = z, m_next
        if uses_steps and o < policy.shape[1]:
            counts.steps[horizon, o] += 1
        returns[episode] = gain
        episode += 1
        due = count_episode(counts.totals, rule) or due
    return episode, due


# The same for Python to call: compiled only where a learner plans in Python.
play_alone = compiled(**UNCOUNTED)(rebound(plain(play), "play_alone"))


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
    tables: Floats  # [2, O + NUM_EXITS + X, W], to work in


# What a run records of each plan, and how far it has got.
PLAN = np.dtype([("episode", "i8"), ("value", "f8"), ("optimistic", "f8")], align=True)
PROGRESS = np.dtype([("played", "i8"), ("plans", "i8"), ("is_due", "i8"), ("work", "i8")], align=True)


class LogArrays(NamedTuple):
    """What a run records."""

    plans: Records  # PLAN
    returns: Floats
    progress: Records  # [1], PROGRESS
    recent: Ints  # [H, 6], the last episode as in ``play``, for learners that learn from it; [0, 6] for others
    recent_rewards: Floats


@compiled(**UNCOUNTED)
def start_value(starts: Records, table: Floats) -> float:
    """Return the value at the start, from a table whose first rows hold V_0[o, m]."""
    total = 0.0
    for i in range(starts.shape[0]):
        total += starts[i]["prob"] * table[starts[i]["o"], starts[i]["m"]]
    return total


fill_table: Any = None  # replaced: ``praemia.kernels.exact.fill`` for the machine's width
step: Any = compiled(**INTERNAL)(assess)


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
        step(model, after, here, policy[h], values.states, FIRST, values.until[h])
    return start_value(starts, tables[0])


value_policy: Any = None  # replaced: ``policy_value`` for the machine's width


def plan_and_play(
    plan: Any,
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
    """Plan and play on from where ``log`` is.

    It ends when all episodes are played, after an amount of work (in sums), or when the log or the memory of action
    values is full. ``rng`` is the world's. Plans are valued unless values.states is empty.
    """
    progress, counts, memory = log.progress, data.counts, data.memory
    horizon, total, work = policy.shape[0], log.returns.shape[0], 0
    while progress[0]["played"] < total and work < most_work:
        number, slots = progress[0]["plans"], counts.totals[0]["slots"]
        if progress[0]["is_due"]:
            if number == log.plans.shape[0] or 0 < memory.action_values.shape[1] < slots:
                break
            note_plan(counts.pairs, counts.totals)
            plan(data, learner_rng, policy)
            log.plans[number]["episode"] = progress[0]["played"]
            log.plans[number]["optimistic"] = start_value(world.starts, memory.tables[0])
            if values.states.shape[0] > 0:
                log.plans[number]["value"] = value_policy(values, world.starts, policy)
            progress[0]["plans"], progress[0]["is_due"] = number + 1, 0
            work += horizon * policy.shape[2] * (policy.shape[1] + 4 * slots)
        first = progress[0]["played"]
        left = most_work - work if most_work > work else 0
        last = first + 1 + left // (8 * horizon)
        last = last if last < total else total
        played, due = play(world, counts, policy, rule, rng, log.returns, first, last, log.recent, log.recent_rewards)
        progress[0]["played"] = played
        work += (played - first) * 8 * horizon
        if due:
            progress[0]["is_due"] = 1
    progress[0]["work"] += work
