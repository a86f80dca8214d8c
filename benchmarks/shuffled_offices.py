"""Offices to choose constants on: QR-Max's buildings with everything in them moved to cells sampled by a seed."""

from __future__ import annotations

import sys

import numpy as np

import praemia.envs  # noqa: F401
from praemia import RewardMachine, Task, solve
from praemia.envs.grid_map import GridMap

office = sys.modules["praemia.envs.office"]  # the package has a function of this name
SETTINGS = ((1, 3), (1, 4), (2, 1), (2, 3), (1, 1), (1, 2))  # building and errand
HORIZON, LEAST_VALUE, MOST_DRAWS = 150, 1e-6, 100


def shuffled(text: str, rng: np.random.Generator) -> str:
    """Move what is in the cells of a map to other cells; walls and doors stay."""
    rows = [list(row) for row in text.strip("\n").split("\n")]
    cells = [(y, x) for y, row in enumerate(rows) for x, character in enumerate(row) if character not in "|-+"]
    letters = [rows[y][x] for y, x in cells]
    for (y, x), place in zip(cells, rng.permutation(len(cells)), strict=True):
        rows[y][x] = letters[place]
    return "\n".join(map("".join, rows))


def shuffled_offices(seed: int = 500) -> list[Task]:
    """Return a task for each setting, with its discount of .9; sampled again where next to nothing can be earned."""
    tasks = []
    for number, (building, errand) in enumerate(SETTINGS):
        rng = np.random.default_rng((seed, number))
        for _ in range(MOST_DRAWS):
            text = shuffled(office.MAPS[building], rng)
            legend = {letter: names for letter, names in office.PUBLISHED_LEGEND.items() if letter in text}
            grid = GridMap(text, legend, start="S", slip=office.PUBLISHED_SLIP, slip_when_blocked=False)
            propositions = sorted({name for names in grid.legend.values() for name in names})
            formula = f"{office.ERRANDS[errand]} & {office.UNBROKEN}"
            machine = RewardMachine.from_ltlf({formula: 1.0}, propositions=propositions)
            name = f"shuffled-map{building}-exp{errand}"
            task = Task(grid.mdp(), machine, HORIZON, name, office.DISCOUNT, until_done=True)
            if solve(task, keep_values=False).value > LEAST_VALUE:
                tasks.append(task)
                break
    return tasks
