"""Play whole stretches of episodes, counting as they go, until a new plan is due; plan, and so on.

A choice among several alternatives takes the next number of the world's generator; a single alternative takes none.
``plan_and_play`` returns after an amount of work that the caller sets, so that the caller can serve Ctrl-C and show
progress.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from praemia.kernels.compiling import INTERNAL, POINTED_AT, UNCOUNTED, compiled, inlined
from praemia.kernels.counts import (
    STEP,
    add_row,
    add_state,
    add_successor,
    ask_for_plan,
    count_episode,
    count_move,
    count_visit,
    keep_step,
    note_visits,
)
from praemia.kernels.exact import ValueArrays, start_value
from praemia.kernels.pathwise import BestArrays, step_loss
from praemia.kernels.plan_data import PlanData
from praemia.kernels.records import (
    END,
    FIRST,
    NUM_EXITS,
    Actions,
    Bools,
    CountArrays,
    Floats,
    Ints,
    Records,
    Whole,
    pay,
)

# A task to be sampled from: ``sum`` is a running sum of probabilities within a row.
START = np.dtype([("sum", "f8"), ("prob", "f8"), ("o", "i4"), ("m", "i4")], align=True)
# An edge of p: where it leads (o', or O + o' where the episode ends there), its continuation row among all that there
# can be, and where it is counted once it has happened (−1 before).
EDGE = np.dtype([("sum", "f8"), ("target", "i4"), ("label", "i4"), ("row", "u4"), ("place", "i4")], align=True)
MOVE = np.dtype([("sum", "f8"), ("target", "i4")], align=True)
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
    exits: Floats  # [H + 1, NUM_EXITS, M], terminal values
    weights: Floats  # [H], what a reward counts at each step: γ^h
    is_done: Bools  # [M], whether an episode is over in a machine state
    best: BestArrays


@compiled(**INTERNAL)
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


@inlined
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
# with the plan yet (one that was repaired is not new), ``note_from`` after how many steps the next of too many plans is
# noted, ``epsilon`` how often an action is drawn at random. The rest is of an episode in the middle of which a plan is
# due: its next step, where it is, and what it got and lost so far.
PLAN = np.dtype([("episode", "i8"), ("value", "f8"), ("optimistic", "f8")], align=True)
_WHOLE = ("played", "steps", "budget", "plans", "is_due", "work", "at_once", "is_new", "note_from", "step", "o", "m")
PROGRESS = np.dtype(
    [(name, "i8") for name in _WHOLE] + [(name, "f8") for name in ("epsilon", "gain", "loss")], align=True
)
NOTED_SHARE = 50  # where every step changes the plan, it is noted whenever the steps have grown by this part


class LogArrays(NamedTuple):
    """What a run records."""

    plans: Records  # PLAN
    returns: Floats
    steps: Ints  # of each episode
    losses: Floats  # along the path of each episode, or [0]
    progress: Records  # [1], PROGRESS


draw_reward = inlined(pay)


@inlined
def move_machine(world: WorldArrays, row: Whole, rng: Any) -> tuple[Any, float]:
    """Draw where the machine goes from row label · M + m, and what it pays."""
    j = world.move_indptr[row]
    if world.move_indptr[row + 1] - j > 1:
        j = draw(world.moves["sum"], j, world.move_indptr[row + 1], rng.random())
    r = world.reward_indptr[j]
    if world.reward_indptr[j + 1] - r > 1:
        r = draw(world.rewards["sum"], r, world.reward_indptr[j + 1], rng.random())
    return np.int64(world.moves[j]["target"]), draw_reward(world.rewards[r], rng)


@inlined
def begin_episode(world: WorldArrays, counts: CountArrays, rng: Any) -> tuple[Any, Any]:
    """Draw where an episode begins; return the observation and the machine state."""
    starts, s = world.starts, FIRST
    if starts.shape[0] > 1:
        s = draw(starts["sum"], s, starts.shape[0], rng.random())
    start = starts[s]
    o = np.int64(start["o"])
    add_state(counts, o)
    return o, np.int64(start["m"])


@inlined
def count_edge(world: WorldArrays, counts: CountArrays, pair: Whole, e: Whole, replan: int) -> bool:
    """Count a transition along an edge; tell whether a plan has become due."""
    place = np.int64(world.edges[e]["place"])
    if place < 0:
        place = np.int64(first_sight(world, counts, pair, e))
    return count_visit(counts, pair, place, replan)


@inlined
def play_on(
    world: WorldArrays, counts: CountArrays, policy: Actions, replan: int, rng: Any, log: LogArrays
) -> tuple[int, bool, bool]:
    """Play an episode on from where ``log`` is; return its steps so far, and whether it is over and a plan is due."""
    horizon, num_machine_states, progress = policy.shape[0], policy.shape[2], log.progress[0]
    num_actions, indptr, edges = counts.pairs.shape[0] // policy.shape[1], world.indptr, world.edges
    uses_steps, keeps_recent, epsilon = counts.steps.shape[0] > 0, counts.recent.shape[0] > 0, progress["epsilon"]
    learn_machine, keeps_losses = counts.machine.visits.shape[0] > 0, log.losses.shape[0] > 0
    o, m, gain, loss = progress["o"], progress["m"], progress["gain"], progress["loss"]
    length, is_over, due = horizon, True, False
    for h in range(progress["step"], horizon):
        a = np.int64(policy[h, o, m]) if policy.ndim == 3 else draw_action(policy[h, o, m], rng.random())
        if epsilon > 0.0 and rng.random() < epsilon:
            a = np.int64(rng.random() * num_actions)
        pair = o * num_actions + a
        e = indptr[pair]
        if indptr[pair + 1] - e > 1:
            e = draw(edges["sum"], e, indptr[pair + 1], rng.random())
        z, label = np.int64(edges[e]["target"]), np.int64(edges[e]["label"])
        move = label * num_machine_states + m
        m_next, reward = move_machine(world, move, rng)
        gain += world.weights[h] * reward
        if keeps_losses:
            loss += world.weights[h] * step_loss(world, world.best, h, o, m, a)
        if uses_steps:
            counts.steps[h, o] += 1
        if count_edge(world, counts, pair, e, replan):
            due = True
        if learn_machine and count_move(counts.machine, move, m_next, num_machine_states, reward):
            due = True
        if keeps_recent:
            keep_step(counts, h, o, a, z, label, m, m_next, reward)
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
    world: WorldArrays, counts: CountArrays, policy: Actions, replan: int, rng: Any, log: LogArrays, last: Whole
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
        length, is_over, due = play_on(world, counts, policy, replan, rng, log)
        progress["step"] = 0 if is_over else length
        if is_over:
            if counts.steps.shape[0] > 0 and progress["o"] < policy.shape[1]:
                counts.steps[length, progress["o"]] += 1
            log.returns[episode], log.steps[episode] = progress["gain"], length
            if log.losses.shape[0] > 0:
                log.losses[episode] = progress["loss"]
            episode, num_steps = episode + 1, num_steps + length
            due = count_episode(counts, replan) or due
            if progress["is_new"]:
                break
    progress["played"], progress["steps"], progress["is_due"] = episode, num_steps, due


@inlined
def is_to_be_noted(progress: Any, replan: int) -> bool:
    """Tell whether an episode is about to start with a plan that the run has to record."""
    starts = progress["is_new"] > 0 and progress["step"] == 0
    return bool(starts and (replan != STEP or progress["steps"] >= progress["note_from"]))


@inlined
def count_noted(progress: Any) -> None:
    """Count a plan that has been recorded."""
    progress["note_from"] = progress["steps"] + progress["steps"] // NOTED_SHARE
    progress["plans"] += 1
    progress["is_new"] = 0


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
    replan: int,
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
            ask_for_plan(counts, replan, progress["step"])
            if replan != STEP and counts.totals[0]["is_repair"] == 0:
                note_visits(counts)
                work += horizon * policy.shape[2] * (policy.shape[1] + 4 * slots)
            plan(data, learner_rng, policy)
            work += 16 * policy.shape[2] * counts.totals[0]["computed"] * counts.totals[0]["is_repair"]
            progress["is_due"] = 0
            if counts.totals[0]["is_repair"] == 0:
                progress["is_new"] = 1
        if is_to_be_noted(progress, replan):
            if number == log.plans.shape[0]:
                break
            entry = log.plans[number]
            entry["episode"] = progress["played"]
            entry["optimistic"] = start_value(world.starts, memory.tables[0])
            if values.states.shape[0] > 0:
                entry["value"] = value_policy(values, world.starts, policy)
            count_noted(progress)
        first = progress["played"]
        left = most_work - work if most_work > work else 0
        last = first + 1 + left // (8 * horizon)
        last = last if last < total else np.int64(total)
        play(world, counts, policy, replan, rng, log, last)
        work += (progress["played"] - first) * 8 * horizon
    progress["work"] += work
