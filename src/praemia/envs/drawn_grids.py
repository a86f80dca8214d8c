"""Drawn tasks on a map: rooms with doors, grids with traps, lakes, and offices with errands of growing length."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence

import numpy as np

from praemia.envs.drawn_machines import TRAP, errands, in_any_order
from praemia.envs.grid_kernel import MOVES, SLIP, Cell, Grid, Slip
from praemia.machines.labels import LabelRule
from praemia.machines.machine import RewardMachine
from praemia.tasks.mdp import LabeledMDP

Drawn = tuple[LabeledMDP, RewardMachine, int]  # the last is how many moves the errands take if none slips
LEGS = 6  # so many errands of a machine are counted for that


def rooms(rng: np.random.Generator, size: int, states: int, most: int) -> Drawn:
    """Draw a square of about ``size`` cells, divided into four rooms with a door each; places are visited in order."""
    side = max(4, round(math.sqrt(size)))
    wall_row, wall_column = (int(rng.integers(1, side - 1)) for _ in range(2))
    walls = {(wall_row, c) for c in range(side)} | {(r, wall_column) for r in range(side)}
    halves = ((0, wall_row), (wall_row + 1, side))
    doors = {(int(rng.integers(*half)), wall_column) for half in halves}
    doors |= {(wall_row, int(rng.integers(*half))) for half in ((0, wall_column), (wall_column + 1, side))}
    grid = Grid.open(side, side, sorted(walls - doors))
    start, *places = _spread(rng, grid, 4)
    way = _round(grid, start, [places[i % 3] for i in range(min(states, LEGS))])
    machine = errands(rng, ("a", "b", "c"), states, fits=_fits(states, way, most))
    labels = [LabelRule(name, target=grid.observation(cell)) for name, cell in zip("abc", places, strict=True)]
    return _on(grid, labels, start, _slip(rng)), machine, way


def traps(rng: np.random.Generator, size: int, states: int, most: int) -> Drawn:
    """Draw an open grid in which one cell of six is a trap, after which nothing is paid."""
    side = max(3, round(math.sqrt(size)))
    grid = Grid.open(side, side)
    while True:
        start, *places = _spread(rng, grid, 3)
        others = [cell for cell in np.ndindex(side, side) if cell not in (start, *places)]
        pits = [others[i] for i in rng.permutation(len(others))[: max(1, len(others) // 6)].tolist()]
        way = _round(grid, start, [places[i % 2] for i in range(min(states, LEGS))], frozenset(pits))
        if way > 0:
            break
    labels = [LabelRule(name, target=grid.observation(cell)) for name, cell in zip("ab", places, strict=True)]
    labels += [LabelRule(TRAP, target=grid.observation(cell)) for cell in pits]
    machine = errands(rng, ("a", "b"), states, fits=_fits(states, way, most), others=(TRAP,))
    return _on(grid, labels, start, _slip(rng)), machine, way


def lake(rng: np.random.Generator, size: int, states: int, most: int) -> Drawn:
    """Draw a frozen lake: a move goes astray w.p. 2/3, a hole keeps who falls in, the goal is in the far corner."""
    side = max(3, round(math.sqrt(size)))
    grid, start, goal = Grid.open(side, side), (0, 0), (side - 1, side - 1)
    while True:
        others = [cell for cell in np.ndindex(side, side) if cell not in (start, goal)]
        holes = frozenset(others[i] for i in rng.permutation(len(others))[: max(1, len(others) // 8)].tolist())
        way = _round(grid, start, [goal], holes)
        if way > 0:
            break
    mdp = _on(grid, [LabelRule("goal", target=grid.observation(goal))], start, (1 / 3, 1 / 3, 1 / 3, 0.0), holes)
    way = 2 * way + states
    return mdp, errands(rng, ("goal",), max(1, states - 1), fits=most / way, again=False), way


def office(rng: np.random.Generator, size: int, states: int, most: int) -> Drawn:
    """Draw an office of rooms of 3 × 3 cells with a few plants: all items, in any order, are brought to the desk."""
    across = min(6, max(2, round(math.sqrt(size / 9))))
    side = 3 * across
    grid = Grid(Grid.open(side, side).cells, frozenset(_office_walls(rng, across)))
    items = tuple(f"item-{i}" for i in range(max(1, states.bit_length() - 1)))
    while True:
        start, goal, *places = _spread(rng, grid, 2 + len(items))
        others = [cell for cell in np.ndindex(side, side) if cell not in (start, goal, *places)]
        plants = [others[i] for i in rng.permutation(len(others))[: max(1, len(others) // 18)].tolist()]
        way = _round(grid, start, [*places, goal], frozenset(plants))
        if way > 0:
            break
    labels = [LabelRule(name, target=grid.observation(cell)) for name, cell in zip(items, places, strict=True)]
    labels += [LabelRule("desk", target=grid.observation(goal))]
    labels += [LabelRule(TRAP, target=grid.observation(cell)) for cell in plants]
    notice = float(rng.uniform(0.6, 0.95)) if rng.integers(2) else 1.0
    return _on(grid, labels, start, SLIP), in_any_order(items, "desk", notice=notice), way


def _office_walls(rng: np.random.Generator, across: int) -> list[frozenset[Cell]]:
    """Return the walls between rooms of 3 × 3 cells: all sides but a door between each two neighbours."""
    walls = []
    for i in range(across):
        for j in range(1, across):
            upright, flat = rng.integers(3, size=2).tolist()
            walls += [frozenset({(3 * i + k, 3 * j - 1), (3 * i + k, 3 * j)}) for k in range(3) if k != upright]
            walls += [frozenset({(3 * j - 1, 3 * i + k), (3 * j, 3 * i + k)}) for k in range(3) if k != flat]
    return walls


def _fits(states: int, way: int, most: int) -> float:
    """Return how many errands there is time for, from how long the first ones take."""
    return most * min(states, LEGS) / (2.0 * way)


def _slip(rng: np.random.Generator) -> Slip:
    aside = float(rng.uniform(0.0, 0.15))
    return 1.0 - 3.0 * aside, aside, aside, aside


def _spread(rng: np.random.Generator, grid: Grid, count: int) -> list[Cell]:
    """Draw different cells."""
    cells = [(int(r), int(c)) for r, c in np.argwhere(grid.cells >= 0)]
    return [cells[i] for i in rng.permutation(len(cells))[:count].tolist()]


def _on(
    grid: Grid,
    labels: Sequence[LabelRule],
    start: Cell,
    slip: Slip,
    holes: frozenset[Cell] = frozenset(),
) -> LabeledMDP:
    """Make the MDP of a grid; who is in a hole stays there."""
    o, a, z, probs = grid.entries(stay=False, slip=slip)
    z = np.where(np.isin(o, [grid.observation(cell) for cell in sorted(holes)]), o, z)
    return LabeledMDP.from_entries(
        grid.num_cells, len(MOVES), o, a, z, probs, labels=labels, start=grid.observation(start), actions=MOVES
    )


def _round(grid: Grid, start: Cell, places: Sequence[Cell], closed: frozenset[Cell] = frozenset()) -> int:
    """Return how many moves lead from the start to the places in their order; 0 where there is no way."""
    total, here = 0, start
    for there in places:
        found = _distance(grid, here, there, closed)
        if found is None:
            return 0
        total, here = total + found, there
    return max(1, total)


def _distance(grid: Grid, start: Cell, goal: Cell, closed: frozenset[Cell]) -> int | None:
    """Return the length of a shortest way around closed cells (breadth first)."""
    known, waiting = {start: 0}, deque([start])
    while waiting:
        here = waiting.popleft()
        if here == goal:
            return known[here]
        for r, c in ((-1, 0), (0, 1), (1, 0), (0, -1)):
            there = (here[0] + r, here[1] + c)
            inside = 0 <= there[0] < grid.cells.shape[0] and 0 <= there[1] < grid.cells.shape[1]
            walled = frozenset({here, there}) in grid.blocked
            if inside and not walled and grid.cells[there] >= 0 and there not in closed and there not in known:
                known[there] = known[here] + 1
                waiting.append(there)
    return None
