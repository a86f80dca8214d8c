"""What a learner has counted, updated as transitions happen, so that a plan can read it as it is.

States are what the learner distinguishes: observations, or product states o · M + m; a pair is state · A + action. The
successors of a pair are (state, label), stored side by side in the order in which they were first seen. Only what was
seen is stored.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from praemia.kernels.arrays import Floats, Ints, SmallInts, Unsigned, Whole
from praemia.kernels.compiling import INTERNAL, compiled

DOUBLING, EPOCH, EPISODE, GROWTH = 0, 1, 2, 3  # when a plan is due
GROWN = 20  # by the rule GROWTH a plan is due after a GROWN-th of the episodes before the last one, if not sooner
NUM_MET, NUM_SLOTS, NUM_ROWS, NUM_EPISODES, AT_PLAN, NUM_SIZES = 0, 1, 2, 3, 4, 5  # places in ``CountArrays.sizes``


class MachineCounts(NamedTuple):
    """What was seen of a machine that has to be learned, row by row: row label · M + m. Empty where it is known."""

    visits: Floats  # [L·M]
    moves: Floats  # [L·M·M], flat: how often each machine state came next
    rewards: Floats  # [L·M], the sum of the rewards


def nothing_to_learn() -> MachineCounts:
    """Return the counts of a machine that is known."""
    return MachineCounts(np.zeros(0), np.zeros(0), np.zeros(0))


class CountArrays(NamedTuple):
    """The counts of S states. Pair i has the successors first[i] … first[i] + distinct[i] − 1 of the E arrays.

    ``rows`` is each successor's continuation row: its state's own, or S + x for (row_labels[x], row_targets[x]).
    """

    visits: Ints  # [S·A]
    visits_at_plan: Ints  # [S·A]
    first: Ints  # [S·A]
    distinct: SmallInts  # [S·A]
    slots: SmallInts  # [S·A], the pairs numbered in the order of their first visits; −1 for one never visited
    counts: Floats  # [E]
    rows: Unsigned  # [E]
    successors: SmallInts  # [E]
    labels: SmallInts  # [E]
    steps: SmallInts  # [H + 1, S], visits to each state at each step; [0, S] when the learner does not use them
    met: SmallInts  # [S], the states that were met, in the order of their first visits
    is_met: SmallInts  # [S]
    row_labels: SmallInts  # [X]
    row_targets: SmallInts  # [X]
    sizes: Ints  # [NUM_SIZES], how many states are met, pairs visited, extra rows numbered, episodes played, and when
    # the last plan was made
    machine: MachineCounts


@compiled(forceinline=True, **INTERNAL)
def meet(counts: CountArrays, state: Whole) -> None:
    """Note that a state exists."""
    if counts.is_met[state] == 0:
        counts.is_met[state] = 1
        counts.met[counts.sizes[NUM_MET]] = state
        counts.sizes[NUM_MET] += 1


@compiled(forceinline=True, **INTERNAL)
def count_visit(counts: CountArrays, pair: Whole, place: Whole, rule: int) -> bool:
    """Count a transition whose successor is at ``place``; tell whether a plan has become due."""
    counts.counts[place] += 1.0
    visits = counts.visits[pair] + 1
    counts.visits[pair] = visits
    if visits == 1:
        counts.slots[pair] = counts.sizes[NUM_SLOTS]
        counts.sizes[NUM_SLOTS] += 1
    if rule == DOUBLING:
        return bool(visits & (visits - 1) == 0)
    before = counts.visits_at_plan[pair]
    return bool(visits - before >= max(1, before))


@compiled(forceinline=True, **INTERNAL)
def count_move(machine: MachineCounts, row: Whole, target: Whole, num_states: int, reward: float) -> bool:
    """Count a move of a machine that is being learned; tell whether a plan has become due: its visits doubled."""
    machine.moves[row * num_states + target] += 1.0
    machine.rewards[row] += reward
    machine.visits[row] += 1.0
    visits = np.int64(machine.visits[row])
    return bool(visits & (visits - 1) == 0)


@compiled(forceinline=True, **INTERNAL)
def count_episode(counts: CountArrays, rule: int) -> bool:
    """Count an episode that is over; tell whether a plan has become due."""
    counts.sizes[NUM_EPISODES] += 1
    grown = GROWN * (counts.sizes[NUM_EPISODES] - counts.sizes[AT_PLAN]) >= counts.sizes[AT_PLAN]
    return bool(rule == EPISODE or (rule == GROWTH and grown))


@compiled(forceinline=True, **INTERNAL)
def add_successor(counts: CountArrays, pair: Whole, successor: Whole, label: Whole, row: Whole) -> int:
    """Make room for a successor seen for the first time; return its place."""
    place = counts.first[pair] + np.int64(counts.distinct[pair])
    counts.distinct[pair] += 1
    counts.successors[place] = successor
    counts.labels[place] = label
    counts.rows[place] = row
    return int(place)


@compiled(forceinline=True, **INTERNAL)
def add_row(counts: CountArrays, label: Whole, target: Whole) -> int:
    """Number the next extra row, that of (label, target); return its place in a table."""
    x = counts.sizes[NUM_ROWS]
    counts.row_labels[x] = label
    counts.row_targets[x] = target
    counts.sizes[NUM_ROWS] = x + 1
    return int(counts.is_met.shape[0] + x)
