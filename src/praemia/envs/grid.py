"""Grids from text: a map, what its letters mean, a machine and a horizon make a task."""

from __future__ import annotations

import warnings

from praemia.envs.grid_map import GridMap
from praemia.envs.grid_text import SLIP, Letters, Slip
from praemia.errors import PraemiaWarning
from praemia.machines.machine import RewardMachine
from praemia.tasks.reachability import unreached_text
from praemia.tasks.task import Task


def grid(
    text: str,
    *,
    machine: RewardMachine,
    horizon: int,
    legend: Letters | None = None,
    rooms: Letters | None = None,
    start: str | None = None,
    slip: float | Slip = SLIP,
    stay: bool = False,
    slip_when_blocked: bool = True,
    name: str = "grid",
) -> Task:
    """Make a task from a map.

    ``#`` is a wall and ``.`` is floor. Episodes start on ``S``; several are equally likely. A cell ``>``, ``<``, ``^``
    or ``v`` can be left in this direction only, and ``~`` not at all. A row or a column of ``|``, ``-`` and ``+`` alone
    is a line between cells: thin walls, and doors in them. Observations are the cells that are not walls, row by row,
    called ``r,c``.

    Parameters
    ----------
    text : the rows of the map, all of one length; ``praemia.envs.grid_text`` has the whole notation.
    machine, horizon : the machine, and the number of steps of an episode.
    legend : a letter -> the propositions that reaching its cell, or staying there, makes true: one name or several.
    rooms : a letter -> the propositions of the room it stands in, true in every cell of the room; walls and doors
        (``+``) separate rooms.
    start : the letter of the cells in which episodes start, in place of ``S``.
    slip : the probabilities that a move goes as intended, to the right of that, to the left of it, nowhere; or one
        number, the probability of going to a side, half of it to each. A move that is not possible stays.
    stay : whether there is a fifth action, which never slips.
    slip_when_blocked : whether a move whose intended direction is blocked can still slip to a side; otherwise it stays.

    Raises
    ------
    PraemiaError
        With the row and the column of the map, counted from 1, and what to do.

    Examples
    --------
    >>> import praemia
    >>> machine = praemia.RewardMachine.from_ltlf("F(item & X F delivery)")
    >>> text = '''
    ... S.#i
    ... ..v.
    ... .#.d
    ... '''
    >>> task = praemia.envs.grid(text, legend={"i": "item", "d": "delivery"}, machine=machine, horizon=30, slip=0.1)
    >>> task
    Task('grid': 10 observations, 4 actions, 3 machine states, horizon 30)
    >>> 0.99 < praemia.solve(task).value < 1
    True
    """
    mdp = GridMap(text, legend or {}, rooms or {}, start, slip, stay, slip_when_blocked).mdp()
    if remark := unreached_text(mdp):
        warnings.warn(remark, PraemiaWarning, stacklevel=2)
    return Task(mdp, machine, horizon, name)
