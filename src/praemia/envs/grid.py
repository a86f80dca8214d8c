"""Grids from text: a map, what its letters mean, a machine and a horizon make a task."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field

import numpy as np

from praemia.envs.black_box import require_machine
from praemia.envs.grid_kernel import MOVES, SLIP, STAY, Slip
from praemia.envs.grid_map import ARROWS, DOOR, GridMap, Letters
from praemia.envs.pictures import Mark, Picture, Role, grid_picture
from praemia.errors import ModelError, PraemiaWarning, did_you_mean
from praemia.machines.labels import Label, LabelRule
from praemia.machines.machine import RewardMachine
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.reachability import reachable_observations
from praemia.tasks.task import Task

SHOWN_CELLS = 5


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
    name: str = "grid",
) -> Task:
    """Make a task from a map.

    ``#`` is a wall and ``.`` is floor. Episodes start on ``S``; with several, each is as likely. A cell ``>``, ``<``,
    ``^`` or ``v`` can be left in this direction only. Observations are the cells that are not walls, row by row, called
    ``r,c``.

    Parameters
    ----------
    text : the rows of the map, all of one length.
    machine, horizon : what is paid, and the number of steps of an episode.
    legend : a letter -> the propositions that reaching its cell, or staying there, makes true: one name or several.
    rooms : a letter -> the propositions of the room it stands in, true in every cell of the room; walls and doors
        (``+``) separate rooms.
    start : the letter of the cells in which episodes start, in place of ``S``.
    slip : the probabilities with which a move goes as meant, to the right of that, to the left of it, nowhere; or one
        number, the probability of going to a side, half of it to each. A move that is not possible stays.
    stay : whether there is a fifth action, which never slips.

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
    drawn = GridMap(text, legend or {}, rooms or {}, start, slip, stay)
    require_known(drawn, machine)
    mdp = GridMDP.of(drawn)
    missing = np.flatnonzero(~reachable_observations(mdp)).tolist()
    if missing:
        shown = ", ".join(map(mdp.observation_name, missing[:SHOWN_CELLS])) + (", …" if missing[SHOWN_CELLS:] else "")
        count = f"{len(missing):,} of the map's {mdp.num_observations:,} cells"
        warnings.warn(f"{count} cannot be reached from the start: {shown}", PraemiaWarning, stacklevel=2)
    return Task(mdp, machine, horizon, name)


@dataclass(frozen=True, eq=False, repr=False)
class GridMDP(LabeledMDP):
    """The labelled MDP of a map, which knows the map: pictures and task files are made from it."""

    map: GridMap = field(init=False)

    @classmethod
    def of(cls, drawn: GridMap) -> GridMDP:
        """Make the MDP of a map."""
        cells, actions = drawn.grid, (*MOVES, STAY) if drawn.stay else MOVES
        starts = [cells.observation(cell) for cell in drawn.starts]
        mdp = cls.from_entries(
            cells.num_cells,
            len(actions),
            *cells.entries(stay=drawn.stay, slip=drawn.slip),
            labels=[LabelRule(names, target=cells.observation(cell)) for cell, names in drawn.labels.items()],
            start={o: 1.0 / len(starts) for o in starts},
            observations=cells.names(),
            actions=actions,
        )
        object.__setattr__(mdp, "map", drawn)
        return mdp


def require_known(drawn: GridMap, machine: RewardMachine) -> None:
    """Refuse a map whose letters stand for propositions that the machine does not have."""
    require_machine(machine)
    for key in ("legend", "rooms"):
        for letter, names in getattr(drawn, key).items():
            for name in names:
                if name not in machine.propositions:
                    raise ModelError(
                        f"{key}: the letter {letter!r} stands for {name!r}, which is not one of the machine's "
                        f"propositions{did_you_mean(name, machine.propositions)}"
                    )


def map_picture(task: Task, drawn: GridMap) -> Picture:
    """Draw a task's map; the colour of a letter says what its label does to the machine."""
    marks = {a: Mark(a, _role(task, frozenset(names)), ", ".join(names)) for a, names in drawn.legend.items()}
    marks |= {a: Mark(a, "plain", f"room: {', '.join(names)}") for a, names in drawn.rooms.items()}
    others = {DOOR: "door"} | {arrow: f"can be left {_WAYS[move]} only" for arrow, move in ARROWS.items()}
    marks |= {a: Mark(a, "plain", meaning) for a, meaning in others.items() if not drawn.explains(a)}
    if drawn.start not in marks and len(drawn.starts) < drawn.grid.num_cells / 2:
        marks[str(drawn.start)] = Mark(str(drawn.start), "start", "episodes start here")
    marks |= drawn.marks
    letters = {(r, c): str(drawn.letters[r, c]) for r, c in np.argwhere(drawn.grid.cells >= 0).tolist()}
    placed = {cell: marks[letter] for cell, letter in letters.items() if letter in marks}
    slips = 1.0 - drawn.slip[0]
    return grid_picture(drawn.title or task.name, drawn.grid, placed, f"moves slip w.p. {slips:.3g}" if slips else "")


_WAYS = {"up": "upwards", "right": "to the right", "down": "downwards", "left": "to the left"}


def _role(task: Task, label: Label) -> Role:
    """Tell what a label does: pay, harm (pay less than 0, or end all hope unpaid), move the machine, or nothing."""
    machine = task.machine
    role: Role = "plain"
    for state in machine.states:
        for outcome in machine.outcomes(state, label):
            if outcome.reward.mean > 0.0:
                return "goal"
            if outcome.reward.mean < 0.0 or (outcome.target != state and is_over(task, outcome.target)):
                role = "danger"
            elif outcome.target != state and role == "plain":
                role = "waypoint"
    return role


def is_over(task: Task, state: str) -> bool:
    """Tell whether a machine state is never left and pays nothing, on the labels of the task."""
    outcomes = (out for label in task.mdp.label_sets for out in task.machine.outcomes(state, label))
    return all(out.target == state and out.reward.is_nothing for out in outcomes)
