"""Drawn tasks on a map: rooms, grids with traps, lakes, offices with errands of growing length, and mazes."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from praemia.envs.builtin_machines import TRAP, errands, in_any_order
from praemia.envs.drawn_kernels import Drawn, Kind, Ranges, between, steps_from
from praemia.envs.grid_map import GridMap
from praemia.envs.grid_text import DOOR, FLOOR, SLIP, START, WALL, WATER, Cell, Slip
from praemia.machines.labels import LabelRule
from praemia.machines.machine import RewardMachine
from praemia.tasks.mdp import LabeledMDP

OnMap: TypeAlias = tuple[LabeledMDP, RewardMachine, int]  # and how many moves the errands take if none slips
Rows = NDArray[np.str_]
LEGS = 6  # so many errands of a machine are counted for that
PIT, DESK, GOAL = "t", "d", "g"
ICE = (1 / 3, 1 / 3, 1 / 3, 0.0)
STRAIGHT = (1.0, 0.0, 0.0, 0.0)


def map_kind(draw: Callable[[np.random.Generator, int, int, int], OnMap], least: int) -> Kind:
    """Return the kind of tasks whose map ``draw`` draws, from the number of cells, at least ``least``."""

    def draw_task(rng: np.random.Generator, ranges: Ranges) -> Drawn:
        low, high = ranges.observations
        size, states = between(rng, max(least, low), max(least, high)), between(rng, *ranges.states)
        mdp, machine, way = draw(rng, size, states, ranges.steps[1])
        return mdp, machine, ranges.within(way * rng.uniform(1.5, 3.0))

    return draw_task


def rooms(rng: np.random.Generator, size: int, states: int, most: int) -> OnMap:
    """Draw a square of about ``size`` cells, divided into four rooms with a door each; places are visited in order."""
    side = max(4, round(math.sqrt(size)))
    row, column = (int(rng.integers(1, side - 1)) for _ in range(2))
    text = np.full((side, side), FLOOR)
    text[row], text[:, column] = WALL, WALL
    for half in ((0, row), (row + 1, side)):
        text[int(rng.integers(*half)), column] = FLOOR
    for half in ((0, column), (column + 1, side)):
        text[row, int(rng.integers(*half))] = FLOOR
    places = _spread(rng, text, 4)
    letters = {letter: [place] for letter, place in zip("Sabc", places, strict=True)}
    grid_map = _map(text, letters, {name: name for name in "abc"})
    way = _way(grid_map, [*"abcabc"][: min(states, LEGS)])
    machine = errands(rng, ("a", "b", "c"), states, fits=_fits(states, way, most))
    return _mdp(replace(grid_map, slip=_slip(rng))), machine, way


def traps(rng: np.random.Generator, size: int, states: int, most: int) -> OnMap:
    """Draw an open grid in which one cell of six is a trap, after which nothing is paid."""
    side = max(3, round(math.sqrt(size)))
    text = np.full((side, side), FLOOR)
    way = 0
    while way == 0:
        places = _spread(rng, text, 3)
        letters = {letter: [place] for letter, place in zip("Sab", places, strict=True)}
        pits = _some_others(rng, text, places, 6)
        grid_map = _map(text, letters | {PIT: pits}, {"a": "a", "b": "b", PIT: TRAP})
        way = _way(grid_map, [*"ababab"][: min(states, LEGS)])
    machine = errands(rng, ("a", "b"), states, fits=_fits(states, way, most), others=(TRAP,))
    return _mdp(replace(grid_map, slip=_slip(rng))), machine, way


def lake(rng: np.random.Generator, size: int, states: int, most: int) -> OnMap:
    """Draw a frozen lake: a move goes astray w.p. 2/3, a hole keeps who falls in, the goal is in the far corner."""
    side = max(3, round(math.sqrt(size)))
    start, goal = (0, 0), (side - 1, side - 1)
    text = np.full((side, side), FLOOR)
    way = 0
    while way == 0:
        holes = _some_others(rng, text, (start, goal), 8)
        grid_map = _map(text, {START: [start], GOAL: [goal], WATER: holes}, {GOAL: "goal"}, ICE)
        way = _way(grid_map, [GOAL])
    way = 2 * way + states
    return _mdp(grid_map), errands(rng, ("goal",), max(1, states - 1), fits=most / way, again=False), way


def office(rng: np.random.Generator, size: int, states: int, most: int) -> OnMap:
    """Draw an office of rooms of 3 × 3 cells with a few plants: all items, in any order, are brought to the desk."""
    across = min(6, max(2, round(math.sqrt(size / 9))))
    text = _office_walls(rng, across)
    items = [f"item-{i}" for i in range(max(1, states.bit_length() - 1))]
    legend = {str(i + 1): item for i, item in enumerate(items)} | {DESK: "desk", PIT: TRAP}
    way = 0
    while way == 0:
        start, desk, *places = _spread(rng, text, 2 + len(items))
        plants = _some_others(rng, text, (start, desk, *places), 18)
        letters = {START: [start], DESK: [desk], PIT: plants}
        grid_map = _map(text, letters | {str(i + 1): [place] for i, place in enumerate(places)}, legend)
        way = _way(grid_map, [*map(str, range(1, len(items) + 1)), DESK])
    notice = float(rng.uniform(0.6, 0.95)) if rng.integers(2) else 1.0
    return _mdp(grid_map), in_any_order(tuple(items), "desk", notice=notice), way


def maze(rng: np.random.Generator, size: int, states: int, most: int) -> OnMap:
    """Draw a maze whose moves never slip, with one way between any two cells; places are visited in order."""
    side = max(3, round(math.sqrt(size)))
    text = _maze_walls(rng, side)
    places = _spread(rng, text, 4)
    letters = {letter: [place] for letter, place in zip("Sabc", places, strict=True)}
    grid_map = _map(text, letters, {name: name for name in "abc"}, STRAIGHT)
    way = _way(grid_map, [*"abcabc"][: min(states, LEGS)])
    return _mdp(grid_map), errands(rng, ("a", "b", "c"), states, fits=_fits(states, way, most), sure=True), way


def _maze_walls(rng: np.random.Generator, side: int) -> Rows:
    """Return the text of cells with thin walls between them; the doors make them a tree, drawn from the first cell."""
    text = np.full((2 * side - 1, 2 * side - 1), FLOOR)
    text[1::2], text[:, 1::2] = "-", "|"
    path, joined = [(0, 0)], {(0, 0)}
    while path:
        row, column = path[-1]
        beside = [(row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)]
        new = [(r, c) for r, c in beside if 0 <= r < side and 0 <= c < side and (r, c) not in joined]
        if not new:
            path.pop()
            continue
        there = new[int(rng.integers(len(new)))]
        text[row + there[0], column + there[1]] = DOOR
        joined.add(there)
        path.append(there)
    return text


def _office_walls(rng: np.random.Generator, across: int) -> Rows:
    """Return the text of rooms of 3 × 3 cells: thin walls between them, with a door between each two neighbours."""
    text = np.full((4 * across - 1, 4 * across - 1), FLOOR)
    text[3::4], text[:, 3::4] = "-", "|"
    for i in range(across):
        for j in range(1, across):
            upright, level = rng.integers(3, size=2).tolist()
            text[4 * i + upright, 4 * j - 1] = text[4 * j - 1, 4 * i + level] = DOOR
    return text


def _fits(states: int, way: int, most: int) -> float:
    """Return how many errands there is time for, from how long the first ones take."""
    return most * min(states, LEGS) / (2.0 * way)


def _slip(rng: np.random.Generator) -> Slip:
    aside = float(rng.uniform(0.0, 0.15))
    return 1.0 - 3.0 * aside, aside, aside, aside


def _floor(text: Rows) -> list[Cell]:
    """Return where the text has floor, row by row."""
    return [(int(r), int(c)) for r, c in np.argwhere(text == FLOOR)]


def _spread(rng: np.random.Generator, text: Rows, count: int) -> list[Cell]:
    """Draw different places."""
    floor = _floor(text)
    return [floor[i] for i in rng.permutation(len(floor))[:count].tolist()]


def _some_others(rng: np.random.Generator, text: Rows, taken: Collection[Cell], one_in: int) -> list[Cell]:
    """Draw one in so many of the places that are not taken."""
    others = [place for place in _floor(text) if place not in taken]
    return [others[i] for i in rng.permutation(len(others))[: max(1, len(others) // one_in)].tolist()]


def _map(text: Rows, places: Mapping[str, Sequence[Cell]], legend: Mapping[str, str], slip: Slip = SLIP) -> GridMap:
    """Write letters into a text and make its map."""
    text = text.copy()
    for letter, cells in places.items():
        text[tuple(zip(*cells, strict=True))] = letter
    return GridMap("\n".join(map("".join, text)), legend, slip=slip)


def _mdp(grid_map: GridMap) -> LabeledMDP:
    """Make the MDP of a map; the order of the legend, not of the cells, numbers the labels, and so what is inferred."""
    cells = [(names, grid_map.cells[grid_map.letters == letter]) for letter, names in grid_map.legend.items()]
    return grid_map.mdp([LabelRule(names, target=o) for names, where in cells for o in where.tolist()])


def _way(grid_map: GridMap, letters: Sequence[str]) -> int:
    """Return how many moves lead from the start to places in their order, around pits; 0 where there is no way."""
    total, here = 0, START
    for there in letters:
        distance = _distance(grid_map, here, there)
        if distance is None:
            return 0
        total, here = total + distance, there
    return max(1, total)


def _distance(grid_map: GridMap, start: str, goal: str) -> int | None:
    """Return the length of a shortest way from a letter to another around pits."""
    first, last = (int(grid_map.cells[grid_map.letters == letter][0]) for letter in (start, goal))
    pits = np.isin(grid_map.destinations, grid_map.cells[grid_map.letters == PIT])
    return steps_from(first, np.where(pits, np.arange(pits.shape[1]), grid_map.destinations).T).get(last)
