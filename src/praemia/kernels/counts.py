"""Count transitions as they happen, so that a plan can read the counts as they are.

A black box counts by these functions too, as plain Python; so what they call must run as both.
"""

from __future__ import annotations

import numpy as np

from praemia.kernels.compiling import inlined, jitable
from praemia.kernels.records import NUM_EXITS, CountArrays, MachineCounts, Whole

# When a plan is due (``praemia.learners.replanning``); or −n: as soon as a pair has been visited n times.
DOUBLING, EPOCH, EPISODE, GROWTH, REPAIR, STEP = 0, 1, 2, 3, 4, 5
GROWN = 20  # by GROWTH and REPAIR: due once episodes have grown by 1/GROWN since the last whole plan, if not sooner


@inlined
def add_state(counts: CountArrays, state: Whole) -> None:
    """Note that a state was met; an end is not a state."""
    states = counts.states
    if state < states.shape[0] and states[state]["is_met"] == 0:
        states[state]["is_met"] = 1
        total = counts.totals[0]
        states[total["states"]]["ith_met"] = state
        total["states"] += 1


@inlined
def count_visit(counts: CountArrays, pair: Whole, place: Whole, replan: int) -> bool:
    """Count a transition whose successor is at ``place``; tell whether a plan has become due."""
    counts.successors[place]["count"] += 1.0
    own = counts.pairs[pair]
    visits, before = own["visits"] + 1, own["at_plan"]
    own["visits"] = visits
    if visits == 1:
        total = counts.totals[0]
        own["slot"] = total["slots"]
        total["slots"] += 1
    if replan == DOUBLING:
        return bool(visits & (visits - 1) == 0)
    if replan < 0:
        return bool(visits == -replan)
    if replan == STEP:
        return True
    due = has_grown(visits, before)
    if due and replan == REPAIR:
        add_changed(counts, pair)
    return due


@jitable
def has_grown(visits: Whole, before: Whole) -> bool:
    """Tell whether a pair has been visited as often since a plan as before it."""
    return bool(visits - before >= (before if before > 1 else 1))


@jitable
def add_changed(counts: CountArrays, pair: Whole) -> None:
    """Note that the plan has to be repaired at the state of a pair."""
    states, total = counts.states, counts.totals[0]
    state = pair // (counts.pairs.shape[0] // states.shape[0])
    if states[state]["is_changed"] == 0:
        states[state]["is_changed"] = 1
        states[total["changed"]]["ith_changed"] = state
        total["changed"] += 1


@inlined
def keep_step(
    counts: CountArrays, h: int, o: Whole, a: Whole, target: Whole, label: Whole, m: Whole, m_next: Whole, reward: float
) -> None:
    """Keep a step for learners that learn from it."""
    step = counts.recent[h]
    step["o"], step["a"], step["target"], step["label"] = o, a, target, label
    step["m"], step["m_next"], step["reward"] = m, m_next, reward
    counts.totals[0]["recent"] = h + 1


@inlined
def count_move(machine: MachineCounts, row: Whole, target: Whole, num_machine_states: int, reward: float) -> bool:
    """Count a move of a machine that is being learned; tell whether a plan has become due: its visits doubled."""
    machine.moves[row * num_machine_states + target] += 1.0
    machine.rewards[row] += reward
    machine.visits[row] += 1.0
    visits = np.int64(machine.visits[row])
    return bool(visits & (visits - 1) == 0)


@inlined
def count_episode(counts: CountArrays, replan: int) -> bool:
    """Count an episode that is over; tell whether a plan has become due."""
    total = counts.totals[0]
    total["episodes"] += 1
    if replan == REPAIR:
        return bool(total["changed"] > 0 or episodes_have_grown(counts))
    return bool(replan == EPISODE or (replan == GROWTH and episodes_have_grown(counts)))


@jitable
def episodes_have_grown(counts: CountArrays) -> bool:
    """Tell whether enough episodes have been played since the last plan."""
    total = counts.totals[0]
    return bool(GROWN * (total["episodes"] - total["at_plan"]) >= total["at_plan"])


@inlined
def add_successor(counts: CountArrays, pair: Whole, target: Whole, label: Whole, row: Whole) -> Whole:
    """Make room for a successor seen for the first time; return its place."""
    own = counts.pairs[pair]
    place = own["first"] + np.int64(own["distinct"])
    own["distinct"] += 1
    successor = counts.successors[place]
    successor["target"], successor["label"], successor["row"] = target, label, row
    if counts.links.shape[0] > 0 and target < counts.states.shape[0]:
        add_link(counts, pair, target)
    return place  # type: ignore[no-any-return]


@jitable
def add_link(counts: CountArrays, pair: Whole, target: Whole) -> None:
    """Note that the state of a pair leads to another."""
    total, states = counts.totals[0], counts.states
    link = counts.links[total["links"]]
    link["state"], link["next"] = pair // (counts.pairs.shape[0] // states.shape[0]), states[target]["into"]
    total["links"] += 1
    states[target]["into"] = total["links"]


@inlined
def add_row(counts: CountArrays, label: Whole, target: Whole) -> Whole:
    """Number the next extra row, that of (label, target); return its place in a table."""
    total = counts.totals[0]
    x = total["rows"]
    row = counts.rows[x]
    row["label"], row["target"] = label, target
    total["rows"] = x + 1
    if target < counts.states.shape[0]:
        row["next"] = counts.states[target]["rows"]
        counts.states[target]["rows"] = x + 1
    return counts.states.shape[0] + NUM_EXITS + x  # type: ignore[no-any-return]


@inlined
def ask_for_plan(counts: CountArrays, replan: int, step: Whole) -> None:
    """Note whether a plan, asked for before a step, is to be made or the last one to be repaired."""
    if replan == REPAIR and (step > 0 or not episodes_have_grown(counts)):
        counts.totals[0]["is_repair"] = 1
    else:
        ask_for_whole_plan(counts)


@jitable
def ask_for_whole_plan(counts: CountArrays) -> None:
    """Note that a plan is to be made, whatever there is to repair."""
    total = counts.totals[0]
    total["is_repair"], total["at_plan"] = 0, total["episodes"]


@inlined
def note_visits(counts: CountArrays) -> None:
    """Note what was counted when a plan was made."""
    for i in range(counts.pairs.shape[0]):
        pair = counts.pairs[i]
        pair["at_plan"] = pair["visits"]
