"""Craft: gather materials on a large open map and make things from them at the right places.

The tasks of Toro Icarte et al. (2022), after Andreas et al. (2017), on maps made from a seed: a square of 39 × 39 cells
with wood, grass and iron at five places each, toolsheds, workbenches, factories, bridges and gold at two each, and a
start. Moves never slip. The last event has a reward of 1, once. Tasks 2, 5, 8, 9 and 10 are those whose machines were
found; task 10, the longest, asks for wood and then a workbench, and for iron, then for a toolshed and gold.
"""

from __future__ import annotations

import numpy as np

from praemia.envs.grid_map import GridMap
from praemia.errors import require_one_of, require_whole
from praemia.machines.machine import RewardMachine
from praemia.tasks.task import Task

SIDE = 39
MAX_STEPS, DISCOUNT = 1_000, 0.9  # of the published experiments
LEGEND = {
    "a": "wood",
    "b": "toolshed",
    "c": "workbench",
    "d": "grass",
    "e": "factory",
    "f": "iron",
    "g": "bridge",
    "h": "gold",
}
PLACES = {"a": 5, "b": 2, "c": 2, "d": 5, "e": 2, "f": 5, "g": 2, "h": 2, "S": 1}
TASKS = {  # formulas about the past; the reward comes when one first holds
    2: "workbench & O wood",
    5: "factory & O wood & O iron",
    8: "workbench & O wood & O iron",
    9: "bridge & O(factory & O wood & O iron)",
    10: "gold & O(toolshed & O iron & O(workbench & O wood))",
}


def craft(seed: int = 0, task: int = 10, side: int = SIDE) -> Task:
    """Gather materials on a large open map, generated from a seed, and craft things from them.

    Examples
    --------
    >>> import praemia
    >>> praemia.envs.make("craft-0-task10").num_observations
    1521
    """
    require_whole("seed", seed, 0)
    require_whole("side", side, 6, 1_000)
    require_one_of("task", task, TASKS)
    letters = "".join(letter * count for letter, count in PLACES.items())
    text = np.full(side * side, ".")
    text[np.random.default_rng(np.random.SeedSequence(seed)).permutation(side * side)[: len(letters)]] = list(letters)
    grid_map = GridMap("\n".join(map("".join, text.reshape(side, side))), LEGEND, slip=(1.0, 0.0, 0.0, 0.0))
    machine = RewardMachine.from_ltlf(TASKS[task], propositions=LEGEND.values())
    return Task(grid_map.mdp(), machine, MAX_STEPS, f"craft-{seed}-task{task}", DISCOUNT, until_done=True)
