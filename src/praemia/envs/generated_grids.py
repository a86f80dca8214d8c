"""Generated tasks on a map: rooms, grids with traps, lakes and mazes.

Each is a function of a generator, the number of cells and the number of machine states.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from praemia.envs.generated_models import (
    OBSERVATIONS,
    STATES,
    STEPS,
    TRAP,
    Generated,
    Kind,
    between,
    errands,
    steps_from,
    within,
)
from praemia.envs.grid_map import GridMap
from praemia.envs.grid_text import DOOR, FLOOR, START, WALL, WATER, Cell

Rows = NDArray[np.str_]
OnMap: TypeAlias = Generated  # in place of the horizon, how many moves the errands take if none slips
LEGS = 6  # of the errands of a machine, these are counted for that
PIT, GOAL = "t", "g"


def map_kind(sample: Callable[[np.random.Generator, int, int], OnMap], smallest: int) -> Kind:
    """Return the kind of tasks whose map ``sample`` makes, of at least ``smallest`` cells."""

    def sample_task(rng: np.random.Generator) -> Generated:
        size, states = between(rng, smallest, OBSERVATIONS[1]), between(rng, *STATES)
        mdp, machine, way = sample(rng, size, states)
        return mdp, machine, within(way * rng.uniform(1.5, 3.0))

    return sample_task


def _floor(side: float) -> Rows:
    return np.full((round(side), round(side)), FLOOR)


def rooms(rng: np.random.Generator, size: int, states: int) -> OnMap:
    """Sample a square of about ``size`` cells, divided into four rooms with a door each; visit places in order."""
    text = _floor(math.sqrt(size))
    side = len(text)
    row, column = (int(rng.integers(1, side - 1)) for _ in range(2))
    text[row], text[:, column] = WALL, WALL
    for half in ((0, row), (row + 1, side)):
        text[int(rng.integers(*half)), column] = FLOOR
    for half in ((0, column), (column + 1, side)):
        text[row, int(rng.integers(*half))] = FLOOR
    return _tour(rng, text, "abc", states)


def traps(rng: np.random.Generator, size: int, states: int) -> OnMap:
    """Sample an open grid in which one cell of six is a trap, after which there is no reward."""
    return _tour(rng, _floor(math.sqrt(size)), "ab", states, one_in=6)


def lake(rng: np.random.Generator, size: int, states: int) -> OnMap:
    """Sample a frozen lake: a move slips with probability 2/3, a hole is never left, the goal is in the far corner."""
    text = _floor(math.sqrt(size))
    corners = [(0, 0), (len(text) - 1, len(text) - 1)]
    grid_map, way = _place(rng, text, START + GOAL, {GOAL: "goal"}, GOAL, one_in=8, pit=WATER, places=corners)
    way = 2 * way + states
    machine = errands(rng, ("goal",), max(1, states - 1), fits=STEPS[1] / way, again=False)
    return replace(grid_map, slip=(1 / 3, 1 / 3, 1 / 3, 0.0)).mdp(), machine, way


def maze(rng: np.random.Generator, size: int, states: int) -> OnMap:
    """Sample a maze whose moves never slip, with one way between any two cells; visit places in order."""
    side = round(math.sqrt(size))
    text = _floor(2 * side - 1)
    text[1::2], text[:, 1::2] = "-", "|"
    path, joined = [(0, 0)], {(0, 0)}
    while path:  # the doors make the cells a tree
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
    return _tour(rng, text, "abc", states, slips=False)


def _tour(
    rng: np.random.Generator,
    text: Rows,
    letters: str,
    states: int,
    *,
    one_in: int = 0,
    slips: bool = True,
) -> OnMap:
    """Sample places, pits and a machine that asks for the places in order."""
    legend = {letter: letter for letter in letters} | ({PIT: TRAP} if one_in else {})
    order = (letters * LEGS)[: min(states, LEGS)]
    grid_map, way = _place(rng, text, START + letters, legend, order, one_in=one_in)
    fits, others = STEPS[1] * len(order) / (2.0 * way), (TRAP,) if one_in else ()
    machine = errands(rng, tuple(letters), states, fits=fits, others=others, sure=not slips)
    aside = float(rng.uniform(0.0, 0.15)) if slips else 0.0
    return replace(grid_map, slip=(1.0 - 3.0 * aside, aside, aside, aside)).mdp(), machine, way


def _place(
    rng: np.random.Generator,
    text: Rows,
    letters: str,
    legend: Mapping[str, str],
    order: str,
    *,
    one_in: int = 0,
    pit: str = PIT,
    places: Sequence[Cell] = (),
) -> tuple[GridMap, int]:
    """Put letters on places, and pits on one in so many others, until there is a way from the start in an order."""
    floor = [(int(r), int(c)) for r, c in np.argwhere(text == FLOOR)]
    while True:
        rows, taken = text.copy(), places or [floor[i] for i in rng.permutation(len(floor))[: len(letters)].tolist()]
        for letter, cell in zip(letters, taken, strict=True):
            rows[cell] = letter
        others = [cell for cell in floor if cell not in taken]
        for i in rng.permutation(len(others))[: max(1, len(others) // one_in)].tolist() if one_in else ():
            rows[others[i]] = pit
        grid_map = GridMap("\n".join(map("".join, rows)), legend)
        lengths = [_distance(grid_map, *leg) for leg in zip(START + order, order, strict=False)]
        if None not in lengths:
            return grid_map, max(1, sum(filter(None, lengths)))


def _distance(grid_map: GridMap, start: str, goal: str) -> int | None:
    """Return the length of a shortest way from a letter to another around pits."""
    first, last = (int(grid_map.cells[grid_map.letters == letter][0]) for letter in (start, goal))
    pits = np.isin(grid_map.destinations, grid_map.cells[grid_map.letters == PIT])
    return steps_from(first, np.where(pits, np.arange(pits.shape[1]), grid_map.destinations).T).get(last)
