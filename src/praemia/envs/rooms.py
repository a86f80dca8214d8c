"""Two rooms: patrol between the far corners of two rooms that a door joins.

An n × n grid with outer walls and one inner wall, upright in the middle, with a door in its middle; walls
are not observations. Episodes start in the corner (1, 1). Moves slip as in every grid here; there is no
*stay*. Labels are those of the cell that is being *left*: "corner-a" at (1, 1), "corner-b" at (n−2, n−2),
"door". The machine rewards corner A with 1, then corner B with 1, then asks for the door before corner A
has a reward again.
"""

from __future__ import annotations

import numpy as np

from praemia.envs.grid_map import GridMap
from praemia.errors import ParameterError, require_whole
from praemia.machines.builder import MachineBuilder
from praemia.machines.labels import LabelRule
from praemia.machines.machine import RewardMachine
from praemia.tasks.task import Task


def two_rooms(size: int = 9, horizon: int | None = None) -> Task:
    """Patrol between the far corners of two rooms that a door joins.

    The size is odd; the horizon is 6 · size unless it is given.

    Examples
    --------
    >>> import praemia
    >>> praemia.envs.two_rooms(size=9).horizon
    54
    """
    grid_map = _map(size)
    place = {name: o for o, (name,) in grid_map.labels.items()}
    mdp = grid_map.mdp([LabelRule(name, source=place[name]) for name in ("corner-a", "corner-b", "door")])
    return Task(mdp, corner_patrol(), 6 * size if horizon is None else horizon, f"rooms-{size}")


def corner_patrol() -> RewardMachine:
    """Return the machine that rewards the two corners in turn."""
    return (
        MachineBuilder(initial="to-a", propositions=("corner-a", "corner-b", "door"))
        .edge("to-a", "corner-a", "to-b", reward=1)
        .edge("to-b", "corner-b", "to-door", reward=1)
        .edge("to-door", "door", "to-a")
        .build()
    )


def _map(size: int) -> GridMap:
    require_whole("size", size, 5, 2_999)
    if size % 2 == 0:
        raise ParameterError(f"size={size}; expected an odd number, so that the door is in the middle")
    rows = np.full((size, size), "#")
    rows[1:-1, 1:-1] = "."
    rows[:, size // 2] = "#"
    rows[size // 2, size // 2], rows[1, 1], rows[-2, -2] = "DAB"
    legend = {"A": "corner-a", "B": "corner-b", "D": "door"}
    return GridMap("\n".join(map("".join, rows)), legend, start="A")
