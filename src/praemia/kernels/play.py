"""Play whole stretches of episodes, counting as they go, until a new plan is due; plan, and so on.

A choice among several alternatives takes the next number of the world's generator; a single alternative takes none.
``plan_and_play`` returns after an amount of work that the caller sets, so that the caller can serve Ctrl-C and show
progress.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from praemia.kernels.compiling import INLINED, INTERNAL, POINTED_AT, UNCOUNTED, compiled
from praemia.kernels.counts import (
    add_row,
    add_state,
    add_successor,
    count_episode,
    count_move,
    count_visit,
    note_plan,
)
from praemia.kernels.pathwise import BestArrays, step_loss
from praemia.kernels.policy_value import ValueArrays, start_value
from praemia.kernels.records import (
    END,
    NUM_EXITS,
    Actions,
    Bools,
    CountArrays,
    Floats,
    Ints,
    Records,
    Whole,
)
from praemia.kernels.recursion import FIRST, PlanData

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
    best: BestArrays


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


# What a run records of each plan that an episode starts with; and how far it has got. No episode begins after
# ``budget`` steps; ``at_once`` says whether plans change within episodes, ``is_new`` whether no episode has started
# with the plan yet. The rest is of an episode in the middle of which a plan is due: its next step, where it is, and
# what it got and lost so far.
PLAN = np.dtype([("episode", "i8"), ("value", "f8"), ("optimistic", "f8")], align=True)
PROGRESS = np.dtype(
    [(name, "i8") for name in ("played", "steps", "budget", "plans", "is_due", "work", "at_once", "is_new")]
    + [("step", "i8"), ("o", "i8"), ("m", "i8"), ("gain", "f8"), ("loss", "f8")],
    align=True,
)


class LogArrays(NamedTuple):
    """What a run records.

    The last episode is kept for learners that learn from it: (o, a, z, label, m, m') of each step, with O + z for an
    end. After the last step o is −1.
    """

    plans: Records  # PLAN
    returns: Floats
    steps: Ints  # of each episode
    losses: Floats  # along the path of each episode, or [0]
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


@compiled(**INLINED)
def begin_episode(world: WorldArrays, counts: CountArrays, rng: Any) -> tuple[Any, Any]:
    """Draw where an episode begins; return the observation and the machine state."""
    starts, s = world.starts, FIRST
    if starts.shape[0] > 1:
        s = draw(starts["sum"], s, starts.shape[0], rng.random())
    start = starts[s]
    o = np.int64(start["o"])
    add_state(counts, o)
    return o, np.int64(start["m"])


@compiled(**INLINED)
def count_edge(world: WorldArrays, counts: CountArrays, pair: Whole, e: Whole, rule: int) -> bool:
    """Count a transition along an edge; tell whether a plan has become due."""
    place = np.int64(world.edges[e]["place"])
    if place < 0:
        place = np.int64(first_sight(world, counts, pair, e))
    return count_visit(counts, pair, place, rule)


@compiled(**INLINED)
def keep_step(log: LogArrays, h: int, o: Whole, a: Whole, z: Whole, label: Whole, m: Whole, m_next: Whole) -> None:
    """Keep a step for learners that learn from it."""
    recent = log.recent
    recent[h, 0], recent[h, 1], recent[h, 2], recent[h, 3], recent[h, 4], recent[h, 5] = o, a, z, label, m, m_next
    if h + 1 < recent.shape[0]:
        recent[h + 1, 0] = -1


@compiled(**INLINED)
def play_on(
    world: WorldArrays, counts: CountArrays, policy: Actions, rule: int, rng: Any, log: LogArrays
) -> tuple[int, bool, bool]:
    """Play an episode on from where ``log`` is; return its steps so far, and whether it is over and a plan is due."""
    horizon, num_states, progress = policy.shape[0], policy.shape[2], log.progress[0]
    num_actions, indptr, edges = counts.pairs.shape[0] // policy.shape[1], world.indptr, world.edges
    uses_steps, keeps_recent = counts.steps.shape[0] > 0, log.recent.shape[0] > 0
    learns_machine, keeps_losses = counts.machine.visits.shape[0] > 0, log.losses.shape[0] > 0
    o, m, gain, loss = progress["o"], progress["m"], progress["gain"], progress["loss"]
    length, is_over, due = horizon, True, False
    for h in range(progress["step"], horizon):
        a = np.int64(policy[h, o, m]) if policy.ndim == 3 else draw_action(policy[h, o, m], rng.random())
        pair = o * num_actions + a
        e = indptr[pair]
        if indptr[pair + 1] - e > 1:
            e = draw(edges["sum"], e, indptr[pair + 1], rng.random())
        z, label = np.int64(edges[e]["target"]), np.int64(edges[e]["label"])
        m_next, reward = move_machine(world, label * num_states + m, rng)
        gain += world.weights[h] * reward
        if keeps_losses:
            loss += world.weights[h] * step_loss(world, world.best, h, o, m, a)
        if uses_steps:
            counts.steps[h, o] += 1
        if count_edge(world, counts, pair, e, rule):
            due = True
        if learns_machine and count_move(counts.machine, label * num_states + m, m_next, num_states, reward):
            due = True
        if keeps_recent:
            keep_step(log, h, o, a, z, label, m, m_next)
            log.recent_rewards[h] = reward
        o, m = z, m_next
        if z >= policy.shape[1] or world.is_done[m]:
            gain += world.weights[h] * world.exits[h + 1, END, m]
            length = h + 1
            break
        if due and progress["at_once"] and h + 1 < horizon:
            length, is_over = h + 1, False
            break
    progress["o"], progress["m"], progress["gain"], progress["loss"] = o, m, gain, loss
    return length, is_over, due


@compiled(**POINTED_AT)
def play(
    world: WorldArrays, counts: CountArrays, policy: Actions, rule: int, rng: Any, log: LogArrays, last: Whole
) -> None:
    """Play policy[H, O, M] (or [H, O, M, A], action probabilities) on from where ``log`` is.

    It stops when a plan is due, ``last`` episodes are played in all, or the budget of steps is spent; with ``at_once``
    also within an episode, and after the first one in which a plan changed. An episode that ends, or whose machine is
    done, is over, and its remaining steps are worth what the exit is.
    """
    due, progress = False, log.progress[0]
    episode, num_steps = progress["played"], progress["steps"]
    while episode < last and num_steps < progress["budget"] and not due:
        if progress["step"] == 0:
            progress["o"], progress["m"] = begin_episode(world, counts, rng)
            progress["gain"], progress["loss"] = 0.0, 0.0
        length, is_over, due = play_on(world, counts, policy, rule, rng, log)
        progress["step"] = 0 if is_over else length
        if is_over:
            if counts.steps.shape[0] > 0 and progress["o"] < policy.shape[1]:
                counts.steps[length, progress["o"]] += 1
            log.returns[episode], log.steps[episode] = progress["gain"], length
            if log.losses.shape[0] > 0:
                log.losses[episode] = progress["loss"]
            episode, num_steps = episode + 1, num_steps + length
            due = count_episode(counts, rule) or due
            if progress["is_new"]:
                break
    progress["played"], progress["steps"], progress["is_due"] = episode, num_steps, due


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
            progress["is_due"], progress["is_new"] = 0, 1
            work += horizon * policy.shape[2] * (policy.shape[1] + 4 * slots)
        if progress["is_new"] and progress["step"] == 0:
            if number == log.plans.shape[0]:
                break
            entry = log.plans[number]
            entry["episode"] = progress["played"]
            entry["optimistic"] = start_value(world.starts, memory.tables[0])
            if values.states.shape[0] > 0:
                entry["value"] = value_policy(values, world.starts, policy)
            progress["plans"], progress["is_new"] = number + 1, 0
        first = progress["played"]
        left = most_work - work if most_work > work else 0
        last = first + 1 + left // (8 * horizon)
        last = last if last < total else np.int64(total)
        play(world, counts, policy, rule, rng, log, last)
        work += (progress["played"] - first) * 8 * horizon
    progress["work"] += work
