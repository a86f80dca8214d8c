"""Tasks generated from a seed, of nine kinds, to compare learners on; and the maps of some of them.

``generated-lake-7`` is the lake of seed 7. Everything about a task is sampled: its sizes, its model or map, its machine
and the horizon.

    sparse   a random model, two or three successors         rooms   four rooms with doors, places in order
    dense    a random model, every observation can follow    traps   a grid with traps, after which there is no reward
    actions  a random model, many actions                    lake    ice: moves slip, a hole is never left
    chain    swim against a current                          maze    one way between any two cells, no slips
    lock     at each place one action leads on

Sizes are uniform on a log scale: O from 5 to 81, M from 1 to 10, H from 5 to 50.
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
    chain,
    errands,
    lock,
    random_kind,
    steps_from,
    within,
)
from praemia.envs.grid_map import GridMap
from praemia.envs.grid_text import DOOR, FLOOR, START, WALL, WATER, Cell
from praemia.errors import require_whole, unknown_name
from praemia.tasks.task import Task

Rows = NDArray[np.str_]
OnMap: TypeAlias = Generated  # in place of the horizon, how many moves the errands take if none slips
LEGS = 6  # of the errands of a machine, these are counted for that
PIT, GOAL = "t", "g"
STREAM = 4217  # keeps these samples apart from those of other generators


def map_kind(sample: Callable[[np.random.Generator, int, int], OnMap], smallest: int) -> Kind:
    """Return the kind of tasks whose map ``sample`` makes, a square of at least about ``smallest`` cells."""

    def sample_task(rng: np.random.Generator) -> Generated:
        side, states = round(math.sqrt(between(rng, smallest, OBSERVATIONS[1]))), between(rng, *STATES)
        mdp, machine, way = sample(rng, side, states)
        return mdp, machine, within(way * rng.uniform(1.5, 3.0))

    return sample_task


def _floor(side: int) -> Rows:
    return np.full((side, side), FLOOR)


def rooms(rng: np.random.Generator, side: int, states: int) -> OnMap:
    """Sample a square divided into four rooms with a door each; visit places in order."""
    text = _floor(side)
    row, column = (int(rng.integers(1, side - 1)) for _ in range(2))
    text[row], text[:, column] = WALL, WALL
    for half in ((0, row), (row + 1, side)):
        text[int(rng.integers(*half)), column] = FLOOR
    for half in ((0, column), (column + 1, side)):
        text[row, int(rng.integers(*half))] = FLOOR
    return _tour(rng, text, "abc", states)


def traps(rng: np.random.Generator, side: int, states: int) -> OnMap:
    """Sample an open grid in which one cell of six is a trap, after which there is no reward."""
    return _tour(rng, _floor(side), "ab", states, one_in=6)


def lake(rng: np.random.Generator, side: int, states: int) -> OnMap:
    """Sample a frozen lake: a move slips with probability 2/3, a hole is never left, the goal is in the far corner."""
    corners = [(0, 0), (side - 1, side - 1)]
    grid_map, way = _place(rng, _floor(side), START + GOAL, {GOAL: "goal"}, GOAL, one_in=8, pit=WATER, places=corners)
    way = 2 * way + states
    machine = errands(rng, ("goal",), max(1, states - 1), fits=STEPS[1] / way, again=False)
    return replace(grid_map, slip=(1 / 3, 1 / 3, 1 / 3, 0.0)).mdp(), machine, way


def maze(rng: np.random.Generator, side: int, states: int) -> OnMap:
    """Sample a maze whose moves never slip, with one way between any two cells; visit places in order."""
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
    rng: np.random.Generator, text: Rows, letters: str, states: int, *, one_in: int = 0, slips: bool = True
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


KINDS: dict[str, Kind] = {
    "sparse": random_kind(60, (2, 5), 3, 1.0),
    "dense": random_kind(40, (2, 4), None, 0.3),
    "actions": random_kind(20, (8, 24), 4, 0.5),
    "chain": chain,
    "lock": lock,
    "rooms": map_kind(rooms, 16),
    "traps": map_kind(traps, 9),
    "lake": map_kind(lake, 9),
    "maze": map_kind(maze, 9),
}


def generated_task(kind: str = "sparse", seed: int = 0, horizon: int | None = None) -> Task:
    """Generate a task of one of nine kinds; the horizon is sampled with it unless it is given.

    Examples
    --------
    >>> import praemia
    >>> praemia.envs.generated_task("lake", seed=7).name
    'generated-lake-7'
    """
    if not isinstance(kind, str) or kind not in KINDS:
        raise unknown_name("kind of generated task", kind, KINDS)
    require_whole("seed", seed, 0, 2**63 - 1)
    mdp, machine, steps = KINDS[kind](np.random.default_rng([STREAM, list(KINDS).index(kind), 0, seed]))
    return Task(mdp, machine, steps if horizon is None else horizon, f"generated-{kind}-{seed}")
