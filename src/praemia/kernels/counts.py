"""Count transitions as they happen: the same functions for compiled episodes and, as plain Python, for black boxes.

Only what was seen is stored, in the order in which it was first seen: distinct transitions (o, a, o', label), each with
its count; the transitions of a pair are linked. A target is o', or O + o' where the episode ended there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from praemia.kernels.bundles import Bundle
from praemia.kernels.compiling import inlined, part
from praemia.kernels.records import NUM_EXITS, ROW, Bools, Floats, Ints, Records, SmallInts, Unsigned, Whole

# When a plan is due (``praemia.learners.replanning``); or −n: as soon as a pair has been visited n times.
DOUBLING, EPOCH, EPISODE, GROWTH, REPAIR, STEP = 0, 1, 2, 3, 4, 5
GROWN = 20  # by GROWTH and REPAIR: due once episodes have grown by 1/GROWN since the last full plan, if not sooner

# A distinct transition; ``next`` is 1 + the place of the next one of its pair, or 0.
TRANSITION = np.dtype(
    [("count", "f8"), *((name, "i4") for name in ("pair", "target", "label")), ("row", "u4"), ("next", "i4")],
    align=True,
)
# The places of ``Counts.totals``: transitions, extra rows and pairs seen; episodes played, and those at the last full
# plan; the steps of the last episode that are kept; whether the plan that is requested is a repair.
TRANSITIONS, ROWS, SLOTS, EPISODES, PLANNED_EPISODES, RECENT, IS_REPAIR = range(7)
FIRST_ROOM = 64  # transitions that there is room for at first


class MachineCounts(Bundle):
    """What was seen of a machine that has to be learned. Empty where the machine is known."""

    visits: Floats  # [L, M]
    moves: Floats  # [L, M, M], how often each machine state came next
    rewards: Floats  # [L, M], the sums of the rewards


class Counts(Bundle):
    """All that is counted in a run."""

    visits: Ints  # [O·A]
    at_plan: Ints  # [O·A], the visits when the last plan was made
    slots: SmallInts  # [O·A], a pair was visited as the i-th; −1 before its first visit
    first: SmallInts  # [O·A], 1 + the place of the pair's first transition in the list, or 0
    transitions: Records  # [·], TRANSITION
    rows: Records  # [·], ROW: the extra continuation rows of what was seen
    is_met: Bools  # [O]
    starts: Ints  # [O], how many episodes began in each observation
    step_visits: SmallInts  # [H + 1, O], visits to each observation at each step; [0, O] if they are not counted
    machine: MachineCounts
    recent: SmallInts  # [H, 6], the steps (o, a, target, label, m, m') of the last episode; [0, 6] if they are not kept
    recent_rewards: Floats  # [H]
    totals: Ints  # [7]

    @classmethod
    def empty(cls, sizes: tuple[int, int, int], machine: tuple[int, int], *, steps: bool, recent: bool) -> Counts:
        """Return counts of nothing, for (O, A, H) and (L, M) of a machine that is learned, (0, 0) else."""
        num_observations, num_actions, horizon = sizes
        pairs, kept = num_observations * num_actions, horizon if recent else 0
        shape = machine[0], machine[1]
        return cls(
            visits=np.zeros(pairs, dtype=np.int64),
            at_plan=np.zeros(pairs, dtype=np.int64),
            slots=np.full(pairs, -1, dtype=np.int32),
            first=np.zeros(pairs, dtype=np.int32),
            transitions=np.zeros(FIRST_ROOM + horizon, dtype=TRANSITION),
            rows=np.zeros(FIRST_ROOM + horizon, dtype=ROW),
            is_met=np.zeros(num_observations, dtype=bool),
            starts=np.zeros(num_observations, dtype=np.int64),
            step_visits=np.zeros((horizon + 1 if steps else 0, num_observations), dtype=np.int32),
            machine=MachineCounts(np.zeros(shape), np.zeros((*shape, machine[1])), np.zeros(shape)),
            recent=np.zeros((kept, 6), dtype=np.int32),
            recent_rewards=np.zeros(kept),
            totals=np.zeros(7, dtype=np.int64),
        )

    def with_room(self, horizon: int) -> Counts:
        """Return the counts with room for an episode's transitions; the same ones if they have it."""
        transitions = _with_room(self.transitions, int(self.totals[TRANSITIONS]), horizon)
        rows = _with_room(self.rows, int(self.totals[ROWS]), horizon)
        has_room = transitions is self.transitions and rows is self.rows
        return self if has_room else self._replace(transitions=transitions, rows=rows)


def _with_room(records: Records, used: int, needed: int) -> Records:
    if used + needed <= len(records):
        return records
    return np.concatenate((records, np.zeros(len(records) + needed, dtype=records.dtype)))


@inlined
def add_row(counts: Counts, label: Whole, target: Whole) -> Whole:
    """Number the next extra row, that of (label, target); return its place in a table."""
    x = counts.totals[ROWS]
    counts.rows[x]["label"], counts.rows[x]["target"] = label, target
    counts.totals[ROWS] = x + 1
    return np.int64(counts.is_met.shape[0] + NUM_EXITS + x)


@inlined
def add_transition(counts: Counts, pair: Whole, target: Whole, label: Whole, row: Whole) -> Whole:
    """Make a place for a transition seen for the first time, and return it; it is not counted yet."""
    place = counts.totals[TRANSITIONS]
    seen = counts.transitions[place]
    seen["pair"], seen["target"], seen["label"], seen["row"] = pair, target, label, row
    before = np.int64(counts.first[pair])
    if before == 0:
        counts.first[pair] = place + 1
    else:  # in the order of first sight: the first one is often the most frequent, and deviations are taken about it
        while counts.transitions[before - 1]["next"] > 0:
            before = np.int64(counts.transitions[before - 1]["next"])
        counts.transitions[before - 1]["next"] = place + 1
    counts.totals[TRANSITIONS] = place + 1
    if target < counts.is_met.shape[0]:
        counts.is_met[target] = True
    return place


@inlined
def count_visit(visits: Ints, at_plan: Ints, slots: SmallInts, totals: Ints, pair: Whole, replan: int) -> bool:
    """Count a visit to a pair; tell whether a plan has become due."""
    number = visits[pair] + 1
    visits[pair] = number
    if number == 1:
        slots[pair] = totals[SLOTS]
        totals[SLOTS] += 1
    if replan == DOUBLING:
        return bool(number & (number - 1) == 0)
    if replan < 0:
        return bool(number == -replan)
    return bool(replan == STEP or has_grown(number, at_plan[pair]))


@inlined
def has_grown(visits: Whole, before: Whole) -> bool:
    """Return whether a pair has been visited as often since a plan as before it."""
    return bool(visits - before >= (before if before > 1 else 1))


@inlined
def count_move(machine: MachineCounts, label: Whole, m: Whole, m_next: Whole, reward: float) -> bool:
    """Count a move of a machine that is being learned; tell whether a plan has become due: its visits doubled."""
    machine.moves[label, m, m_next] += 1.0
    machine.rewards[label, m] += reward
    machine.visits[label, m] += 1.0
    visits = np.int64(machine.visits[label, m])
    return bool(visits & (visits - 1) == 0)


@inlined
def count_step(counts: Counts, h: Whole, step: Any, place: Whole, pair: Whole, reward: float, replan: int) -> bool:
    """Count a step (o, a, target, label, m, m') at its place in the list; tell whether a plan has become due."""
    o, a, target, label, m, m_next = step
    if counts.step_visits.shape[0] > 0:
        counts.step_visits[h, o] += 1
    counts.transitions[place]["count"] += 1.0
    due = count_visit(counts.visits, counts.at_plan, counts.slots, counts.totals, pair, replan)
    if counts.machine.visits.shape[0] > 0 and count_move(counts.machine, label, m, m_next, reward):
        due = True
    if counts.recent.shape[0] > 0:
        kept = counts.recent[h]
        kept[0], kept[1], kept[2], kept[3], kept[4], kept[5] = o, a, target, label, m, m_next
        counts.recent_rewards[h], counts.totals[RECENT] = reward, h + 1
    return due


@inlined
def count_episode(totals: Ints, replan: int) -> bool:
    """Count an episode that is over; tell whether a plan has become due."""
    totals[EPISODES] += 1
    return bool(replan == EPISODE or (replan in (GROWTH, REPAIR) and episodes_have_grown(totals)))


@inlined
def episodes_have_grown(totals: Ints) -> bool:
    """Return whether enough episodes have been played since the last full plan."""
    return bool(GROWN * (totals[EPISODES] - totals[PLANNED_EPISODES]) >= totals[PLANNED_EPISODES])


@inlined
def is_repair(totals: Ints, replan: int, step: Whole) -> bool:
    """Return whether a plan that is due before a step is a repair of the last one."""
    return bool(replan == REPAIR and (step > 0 or not episodes_have_grown(totals)))


@inlined
def begin_plan(counts: Counts, replan: int, step: Whole) -> None:
    """Note whether the plan that is due before a step is a repair; a full one goes by what is counted now."""
    counts.totals[IS_REPAIR] = is_repair(counts.totals, replan, step)
    if counts.totals[IS_REPAIR] == 0 and replan != STEP:
        counts.totals[PLANNED_EPISODES] = counts.totals[EPISODES]
        copy(counts.visits, counts.at_plan)


@part
def copy(source: Any, target: Any) -> None:
    """Copy a row of numbers."""
    for i in range(source.shape[0]):
        target[i] = source[i]


class Edges(Bundle):
    """The transitions of all pairs: those of a pair are at places start[pair] … stop[pair] − 1."""

    start: Ints  # [O·A] or more
    stop: Ints  # [O·A]
    weights: Floats  # counts, or probabilities
    rows: Unsigned
    totals: Floats  # [O·A], the sum of a pair's weights; 0 for one without transitions

    @classmethod
    def room(cls, num_pairs: int, size: int) -> Edges:
        """Return arrays for so many pairs and transitions, to be filled: a pair stops where the next one starts."""
        start = np.zeros(num_pairs + 1, dtype=np.int64)
        return cls(start, start[1:], np.empty(size), np.empty(size, np.uint32), np.empty(num_pairs))


@part
def copy_pair(counts: Counts, edges: Edges, pair: Whole) -> None:
    """Copy the transitions of a pair to where it starts."""
    at, place = edges.start[pair], np.int64(counts.first[pair])
    while place > 0:
        seen = counts.transitions[place - 1]
        edges.weights[at], edges.rows[at] = seen["count"], seen["row"]
        at, place = at + 1, np.int64(seen["next"])
    edges.stop[pair], edges.totals[pair] = at, float(counts.visits[pair])


@part
def fill_edges(counts: Counts, edges: Edges) -> None:
    """Copy the transitions of all pairs."""
    for pair in range(counts.visits.shape[0]):
        copy_pair(counts, edges, pair)
