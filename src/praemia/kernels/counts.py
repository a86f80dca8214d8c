"""Count transitions as they happen, so that a plan can read the counts as they are."""

from __future__ import annotations

import numpy as np

from praemia.kernels.compiling import INLINED, compiled
from praemia.kernels.records import NUM_EXITS, MachineCounts, Records, Whole

DOUBLING, EPOCH, EPISODE, GROWTH = 0, 1, 2, 3  # when a plan is due
GROWN = 20  # by the rule GROWTH a plan is due after a GROWN-th of the episodes before the last one, if not sooner


@compiled(**INLINED)
def add_state(states: Records, totals: Records, state: Whole) -> None:
    """Note that a state exists; an end is none."""
    if state < states.shape[0] and states[state]["is_met"] == 0:
        states[state]["is_met"] = 1
        states[totals[0]["states"]]["met"] = state
        totals[0]["states"] += 1


@compiled(**INLINED)
def count_visit(pairs: Records, successors: Records, totals: Records, pair: Whole, place: Whole, rule: int) -> bool:
    """Count a transition whose successor is at ``place``; tell whether a plan has become due."""
    successors[place]["count"] += 1.0
    visits = pairs[pair]["visits"] + 1
    pairs[pair]["visits"] = visits
    if visits == 1:
        pairs[pair]["slot"] = totals[0]["slots"]
        totals[0]["slots"] += 1
    if rule == DOUBLING:
        return bool(visits & (visits - 1) == 0)
    before = pairs[pair]["at_plan"]
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
def count_episode(totals: Records, rule: int) -> bool:
    """Count an episode that is over; tell whether a plan has become due."""
    totals[0]["episodes"] += 1
    grown = GROWN * (totals[0]["episodes"] - totals[0]["at_plan"]) >= totals[0]["at_plan"]
    return bool(rule == EPISODE or (rule == GROWTH and grown))


@compiled(**INLINED)
def add_successor(pairs: Records, successors: Records, pair: Whole, target: Whole, label: Whole, row: Whole) -> Whole:
    """Make room for a successor seen for the first time; return its place."""
    place = pairs[pair]["first"] + np.int64(pairs[pair]["distinct"])
    pairs[pair]["distinct"] += 1
    successors[place]["target"] = target
    successors[place]["label"] = label
    successors[place]["row"] = row
    return place  # type: ignore[no-any-return]


@compiled(**INLINED)
def add_row(rows: Records, totals: Records, num_states: int, label: Whole, target: Whole) -> Whole:
    """Number the next extra row, that of (label, target); return its place in a table."""
    x = totals[0]["rows"]
    rows[x]["label"] = label
    rows[x]["target"] = target
    totals[0]["rows"] = x + 1
    return num_states + NUM_EXITS + x  # type: ignore[no-any-return]


@compiled(**INLINED)
def note_plan(pairs: Records, totals: Records) -> None:
    """Note what was counted when a plan was made."""
    for i in range(pairs.shape[0]):
        pairs[i]["at_plan"] = pairs[i]["visits"]
    totals[0]["at_plan"] = totals[0]["episodes"]
