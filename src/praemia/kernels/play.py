"""Play whole stretches of episodes, counting as they go, until a new plan is due.

A choice among several alternatives takes the next number of the world's generator; a single alternative takes none.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from praemia.kernels.arrays import Actions, Floats, Ints, SmallInts, Unsigned, Whole
from praemia.kernels.compiling import INTERNAL, compiled, plain, rebound
from praemia.kernels.counts import CountArrays, add_row, add_successor, count_episode, count_move, count_visit, meet


class WorldArrays(NamedTuple):
    """A task to be sampled from: each probability array holds running sums within its row."""

    indptr: Ints
    successors: SmallInts
    sums: Floats
    labels: SmallInts
    mach_indptr: Ints
    mach_targets: SmallInts
    mach_sums: Floats
    reward_indptr: Ints
    reward_values: Floats
    reward_widths: Floats
    reward_sums: Floats
    start_observations: SmallInts
    start_sums: Floats
    sizes: Ints  # A, M, the initial machine state, O


class OutcomeArrays(NamedTuple):
    """All that can follow the pairs: their edges, or on the product each edge with each of ``width`` machine moves.

    A learner never sees these. They say where an outcome is counted once it has happened.
    """

    indptr: Ints  # [S·A + 1]
    successors: SmallInts
    labels: SmallInts
    rows: Unsigned  # the continuation row among all that there can be
    row_labels: SmallInts
    row_targets: SmallInts
    places: SmallInts  # where the outcome is counted, −1 before it happened
    row_places: SmallInts  # the row's place in the learner's tables, −1 before it is needed
    sizes: Ints  # S, and the number of machine moves per edge, 0 on observations


@compiled()
def draw(sums: Floats, first: int, last: int, uniform: float) -> int:
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
def first_sight(outcomes: OutcomeArrays, counts: CountArrays, pair: Whole, outcome: Whole) -> int:
    """Give an outcome that happened for the first time its place among the counts."""
    row = np.int64(outcomes.rows[outcome])
    num_states = outcomes.sizes[0]
    if row >= num_states:
        x = row - num_states
        if outcomes.row_places[x] < 0:
            outcomes.row_places[x] = add_row(counts, outcomes.row_labels[x], outcomes.row_targets[x])
        row = np.int64(outcomes.row_places[x])
    successor = outcomes.successors[outcome]
    meet(counts, successor)
    place = add_successor(counts, pair, successor, outcomes.labels[outcome], row)
    outcomes.places[outcome] = place
    return int(place)


@compiled(**INTERNAL)
def play(
    world: WorldArrays,
    outcomes: OutcomeArrays,
    counts: CountArrays,
    policy: Actions,
    rule: int,
    rng: Any,
    returns: Floats,
    recent: Ints,
    recent_rewards: Floats,
) -> tuple[int, bool]:
    """Play policy[H, O, M] (or [H, O, M, A], running sums of action probabilities), at most len(returns) episodes.

    returns[k] is filled for the episodes played. recent[H, 6] holds (o, a, z, label, m, m') of the last episode and
    recent_rewards[H] its rewards, unless they are empty. Returns the number of episodes played, and whether a plan is
    due.
    """
    horizon = policy.shape[0]
    num_actions, num_states, initial = world.sizes[0], world.sizes[1], world.sizes[2]
    width = outcomes.sizes[1]
    uses_steps, keeps_recent = counts.steps.shape[0] > 0, recent.shape[0] > 0
    learns_machine = counts.machine.visits.shape[0] > 0
    due, episode = False, 0
    while episode < returns.shape[0] and not due:
        o, m, gain = np.int64(world.start_observations[0]), initial, 0.0
        if world.start_observations.shape[0] > 1:
            o = np.int64(world.start_observations[draw(world.start_sums, 0, world.start_sums.shape[0], rng.random())])
        meet(counts, o if width == 0 else o * num_states + m)
        for h in range(horizon):
            if policy.ndim == 3:
                a = np.int64(policy[h, o, m])
            else:
                a = np.int64(draw(policy[h, o, m], 0, num_actions, rng.random()))
            row = o * num_actions + a
            e = world.indptr[row]
            if world.indptr[row + 1] - e > 1:
                e = draw(world.sums, e, world.indptr[row + 1], rng.random())
            z, label = np.int64(world.successors[e]), np.int64(world.labels[e])
            rule_row = label * num_states + m
            j = world.mach_indptr[rule_row]
            if world.mach_indptr[rule_row + 1] - j > 1:
                j = draw(world.mach_sums, j, world.mach_indptr[rule_row + 1], rng.random())
            r = world.reward_indptr[j]
            if world.reward_indptr[j + 1] - r > 1:
                r = draw(world.reward_sums, r, world.reward_indptr[j + 1], rng.random())
            reward = world.reward_values[r]
            if world.reward_widths[r] > 0.0:
                reward += world.reward_widths[r] * rng.random()
            gain += reward
            state, pair, outcome = o, row, e
            if width > 0:
                state = o * num_states + m
                pair = state * num_actions + a
                outcome = outcomes.indptr[pair] + (e - world.indptr[row]) * width + j - world.mach_indptr[rule_row]
            place = np.int64(outcomes.places[outcome])
            if place < 0:
                place = np.int64(first_sight(outcomes, counts, pair, outcome))
            if uses_steps:
                counts.steps[h, state] += 1
            if count_visit(counts, pair, place, rule):
                due = True
            if learns_machine and count_move(counts.machine, rule_row, world.mach_targets[j], num_states, reward):
                due = True
            if keeps_recent:
                recent[h, 0], recent[h, 1], recent[h, 2] = o, a, z
                recent[h, 3], recent[h, 4], recent[h, 5] = label, m, world.mach_targets[j]
                recent_rewards[h] = reward
            o, m = z, np.int64(world.mach_targets[j])
        if uses_steps:
            counts.steps[horizon, o if width == 0 else o * num_states + m] += 1
        returns[episode] = gain
        episode += 1
        due = count_episode(counts, rule) or due
    return episode, due


# The same for Python to call: compiled only where a learner plans in Python.
play_alone = compiled()(rebound(plain(play), "play_alone"))
