"""Warehouse: fetch an item from one corner of a grid and deliver it to another.

An n × n grid; episodes start at the charging station (0, 0), the item is at (0, n−1), the delivery point at
(n−1, n−1). Moves slip as in every grid here; *stay* is sure. Labels are those of the cell that is *reached*.
The item is ready with probability 0.8 and the delivery point is free with probability 0.9; delivering has a reward of
1, once.
"""

from __future__ import annotations

from praemia.envs.grid_map import GridMap
from praemia.errors import require_whole
from praemia.machines.builder import MachineBuilder
from praemia.machines.machine import RewardMachine
from praemia.tasks.task import Task


def warehouse(size: int = 4, horizon: int | None = None) -> Task:
    """Fetch an item from one corner of a grid and deliver it to another.

    The horizon is 3 · size unless it is given.

    Examples
    --------
    >>> import praemia
    >>> praemia.envs.warehouse(size=4)
    Task('warehouse-4': 16 observations, 5 actions, 3 machine states, horizon 12)
    """
    require_whole("size", size, 2, 3_000)
    rows = ["S" + "." * (size - 2) + "I", *["." * size] * (size - 2), "." * (size - 1) + "D"]
    grid_map = GridMap("\n".join(rows), {"I": "item", "D": "delivery"}, stay=True)
    return Task(grid_map.mdp(), fetch_and_deliver(), 3 * size if horizon is None else horizon, f"warehouse-{size}")


def fetch_and_deliver() -> RewardMachine:
    """Return the machine of the paper's warehouse."""
    return (
        MachineBuilder(initial="empty", propositions=("item", "delivery"))
        .edge("empty", "item", "loaded", probability=0.8)
        .edge("empty", "item", "empty", probability=0.2)
        .edge("loaded", "delivery", "done", probability=0.9, reward=1)
        .edge("loaded", "delivery", "loaded", probability=0.1)
        .build()
    )
