"""Play whole stretches of episodes, counting as they go, until a new plan is due.

Randomness comes from ``uniforms``, numbers that the caller drew from a NumPy Generator; a choice among several
alternatives takes the next one, a sure thing takes none. A stretch ends with the episode in which a plan became
due, or when the numbers could run out within the next episode.

Counts are kept for the states that the learner distinguishes: observations, or product states o · M + m.
A pair that is visited for the first time gets the next free slot, and so does its state: what a learner is
shown grows with what was seen.
"""

from __future__ import annotations

from typing import NamedTuple

from praemia.kernels.arrays import Actions, Floats, Ints, SmallInts
from praemia.kernels.compiling import compiled

DOUBLING, EPOCH, EPISODE = 0, 1, 2  # when a plan is due


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
    reward_sums: Floats
    start_observations: SmallInts
    start_sums: Floats
    sizes: Ints  # A, M, the initial machine state


class TallyArrays(NamedTuple):
    """What has been counted. S is O or O · M, the states that the learner distinguishes.

    The entries of a pair are what can follow it: its edges, or on the product each edge with each of ``width``
    outcomes of the machine.
    """

    entry_indptr: Ints  # [S·A + 1]
    width: int  # 0 on observations

    visits: Ints  # [S·A]
    visits_at_plan: Ints  # [S·A]
    entries: Ints  # [E], how often each entry was seen
    steps: SmallInts  # [H + 1, S], or [0, S] when the learner does not use them
    slots: SmallInts  # [S·A], −1 for a pair never visited
    pairs: Ints  # [S·A], the pair of each slot
    active: SmallInts  # [S], the states with a visited pair, in the order of their first visit
    is_active: SmallInts  # [S]
    sizes: Ints  # how many slots are taken, how many states are active


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


@compiled()
def count_visit(tally: TallyArrays, state: int, pair: int, entry: int, rule: int) -> bool:
    """Count a transition; tell whether a plan has become due."""
    tally.entries[entry] += 1
    visits = tally.visits[pair] + 1
    tally.visits[pair] = visits
    if visits == 1:
        slot = tally.sizes[0]
        tally.slots[pair] = slot
        tally.pairs[slot] = pair
        tally.sizes[0] = slot + 1
        if tally.is_active[state] == 0:
            tally.is_active[state] = 1
            tally.active[tally.sizes[1]] = state
            tally.sizes[1] += 1
    if rule == DOUBLING:
        return bool(visits & (visits - 1) == 0)
    before = tally.visits_at_plan[pair]
    return bool(visits - before >= max(1, before))


@compiled()
def play(
    world: WorldArrays,
    tally: TallyArrays,
    policy: Actions,
    rule: int,
    uniforms: Floats,
    cursor: int,
    returns: Floats,
    recent: Ints,
    recent_rewards: Floats,
) -> tuple[int, int, bool]:
    """Play policy[H, O, M] (or [H, O, M, A], running sums of action probabilities).

    returns[k] is filled for the episodes played. recent[H, 6] holds (o, a, z, label, m, m') of the last episode and
    recent_rewards[H] its rewards, unless they are empty. Returns the number of episodes played, the place reached
    in ``uniforms``, and whether a plan is due.
    """
    horizon = policy.shape[0]
    num_actions, num_states, initial = world.sizes[0], world.sizes[1], world.sizes[2]
    width = tally.width
    due = False
    episode = 0
    while episode < returns.shape[0] and not due and cursor + 1 + 4 * horizon <= uniforms.shape[0]:
        o, m, gain = world.start_observations[0], initial, 0.0
        if world.start_observations.shape[0] > 1:
            o = world.start_observations[draw(world.start_sums, 0, world.start_sums.shape[0], uniforms[cursor])]
            cursor += 1
        for h in range(horizon):
            if policy.ndim == 3:
                a = policy[h, o, m]
            else:
                a = draw(policy[h, o, m], 0, num_actions, uniforms[cursor])
                cursor += 1
            row = o * num_actions + a
            e = world.indptr[row]
            if world.indptr[row + 1] - e > 1:
                e = draw(world.sums, e, world.indptr[row + 1], uniforms[cursor])
                cursor += 1
            z, label = world.successors[e], world.labels[e]
            rule_row = label * num_states + m
            j = world.mach_indptr[rule_row]
            if world.mach_indptr[rule_row + 1] - j > 1:
                j = draw(world.mach_sums, j, world.mach_indptr[rule_row + 1], uniforms[cursor])
                cursor += 1
            r = world.reward_indptr[j]
            if world.reward_indptr[j + 1] - r > 1:
                r = draw(world.reward_sums, r, world.reward_indptr[j + 1], uniforms[cursor])
                cursor += 1
            gain += world.reward_values[r]
            if width == 0:
                state, pair, entry = o, row, e
            else:
                state = o * num_states + m
                pair = state * num_actions + a
                outcome = j - world.mach_indptr[rule_row]
                entry = tally.entry_indptr[pair] + (e - world.indptr[row]) * width + outcome
            if tally.steps.shape[0] > 0:
                tally.steps[h, state] += 1
            if count_visit(tally, state, pair, entry, rule):
                due = True
            if recent.shape[0] > 0:
                recent[h, 0], recent[h, 1], recent[h, 2] = o, a, z
                recent[h, 3], recent[h, 4], recent[h, 5] = label, m, world.mach_targets[j]
                recent_rewards[h] = world.reward_values[r]
            o, m = z, world.mach_targets[j]
        if tally.steps.shape[0] > 0:
            tally.steps[horizon, o if width == 0 else o * num_states + m] += 1
        returns[episode] = gain
        episode += 1
        due = due or rule == EPISODE
    return episode, cursor, due
