"""Count transitions as they happen, so that a plan can read the counts as they are."""

from __future__ import annotations

import numpy as np

from praemia.kernels.compiling import INLINED, compiled
from praemia.kernels.records import NUM_EXITS, CountArrays, MachineCounts, Whole

DOUBLING, EPOCH, EPISODE, GROWTH = 0, 1, 2, 3  # when a plan is due
GROWN = 20  # by the rule GROWTH a plan is due after a GROWN-th of the episodes before the last one, if not sooner


@compiled(**INLINED)
def add_state(counts: CountArrays, state: Whole) -> None:
    """Note that a state exists; an end is none."""
    states = counts.states
    if state < states.shape[0] and states[state]["is_met"] == 0:
        states[state]["is_met"] = 1
        total = counts.totals[0]
        states[total["states"]]["met"] = state
        total["states"] += 1


@compiled(**INLINED)
def count_visit(counts: CountArrays, pair: Whole, place: Whole, rule: int) -> bool:
    """Count a transition whose successor is at ``place``; tell whether a plan has become due."""
    counts.successors[place]["count"] += 1.0
    own = counts.pairs[pair]
    visits, before = own["visits"] + 1, own["at_plan"]
    own["visits"] = visits
    if visits == 1:
        total = counts.totals[0]
        own["slot"] = total["slots"]
        total["slots"] += 1
    if rule == DOUBLING:
        return bool(visits & (visits - 1) == 0)
    return bool(visits - before >= (before if before > 1 else 1))


@compiled(**INLINED)
def count_move(machine: MachineCounts, row: Whole, target: Whole, num_states: int, reward: float) -> bool:
    """Count a move of a machine that is being learned; tell whether a plan has become due: its visits doubled."""
    machine.moves[row * num_states + target] += 1.0
    machine.rewards[row] += reward
    machine.visits[row] += 1.0
    visits = np.int64(machine.visits[row])
    return bool(visits & (visits - 1) == 0)


@compiled(**INLINED)
def count_episode(counts: CountArrays, rule: int) -> bool:
    """Count an episode that is over; tell whether a plan has become due."""
    total = counts.totals[0]
    episodes, before = total["episodes"] + 1, total["at_plan"]
    total["episodes"] = episodes
    grown = GROWN * (episodes - before) >= before
    return bool(rule == EPISODE or (rule == GROWTH and grown))


@compiled(**INLINED)
def add_successor(counts: CountArrays, pair: Whole, target: Whole, label: Whole, row: Whole) -> Whole:
    """Make room for a successor seen for the first time; return its place."""
    own = counts.pairs[pair]
    place = own["first"] + np.int64(own["distinct"])
    own["distinct"] += 1
    successor = counts.successors[place]
    successor["target"], successor["label"], successor["row"] = target, label, row
    return place  # type: ignore[no-any-return]


@compiled(**INLINED)
def add_row(counts: CountArrays, label: Whole, target: Whole) -> Whole:
    """Number the next extra row, that of (label, target); return its place in a table."""
    total = counts.totals[0]
    x = total["rows"]
    row = counts.rows[x]
    row["label"], row["target"] = label, target
    total["rows"] = x + 1
    return counts.states.shape[0] + NUM_EXITS + x  # type: ignore[no-any-return]


@compiled(**INLINED)
def note_plan(counts: CountArrays) -> None:
    """Note what was counted when a plan was made."""
    pairs, total = counts.pairs, counts.totals[0]
    for i in range(pairs.shape[0]):
        pair = pairs[i]
        pair["at_plan"] = pair["visits"]
    total["at_plan"] = total["episodes"]
