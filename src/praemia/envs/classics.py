"""The small worlds that the paper's experiments and most examples use: a river, a warehouse, a flower, two rooms."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from praemia._support.limits import require_memory
from praemia.envs.grid_map import GridMap
from praemia.errors import ParameterError, require_whole
from praemia.machines.builder import MachineBuilder
from praemia.machines.guards import exactly
from praemia.machines.labels import LabelRule
from praemia.machines.machine import RewardMachine
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.picture import Mark, Picture, Spot
from praemia.tasks.task import Task

LEFT, RIGHT = 0, 1
MAX_SIZE = 10_000_000
_ROW = 15
_BYTES_PER_OBSERVATION = 400  # four entries of four arrays, and the copies made while they are sorted
HUB, PETALS = 0, range(1, 6)
COUNT, PASS = 0, 1
SMALL_LOOP = 3


def riverswim(size: int = 5, horizon: int | None = None) -> Task:
    """Swim against the current from one end of a river to the other, and back.

    Observations 0 … size − 1 lie along the river; episodes start at 0. *left* always moves one to the left. *right*
    moves one to the right with probability 0.6, stays with 0.35 and is swept back with 0.05 (at 0: 0.6 and 0.4; at the
    right end: stays with 0.6, is swept back with 0.4). The right end has a reward of 1, then the left end must be
    visited before it has one again; the label is that of the observation *before* the step. The horizon is 2 · size
    unless it is given.

    Examples
    --------
    >>> import praemia
    >>> f"{praemia.solve(praemia.envs.riverswim(size=5)).value:.4f}"
    '0.8394'
    """
    require_whole("size", size, 2, MAX_SIZE)
    return _river_task(f"riverswim-{size}", size, horizon, LabelRule("right-end", source=size - 1), {"back": 1.0})


def riverswim_prm(size: int = 5, horizon: int | None = None) -> Task:
    """Patrol a river whose right end is detected with probability 0.8; the horizon is 2 · size unless it is given.

    "right-end" is then the move to the last observation.

    Examples
    --------
    >>> import praemia
    >>> praemia.envs.riverswim_prm(size=5).machine.is_deterministic
    False
    """
    require_whole("size", size, 2, MAX_SIZE)
    right_end = LabelRule("right-end", source=size - 2, target=size - 1)
    return _river_task(f"riverswim-prm-{size}", size, horizon, right_end, {"back": 0.8, "out": 0.2})


def _river_task(name: str, size: int, horizon: int | None, right_end: LabelRule, chances: Mapping[str, float]) -> Task:
    """Make the task; ``chances`` are those of the states of the machine after the right end."""
    require_memory(_BYTES_PER_OBSERVATION * size, f"a river of {size:,} observations")
    everywhere = np.arange(size)
    forth, stay, back = np.full(size, 0.6), np.full(size, 0.35), np.full(size, 0.05)
    stay[0], back[0] = 0.4, 0.0
    forth[-1], stay[-1], back[-1] = 0.0, 0.6, 0.4
    moves = [(LEFT, -1, np.ones(size)), (RIGHT, +1, forth), (RIGHT, 0, stay), (RIGHT, -1, back)]
    mdp = LabeledMDP.from_entries(
        size,
        2,
        np.tile(everywhere, len(moves)),
        np.repeat([action for action, _, _ in moves], size),
        np.concatenate([np.clip(everywhere + by, 0, size - 1) for _, by, _ in moves]),
        np.concatenate([probs for _, _, probs in moves]),
        labels=[LabelRule("left-end", source=0), right_end],
        actions=("left", "right"),
    )
    builder = MachineBuilder(initial="out", propositions=("left-end", "right-end"))
    for state, chance in chances.items():
        builder.edge("out", "right-end", state, chance, reward=float(state == "back"))
    machine = builder.edge("back", "left-end", "out").build()
    return Task(mdp.with_map(River(size)), machine, 2 * size if horizon is None else horizon, name)


class River(NamedTuple):
    """The map of the river: it turns at the end of each row, so that no picture gets too wide."""

    size: int

    def picture(self) -> Picture:
        """Return the river with its two ends marked."""
        marks = [Mark(str(o)) for o in range(self.size)]
        marks[0] = Mark("0", "left end", frozenset({"left-end"}), is_start=True)
        marks[-1] = Mark(str(self.size - 1), "right end", frozenset({"right-end"}))
        places = [divmod(o, _ROW) for o in range(self.size)]
        return Picture(
            tuple(
                Spot(4 / 3 * (_ROW - 1 - column if row % 2 else column) + 0.5, 4 / 3 * row + 0.5, mark)
                for (row, column), mark in zip(places, marks, strict=True)
            ),
            links=tuple((o, o + 1) for o in range(self.size - 1)),
            caption="the current flows to the left end: right succeeds with probability 0.6",
            is_round=True,
        )


def warehouse(size: int = 4, horizon: int | None = None) -> Task:
    """Fetch an item from one corner of a grid and deliver it to another.

    Episodes start at the charging station (0, 0), the item is at (0, size − 1), the delivery point at
    (size − 1, size − 1). Moves slip as in every grid here; *stay* is sure. Labels are those of the cell that is
    *reached*. The item is ready with probability 0.8 and the delivery point is free with probability 0.9; delivering
    has a reward of 1, once. The horizon is 3 · size unless it is given.

    Examples
    --------
    >>> import praemia
    >>> praemia.envs.warehouse(size=4)
    Task('warehouse-4': 16 observations, 5 actions, 3 machine states, horizon 12)
    """
    require_whole("size", size, 2, 3_000)
    rows = ["S" + "." * (size - 2) + "I", *["." * size] * (size - 2), "." * (size - 1) + "D"]
    grid_map = GridMap("\n".join(rows), {"I": "item", "D": "delivery"}, stay=True)
    machine = (
        MachineBuilder(initial="empty", propositions=("item", "delivery"))
        .edge("empty", "item", "loaded", probability=0.8)
        .edge("empty", "item", "empty", probability=0.2)
        .edge("loaded", "delivery", "done", probability=0.9, reward=1)
        .edge("loaded", "delivery", "loaded", probability=0.1)
        .build()
    )
    return Task(grid_map.mdp(), machine, 3 * size if horizon is None else horizon, f"warehouse-{size}")


def flower(loop: int = 20, horizon: int = 30) -> Task:
    """Count visits to the petals of a flower; the largest loop of its machine has ``loop`` states.

    After Bourel et al. (2023). From the hub, where episodes start, every action leads to each of the six observations
    with probability 1/6; from a petal the agent stays with probability 0.2 and returns to the hub with 0.8, whatever
    the action. Taking the *first* action in petal i makes "petal-i" true: an action does not choose where to go, only
    whether the visit counts. The horizon does not depend on ``loop``, so a sweep over it varies the machine alone.

    Examples
    --------
    >>> import praemia
    >>> praemia.envs.flower(loop=20).horizon
    30
    """
    machine = flower_machine(loop)
    rows = {}
    for action in (COUNT, PASS):
        rows[HUB, action] = dict.fromkeys((HUB, *PETALS), 1 / 6)
        for petal in PETALS:
            rows[petal, action] = {petal: 0.2, HUB: 0.8}
    labels = [LabelRule(frozenset({f"petal-{i}"}), source=i, action=COUNT) for i in PETALS]
    names = ("hub", *(f"petal-{i}" for i in PETALS))
    mdp = LabeledMDP.from_rows(len(names), 2, rows, labels, observations=names, actions=("count", "pass"))
    spots = [Spot(2.1, 2.1, Mark("0", "hub", is_start=True))]
    for i in PETALS:
        angle = 2 * math.pi * (i - 1) / len(PETALS)
        mark = Mark(str(i), "petal", frozenset({f"petal-{i}"}))
        spots.append(Spot(2.1 + 1.6 * math.sin(angle), 2.1 - 1.6 * math.cos(angle), mark))
    caption = "the first action makes a visit to a petal count"
    picture = Picture(tuple(spots), links=tuple((HUB, i) for i in PETALS), caption=caption, is_round=True)
    return Task(mdp.with_map(picture), machine, horizon, f"flower-{loop}")


def flower_machine(loop: int = 20) -> RewardMachine:
    """Return the machine: four loops of three states, and one of ``loop``, that meet in the centre.

    Petal i starts its loop, which needs "petal-i" once more for each of its states, has a reward of 1 and returns to
    the centre. Other labels leave a loop where it is.
    """
    require_whole("loop", loop, 1, 100_000)
    propositions = [f"petal-{i}" for i in PETALS]
    builder = MachineBuilder(initial="centre", propositions=propositions)
    for i in PETALS:
        visit = exactly({f"petal-{i}"}, propositions)
        length = loop if i == PETALS[-1] else SMALL_LOOP
        path = ["centre", *(f"loop-{i}-{step}" for step in range(1, length + 1))]
        for here, there in pairwise(path):
            builder.edge(here, visit, there)
        builder.edge(path[-1], visit, "centre", reward=1)
    return builder.build()


def two_rooms(size: int = 9, horizon: int | None = None) -> Task:
    """Patrol between the far corners of two rooms connected by a door.

    A grid of odd size with outer walls and one inner wall, upright in the middle, with a door in its middle. Episodes
    start in corner A, (1, 1); corner B is opposite. Moves slip as in every grid here; there is no *stay*. Labels are
    those of the cell that is being *left*. Corner A has a reward of 1, then corner B has; then the door must be visited
    before corner A has a reward again. The horizon is 6 · size unless it is given.

    Examples
    --------
    >>> import praemia
    >>> praemia.envs.two_rooms(size=9).horizon
    54
    """
    require_whole("size", size, 5, 2_999)
    if size % 2 == 0:
        raise ParameterError(f"size={size}; expected an odd number, so that the door is in the middle")
    rows = np.full((size, size), "#")
    rows[1:-1, 1:-1] = "."
    rows[:, size // 2] = "#"
    rows[size // 2, size // 2], rows[1, 1], rows[-2, -2] = "DAB"
    legend = {"A": "corner-a", "B": "corner-b", "D": "door"}
    grid_map = GridMap("\n".join(map("".join, rows)), legend, start="A")
    place = {name: o for o, (name,) in grid_map.labels.items()}
    mdp = grid_map.mdp([LabelRule(name, source=place[name]) for name in legend.values()])
    machine = (
        MachineBuilder(initial="to-a", propositions=("corner-a", "corner-b", "door"))
        .edge("to-a", "corner-a", "to-b", reward=1)
        .edge("to-b", "corner-b", "to-door", reward=1)
        .edge("to-door", "door", "to-a")
        .build()
    )
    return Task(mdp, machine, 6 * size if horizon is None else horizon, f"rooms-{size}")
