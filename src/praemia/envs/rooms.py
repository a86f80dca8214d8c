"""Two rooms: patrol between the far corners of two rooms that a door joins.

An n × n grid with outer walls and one inner wall, upright in the middle, with a door in its middle; walls
are not observations. Episodes start in the corner (1, 1). Moves slip as in every grid here; there is no
*stay*. Labels are those of the cell that is being *left*: "corner-a" at (1, 1), "corner-b" at (n−2, n−2),
"door". The machine pays 1 for corner A, then 1 for corner B, then asks for the door before corner A pays
again.
"""

from __future__ import annotations

from praemia.envs.grid_kernel import MOVES, Cell, Grid
from praemia.envs.pictures import Mark, Picture, grid_picture, require_drawable
from praemia.errors import ParameterError, require_whole
from praemia.machines.builder import MachineBuilder
from praemia.machines.labels import LabelRule
from praemia.machines.machine import RewardMachine
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.task import Task


def two_rooms(size: int = 9, horizon: int | None = None) -> Task:
    """Make the two-rooms patrol; the size is odd, the horizon is 6 · size unless it is given.

    Examples
    --------
    >>> import praemia
    >>> praemia.envs.two_rooms(size=9).horizon
    54
    """
    grid = _maze(size)
    labels = [LabelRule(frozenset({name}), source=grid.observation(cell)) for name, cell in _places(size).items()]
    mdp = LabeledMDP.from_entries(
        grid.num_cells,
        len(MOVES),
        *grid.entries(stay=False),
        labels=labels,
        start=grid.observation((1, 1)),
        observations=grid.names(),
        actions=MOVES,
    )
    return Task(mdp, corner_patrol(), 6 * size if horizon is None else horizon, f"rooms-{size}")


def corner_patrol() -> RewardMachine:
    """Return the machine that pays for the two corners in turn."""
    return (
        MachineBuilder(initial="to-a", propositions=("corner-a", "corner-b", "door"))
        .edge("to-a", "corner-a", "to-b", reward=1)
        .edge("to-b", "corner-b", "to-door", reward=1)
        .edge("to-door", "door", "to-a")
        .build()
    )


def _maze(size: int) -> Grid:
    require_whole("size", size, 5, 2_999)
    if size % 2 == 0:
        raise ParameterError(f"size={size}; expected an odd number, so that the door is in the middle")
    edge, middle = range(size), size // 2
    outer = [cell for i in edge for cell in ((0, i), (size - 1, i), (i, 0), (i, size - 1))]
    inner = [(r, middle) for r in edge if r != middle]
    return Grid.open(size, size, walls=outer + inner)


def _places(size: int) -> dict[str, Cell]:
    return {"corner-a": (1, 1), "corner-b": (size - 2, size - 2), "door": (size // 2, size // 2)}


def rooms_picture(size: int = 9) -> Picture:
    """Draw the two rooms."""
    require_drawable(size * size)
    marks = {
        "corner-a": Mark("A", "start", "corner A: pays 1; episodes start here"),
        "corner-b": Mark("B", "goal", "corner B: pays 1 after corner A"),
        "door": Mark("D", "waypoint", "door: to be passed before corner A pays again"),
    }
    cells = {cell: marks[name] for name, cell in _places(size).items()}
    return grid_picture(f"Two rooms, {size} × {size}", _maze(size), cells, "moves slip w.p. 0.3")
