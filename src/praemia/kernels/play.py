"""Play whole stretches of episodes, counting as they go, until a new plan is due.

A choice among several alternatives takes the next of the world's random numbers; a single alternative takes none. They
are generated beforehand, in order (``Chance``): to hand NumPy's generator to a kernel takes longer than to use it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from praemia.kernels import counts as counting
from praemia.kernels.bundles import Bundle
from praemia.kernels.compiling import compiled, inlined, part
from praemia.kernels.counts import IS_REPAIR, ROWS, STEP, TRANSITIONS, Counts
from praemia.kernels.exact import ValueArrays, policy_value, start_value
from praemia.kernels.records import END, NUM_EXITS, Actions, Bools, Floats, Ints, Records, Whole

# A task to be sampled from: ``sum`` is a running sum of probabilities within a row.
START = np.dtype([("sum", "f8"), ("prob", "f8"), ("o", "i4"), ("m", "i4")], align=True)
# An edge of p: where it leads (o', or O + o' where the episode ends there), its continuation row among all that there
# can be, and the place where it is counted once it has happened (−1 before).
EDGE = np.dtype([("sum", "f8"), ("target", "i4"), ("label", "i4"), ("row", "u4"), ("place", "i4")], align=True)
MOVE = np.dtype([("sum", "f8"), ("target", "i4")], align=True)
# An extra continuation row, and its place in the learner's tables (−1 before it is needed).
ROW_PLACE = np.dtype([("label", "i4"), ("target", "i4"), ("place", "i4")], align=True)
DRAWS = 7  # random numbers that a step takes at most


class Chance(Bundle):
    """Random numbers from 0 to 1 to be used in order, and how many are used."""

    numbers: Floats
    used: Ints  # [1]


class BestArrays(Bundle):
    """The optimum, and the probabilities and mean rewards of the edges and moves of a world; empty if not needed."""

    values: Floats  # [H + 1, O, M], V*
    discount: Floats  # [1], γ
    probs: Floats  # of the edges
    move_probs: Floats
    move_rewards: Floats
    known: Floats  # [H·O·M·A], the losses found so far, −1 where there is none yet; empty where they would be too many


class WorldArrays(Bundle):
    """A task to be sampled from. A learner never sees these."""

    starts: Records  # START
    indptr: Ints  # [O·A + 1]
    edges: Records  # EDGE
    extra_rows: Records  # ROW_PLACE
    move_indptr: Ints  # [L·M + 1]
    moves: Records  # MOVE
    reward_indptr: Ints
    rewards: Records  # REWARD
    exits: Floats  # [H + 1, NUM_EXITS, M], terminal values
    weights: Floats  # [H], the weight of a reward at each step: γ^h
    is_done: Bools  # [M], whether an episode is over in a machine state
    best: BestArrays


# What a run records of each plan that an episode starts with; and how far it has got. No episode begins after
# ``budget`` steps; ``at_once`` tells whether plans change within episodes, ``is_new`` whether no episode has started
# with the plan yet (one that was repaired is not new), ``note_from`` after how many steps the next of too many plans is
# noted, ``epsilon`` how often an action is random. The rest is of an episode in the middle of which a plan is due: its
# next step, where it is, and its return and loss so far.
PLAN = np.dtype([("episode", "i8"), ("value", "f8"), ("optimistic", "f8")], align=True)
_INTEGERS = ("played", "steps", "budget", "plans", "is_due", "at_once", "is_new", "note_from", "step", "o", "m")
PROGRESS = np.dtype(
    [(name, "i8") for name in _INTEGERS] + [(name, "f8") for name in ("epsilon", "gain", "loss")], align=True
)
NOTED_SHARE = 50  # where every step changes the plan, it is noted whenever the steps have grown by this part


class LogArrays(Bundle):
    """What a run records."""

    plans: Records  # PLAN
    returns: Floats
    steps: Ints  # of each episode
    losses: Floats  # along the path of each episode, or [0]
    progress: Records  # [1], PROGRESS


@inlined
def next_number(chance: Chance) -> float:
    """Use the next random number."""
    chance.used[0] += 1
    return float(chance.numbers[chance.used[0] - 1])


@inlined
def sample(sums: Floats, first: Whole, last: Whole, chance: Chance) -> Whole:
    """Return a place in [first, last), sampled by running sums of probabilities."""
    if last - first <= 1:
        return first
    number = next_number(chance)
    while last - first > 8:
        middle = (first + last) // 2
        if number < sums[middle - 1]:
            last = middle
        else:
            first = middle
    while first < last - 1 and number >= sums[first]:
        first += 1
    return first


@inlined
def sample_action(probs: Floats, number: float) -> Whole:
    """Return the first action up to which the probabilities exceed a number."""
    a, total = np.int64(0), probs[0]
    while a < probs.shape[0] - 1 and number >= total:
        a += 1
        total += probs[a]
    return a


@inlined
def choose(policy: Actions, h: Whole, o: Whole, m: Whole, num_actions: int, epsilon: float, chance: Chance) -> Whole:
    """Return the action of a policy, or a random one with probability ε."""
    a = np.int64(policy[h, o, m]) if policy.ndim == 3 else sample_action(policy[h, o, m], next_number(chance))
    if epsilon > 0.0:
        is_random, number = next_number(chance) < epsilon, next_number(chance)
        if is_random:
            a = np.int64(number * num_actions)
    return a


@inlined
def move(world: WorldArrays, label: Whole, m: Whole, chance: Chance) -> tuple[Any, Any]:
    """Sample the machine's move under a label; return its next state and the reward."""
    row = label * world.is_done.shape[0] + m
    j = sample(world.moves["sum"], world.move_indptr[row], world.move_indptr[row + 1], chance)
    piece = world.rewards[sample(world.rewards["sum"], world.reward_indptr[j], world.reward_indptr[j + 1], chance)]
    reward = piece["value"]
    if piece["width"] > 0.0:
        reward = reward + piece["width"] * next_number(chance)
    return np.int64(world.moves[j]["target"]), reward


@part
def first_sight(world: WorldArrays, counts: Counts, pair: Whole, e: Whole) -> Whole:
    """Give an edge that happened for the first time its place among the counts."""
    edge, first_extra = world.edges[e], counts.is_met.shape[0] + NUM_EXITS
    row = np.int64(edge["row"])
    if row >= first_extra:
        extra = world.extra_rows[row - first_extra]
        if extra["place"] < 0:
            extra["place"] = counting.add_row(counts, extra["label"], extra["target"])
        row = np.int64(extra["place"])
    place = counting.add_transition(counts, pair, edge["target"], edge["label"], row)
    edge["place"] = place
    return place


@part
def find_loss(world: WorldArrays, h: int, o: Whole, m: Whole, a: Whole) -> float:
    """Return V*_h(o, m) − Q*_h(o, m, a), what the action at a step loses; rounding errors below 0 count as 0.

    By the performance difference lemma the mean of Σ_h γ^h · loss_h over the steps of an episode is V* minus the value
    of whatever chose the actions, even if it changed within the episode.
    """
    best = world.best
    num_observations, num_machine_states = best.values.shape[1], best.values.shape[2]
    num_actions = (world.indptr.shape[0] - 1) // num_observations
    at = ((h * num_observations + o) * num_machine_states + m) * num_actions + a
    if best.known.shape[0] > 0 and best.known[at] >= 0.0:
        return float(best.known[at])
    pair, value = o * num_actions + a, 0.0
    for e in range(world.indptr[pair], world.indptr[pair + 1]):
        z, row = world.edges[e]["target"], world.edges[e]["label"] * num_machine_states + m
        for j in range(world.move_indptr[row], world.move_indptr[row + 1]):
            m_next = world.moves[j]["target"]
            if z < num_observations:
                later = best.discount[0] * best.values[h + 1, z, m_next]
            else:
                later = world.exits[h + 1, END, m_next]
            value += best.probs[e] * best.move_probs[j] * (best.move_rewards[j] + later)
    loss = max(0.0, best.values[h, o, m] - value)
    if best.known.shape[0] > 0:
        best.known[at] = loss
    return float(loss)


@inlined
def can_play(counts: Counts, chance: Chance, horizon: int) -> bool:
    """Return whether there is room for what another episode may bring, and chance enough."""
    transitions, rows = counts.transitions.shape[0] - horizon, counts.rows.shape[0] - horizon
    has_room = counts.totals[TRANSITIONS] <= transitions and counts.totals[ROWS] <= rows
    return bool(has_room and chance.used[0] + DRAWS * horizon < chance.numbers.shape[0])


@part
def play_episode(
    world: WorldArrays, counts: Counts, policy: Actions, replan: int, chance: Chance, log: LogArrays
) -> tuple[Any, bool, bool]:
    """Play an episode on from where ``log`` is; return its steps so far, and whether it is over and a plan is due."""
    progress, horizon, size = log.progress[0], policy.shape[0], policy.shape[1]
    num_actions, epsilon = counts.visits.shape[0] // size, progress["epsilon"]
    o, m, gain, loss = progress["o"], progress["m"], progress["gain"], progress["loss"]
    length, is_over, due = horizon, True, False
    for h in range(progress["step"], horizon):
        a = choose(policy, h, o, m, num_actions, epsilon, chance)
        pair = o * num_actions + a
        e = sample(world.edges["sum"], world.indptr[pair], world.indptr[pair + 1], chance)
        edge = world.edges[e]
        z, label, place = np.int64(edge["target"]), np.int64(edge["label"]), np.int64(edge["place"])
        m_next, reward = move(world, label, m, chance)
        gain += world.weights[h] * reward
        if log.losses.shape[0] > 0:
            loss += world.weights[h] * find_loss(world, h, o, m, a)
        if place < 0:
            place = np.int64(first_sight(world, counts, pair, e))
        due = counting.count_step(counts, h, (o, a, z, label, m, m_next), place, pair, reward, replan) or due
        o, m = z, m_next
        if z >= size or world.is_done[m]:
            gain += world.weights[h] * world.exits[h + 1, END, m]
            length = h + 1
            break
        if due and progress["at_once"] and h + 1 < horizon:
            length, is_over = h + 1, False
            break
    progress["o"], progress["m"], progress["gain"], progress["loss"] = o, m, gain, loss
    return length, is_over, due


@part
def play_episodes(
    world: WorldArrays, counts: Counts, policy: Actions, replan: int, chance: Chance, log: LogArrays, last: Whole
) -> None:
    """Play policy[H, O, M] (or [H, O, M, A], action probabilities) on from where ``log`` is.

    It stops when a plan is due, ``last`` episodes are played in all, the budget of steps is spent, or there is no room
    for another episode; with ``at_once`` also within an episode, and after the first one in which a plan changed. An
    episode that ends, or whose machine is done, has the value of the exit for its remaining steps.
    """
    due, progress, horizon = False, log.progress[0], policy.shape[0]
    episode, num_steps, starts, step_visits = progress["played"], progress["steps"], world.starts, counts.step_visits
    while episode < last and num_steps < progress["budget"] and not due:
        if not can_play(counts, chance, horizon):
            break
        if progress["step"] == 0:
            start = starts[sample(starts["sum"], np.int64(0), np.int64(starts.shape[0]), chance)]
            progress["o"], progress["m"], progress["gain"], progress["loss"] = start["o"], start["m"], 0.0, 0.0
            counts.is_met[start["o"]] = True
            counts.starts[start["o"]] += 1
        length, is_over, due = play_episode(world, counts, policy, replan, chance, log)
        progress["step"] = 0 if is_over else length
        if is_over:
            if step_visits.shape[0] > 0 and progress["o"] < policy.shape[1]:
                step_visits[length, progress["o"]] += 1
            log.returns[episode], log.steps[episode] = progress["gain"], length
            if log.losses.shape[0] > 0:
                log.losses[episode] = progress["loss"]
            episode, num_steps = episode + 1, num_steps + length
            due = counting.count_episode(counts.totals, replan) or due
            if progress["is_new"]:
                break
    progress["played"], progress["steps"], progress["is_due"] = episode, num_steps, due


@part
def note_plan(log: LogArrays, replan: int) -> bool:
    """Record the plan that an episode is about to start with, if it is new; tell whether it was recorded."""
    progress = log.progress[0]
    too_soon = replan == STEP and progress["steps"] < progress["note_from"]
    if progress["is_new"] == 0 or progress["step"] > 0 or too_soon:
        return False
    log.plans[progress["plans"]]["episode"] = progress["played"]
    progress["note_from"] = progress["steps"] + progress["steps"] // NOTED_SHARE
    progress["plans"], progress["is_new"] = progress["plans"] + 1, 0
    return True


@part
def value_plan(world: WorldArrays, values: ValueArrays, policy: Actions, log: LogArrays) -> None:
    """Record the exact value of the last plan recorded, unless values.states is empty."""
    if values.states.shape[0] > 0:
        log.plans[log.progress[0]["plans"] - 1]["value"] = policy_value(values, world.starts, policy)


@compiled
def value_and_play(
    world: WorldArrays,
    counts: Counts,
    values: ValueArrays,
    policy: Actions,
    replan: int,
    chance: Chance,
    log: LogArrays,
    last: int,
) -> bool:
    """Record the exact value of a plan that is new, unless values.states is empty, and play; tell if a plan is due."""
    if note_plan(log, replan):
        value_plan(world, values, policy, log)
    play_episodes(world, counts, policy, replan, chance, log, last)
    return bool(log.progress[0]["is_due"])


@cache
def plan_and_play(plan: Any) -> Any:
    """Return the compiled loop for a learner that plans within episodes: its kernel is compiled into it.

    ``plan(data, counts, stream, policy)`` is a function that ``part`` has decorated. It changes policy[H, O, M] in
    place, leaves V_0 in data.values[O, W], and returns how much work it did.
    """

    @compiled
    def loop(
        world: WorldArrays,
        counts: Counts,
        values: ValueArrays,
        data: Any,
        stream: Ints,
        policy: Actions,
        replan: int,
        chance: Chance,
        log: LogArrays,
        last: int,
        most_work: int,
    ) -> int:
        """Plan and play on from where ``log`` is, up to an amount of work, or until there is no room; return it."""
        progress, horizon, work = log.progress[0], policy.shape[0], 0
        while progress["played"] < last and progress["steps"] < progress["budget"] and work < most_work:
            if not can_play(counts, chance, horizon) or progress["plans"] == log.plans.shape[0]:
                break
            if progress["is_due"]:
                counting.begin_plan(counts, replan, progress["step"])
                work += plan(data, counts, stream, policy)
                progress["is_due"] = 0
                if counts.totals[IS_REPAIR] == 0:
                    progress["is_new"] = 1
            if note_plan(log, replan):
                own_value = start_value(world.starts, data.values.reshape(-1), data.values.shape[1])
                log.plans[progress["plans"] - 1]["optimistic"] = own_value
                value_plan(world, values, policy, log)
                work += horizon * values.states.shape[0]
            first = progress["played"]
            until = min(last, first + 1 + (most_work - work) // (8 * horizon))
            play_episodes(world, counts, policy, replan, chance, log, until)
            work += (progress["played"] - first) * 8 * horizon
        return work

    return loop
