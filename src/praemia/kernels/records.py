"""The records and bundles of arrays that kernels take: a model, a machine, what was counted, what a plan works in.

What belongs together lies together, as records of structured arrays: ``pairs[i]["visits"]`` means the same compiled
and not. (Every array that a compiled function takes costs time when it is compiled, and when Python calls it.)

Observations are those of the task that a learner sees (``states`` in its counts). A pair is o · A + a. A continuation
row (``praemia.kernels``) is an observation's own, O + e for an exit, or O + NUM_EXITS + x for the x-th of a list of
``ROW``.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

FIRST = np.int64(0)  # a literal 0 would have kernels compiled for it

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
SmallInts: TypeAlias = NDArray[np.int32]
Bools: TypeAlias = NDArray[np.bool_]
Unsigned: TypeAlias = NDArray[np.uint32]
Records: TypeAlias = NDArray[np.void]
Whole: TypeAlias = int | np.signedinteger[Any]
Actions: TypeAlias = NDArray[Any]  # of the type that ``action_type`` returns


def action_type(num_actions: int) -> type[np.int8] | type[np.int16]:
    """Return the smallest type that holds every action: policies are the largest arrays there are."""
    return np.int8 if num_actions <= 128 else np.int16


EXACT_LANES = 4  # exact planning works on multiples of this many machine states


def lanes_for(num_machine_states: int) -> int:
    """Return how many machine states a learner's plan works on at a time."""
    return 1 if num_machine_states == 1 else 4 if num_machine_states <= 4 else 8


def padded_width(num_machine_states: int, lanes: int = EXACT_LANES) -> int:
    """Return the number of columns of a table: the next multiple of the lanes."""
    return (num_machine_states + lanes - 1) // lanes * lanes


# Exits, whose rows follow those of the states: the episode has ended; what follows is not known.
END, UNKNOWN = 0, 1
NUM_EXITS = 2
SMALLEST = 1e-300  # no weight that is drawn is 0, so that rows can be divided by their sums


def _record(**fields: str) -> np.dtype[np.void]:
    return np.dtype(list(fields.items()), align=True)


# The continuation row of (label, target). A target from O on stands for the end of the episode. Counted rows are
# linked: ``next`` is 1 + the place of the next row with this target, or 0.
ROW = _record(label="i4", target="i4", next="i4")


def rows_of(labels: Any, targets: Any) -> Records:
    """Return continuation rows as records."""
    rows = np.zeros(len(labels), dtype=ROW)
    rows["label"], rows["target"] = labels, targets
    return rows


# Counts. A pair's successors lie side by side, in the order in which they were first seen: places first …
# first + distinct − 1. A target is o', or O + o' where the episode ended there. Pairs are numbered by ``slot`` in the
# order of their first visits; −1 for one never visited. A plan that is repaired goes by the counts of its own time:
# ``at_plan``, ``planned``.
PAIR = _record(visits="i8", at_plan="i8", first="i8", distinct="i4", planned="i4", slot="i4")
SUCCESSOR = _record(count="f8", planned="f8", row="u4", target="i4", label="i4")
# Two things in one. Of state i: whether it was met and has changed, and where the lists of what leads to it and of its
# rows begin (1 + the place, or 0). And of lists of states: ``ith_met`` was met as the i-th, ``ith_changed`` changed as
# the i-th since the last plan.
STATE = _record(is_met="i4", is_changed="i4", into="i4", rows="i4", ith_met="i4", ith_changed="i4")
# A state that was seen to lead to another, and 1 + the place of the next one that leads there, or 0.
LINK = _record(state="i4", next="i4")
# How many states are met, pairs visited, extra rows numbered, episodes played, those played at the last plan, and the
# steps kept of the last episode; how many states changed, links there are, rows the last plan filled; whether the plan
# that is asked for is a repair, and how many values of states the last one computed.
TOTALS = _record(
    **dict.fromkeys(("states", "slots", "rows", "episodes", "at_plan", "recent"), "i8"),
    **dict.fromkeys(("changed", "links", "planned_rows", "is_repair", "computed"), "i8"),
)
# A step of the last episode, for learners that look at steps.
TAKEN = _record(reward="f8", o="i4", a="i4", target="i4", label="i4", m="i4", m_next="i4")


# A piece of a reward law: a number, or an interval from ``value`` on. ``sum`` is the running sum of probabilities.
REWARD = _record(sum="f8", value="f8", width="f8")


def pay(piece: Any, rng: Any) -> Any:
    """Draw the reward that a piece of a law pays; a single number takes no random number."""
    return piece["value"] + piece["width"] * rng.random() if piece["width"] > 0.0 else piece["value"]


class MachineArrays(NamedTuple):
    """τ and the mean rewards ν̄. Row label · M + m holds the edges indptr[row] : indptr[row + 1]."""

    indptr: Ints
    targets: SmallInts
    probs: Floats
    rewards: Floats


class ModelArrays(NamedTuple):
    """p with its labels. Row o · A + a holds the edges indptr[row] : indptr[row + 1].

    A successor from O on is an exit. ``rows`` is each edge's continuation row; row O + NUM_EXITS + x is that of
    extra_rows[x].
    """

    indptr: Ints
    successors: SmallInts
    probs: Floats
    labels: SmallInts
    rows: Unsigned  # unsigned: a signed index costs a test for "from the end" at every edge
    extra_rows: Records


class LayerArrays(NamedTuple):
    """τ and φ of a machine by layers (``praemia.kernels.rows``), a number for each column of a table."""

    indptr: Ints  # [L + 1], the layers of each label
    common: SmallInts  # [N], the target that all machine states share, or −1
    targets: Unsigned  # [N·W], flat
    probs: Floats  # [N·W], flat
    paid: Floats  # [L·W], flat: φ, or zeros where only τ is needed


class EveryRow(NamedTuple):
    """The continuation row of every successor of every pair, seen or not; empty for learners that do not need it."""

    own: Unsigned  # [O·A, O], or [O·A, 2·O] where episodes may end: O + o' is the end in o'
    rows: Records  # [O + NUM_EXITS + X], also those of the first ones, whose label means nothing

    @classmethod
    def of(cls, own: Unsigned, extra_rows: Records, num_observations: int) -> EveryRow:
        """Return the rows, those of the observations themselves and of the exits before the extra ones."""
        firsts = np.append(np.arange(num_observations), np.zeros(NUM_EXITS, dtype=np.int64))
        return cls(own, np.concatenate((rows_of(np.zeros(len(firsts)), firsts), extra_rows)))


class LabelSupport(NamedTuple):
    """Which (label, next observation) can follow which pair, as far as the labelling alone tells.

    The pairs that allow the same labels form a group. Label l can lead to targets[indptr[l] : indptr[l + 1]]; O is
    the end of the episode.
    """

    groups: SmallInts  # [O·A]
    group_indptr: Ints  # [G + 1]
    group_labels: SmallInts
    indptr: Ints  # [L + 1]
    targets: SmallInts
    layers: LayerArrays  # the machine on these labels


class MachineCounts(NamedTuple):
    """What was seen of a machine that has to be learned, row by row: row label · M + m. Empty where it is known."""

    visits: Floats  # [L·M]
    moves: Floats  # [L·M·M], flat: how often each machine state came next
    rewards: Floats  # [L·M], the sum of the rewards

    @classmethod
    def empty(cls, num_labels: int, num_machine_states: int) -> MachineCounts:
        """Return counts of nothing; none at all without labels."""
        rows = num_labels * num_machine_states
        return cls(np.zeros(rows), np.zeros(rows * num_machine_states), np.zeros(rows))


class CountArrays(NamedTuple):
    """The counts of O observations. Only what was seen is stored."""

    pairs: Records  # [O·A], PAIR
    successors: Records  # [E], SUCCESSOR
    rows: Records  # [X], ROW
    states: Records  # [O], STATE
    links: Records  # [·], LINK; empty for learners that do not repair their plans
    steps: SmallInts  # [H + 1, O], visits to each observation at each step; [0, O] when the learner does not use them
    totals: Records  # [1], TOTALS
    machine: MachineCounts
    recent: Records  # [H], TAKEN: the last episode, for learners that look at its steps; else [0]

    @classmethod
    def empty(
        cls,
        first: Ints,
        num_observations: int,
        num_rows: int,
        num_steps: int,
        machine: MachineCounts,
        num_recent: int = 0,
        num_links: int = 0,
    ) -> CountArrays:
        """Return counts of nothing, in which pair i has room for the successors first[i] … first[i + 1] − 1."""
        pairs = np.zeros(len(first) - 1, dtype=PAIR)
        pairs["first"], pairs["slot"] = first[:-1], -1
        return cls(
            pairs=pairs,
            successors=np.zeros(int(first[-1]), dtype=SUCCESSOR),
            rows=np.zeros(num_rows, dtype=ROW),
            states=np.zeros(num_observations, dtype=STATE),
            links=np.zeros(num_links, dtype=LINK),
            steps=np.zeros((num_steps, num_observations), dtype=np.int32),
            totals=np.zeros(1, dtype=TOTALS),
            machine=machine,
            recent=np.zeros(num_recent, dtype=TAKEN),
        )
