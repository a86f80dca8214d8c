"""Office: errands in a building of twelve rooms, without breaking a plant.

The office world of the reward-machine literature (Toro Icarte et al., 2018), with the slipping moves of
every grid here and without *stay*. Episodes start at ``@``. Labels are those of the cell that is *reached*.
Stepping on a plant breaks it: nothing is paid for the rest of the episode.

The tasks (``errand``): bring ``coffee``, ``mail`` or ``coffee-and-mail`` to the office, once, for a reward
of 1; or ``patrol`` the places A, B, C, D in this order, each round for a reward of 1. The coffee machine
works w.p. 0.8.
"""

from __future__ import annotations

from praemia.envs.grid_kernel import MOVES, Cell, Grid
from praemia.envs.pictures import Mark, Picture, Role, grid_picture
from praemia.errors import unknown_name
from praemia.machines.builder import MachineBuilder
from praemia.machines.guards import only
from praemia.machines.labels import LabelRule
from praemia.machines.machine import RewardMachine
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.task import Task

MAP = """
+-----+-----+-----+-----+
|. . .|. . .|. . .|. . .|
|. D . . * . . * . . C .|
|. . .|c . .|. . .|. . .|
+-- --+-- --+-- --+-- --+
|. . .|. . .|. . .|. . .|
|. * .|. o .|. m .|. * .|
|. . .|. . .|. . .|. . .|
+-- --+-----+-----+-- --+
|. . .|. . .|. . c|. . .|
|. A @ . * . . * . . B .|
|. . .|. . .|. . .|. . .|
+-----+-----+-----+-----+
"""
START = "@"
SYMBOLS: dict[str, tuple[str, Role]] = {
    "c": ("coffee", "waypoint"),
    "m": ("mail", "waypoint"),
    "o": ("office", "goal"),
    "*": ("plant", "danger"),
    "A": ("A", "plain"),
    "B": ("B", "plain"),
    "C": ("C", "plain"),
    "D": ("D", "plain"),
}
PROPOSITIONS = tuple(name for name, _ in SYMBOLS.values())
COFFEE_PROB = 0.8
HORIZONS = {"coffee": 80, "mail": 120, "coffee-and-mail": 150, "patrol": 200}


def office(errand: str = "coffee-and-mail", horizon: int | None = None) -> Task:
    """Make an office task; the horizon is that of ``HORIZONS`` unless it is given.

    Examples
    --------
    >>> import praemia
    >>> praemia.envs.office("coffee").name
    'office-coffee'
    """
    machine = office_machine(errand)
    grid, symbols = read_map(MAP)
    labels = [
        LabelRule(frozenset({SYMBOLS[symbol][0]}), target=grid.observation(cell))
        for cell, symbol in symbols.items()
        if symbol != START
    ]
    start = next(cell for cell, symbol in symbols.items() if symbol == START)
    mdp = LabeledMDP.from_entries(
        grid.num_cells,
        len(MOVES),
        *grid.entries(stay=False),
        labels=labels,
        start=grid.observation(start),
        observations=grid.names(),
        actions=MOVES,
    )
    return Task(mdp, machine, HORIZONS[errand] if horizon is None else horizon, f"office-{errand}")


def office_machine(errand: str = "coffee-and-mail") -> RewardMachine:
    """Return the machine of an errand; a broken plant leads to a state that pays nothing for ever."""
    if not isinstance(errand, str) or errand not in HORIZONS:
        raise unknown_name("errand of the office", errand, HORIZONS)
    builder = MachineBuilder(initial="start", propositions=PROPOSITIONS)
    states = []
    for source, event, target, reward in _errand_edges(errand):
        guard = only(event, PROPOSITIONS)
        probability = COFFEE_PROB if event == "coffee" else 1.0
        builder.edge(source, guard, target, probability=probability, reward=reward)
        if probability < 1.0:
            builder.edge(source, guard, source, probability=1.0 - probability)
        states.append(source)
    for state in dict.fromkeys(states):
        builder.edge(state, "plant", "broken")
    return builder.build()


def _errand_edges(errand: str) -> list[tuple[str, str, str, float]]:
    """Return the edges (source, event, target, reward) of an errand, plants apart."""
    if errand == "patrol":
        return [
            ("start", "A", "to-b", 0.0),
            ("to-b", "B", "to-c", 0.0),
            ("to-c", "C", "to-d", 0.0),
            ("to-d", "D", "start", 1.0),
        ]
    if errand == "coffee-and-mail":
        return [
            ("start", "coffee", "with-coffee", 0.0),
            ("start", "mail", "with-mail", 0.0),
            ("with-coffee", "mail", "with-both", 0.0),
            ("with-mail", "coffee", "with-both", 0.0),
            ("with-both", "office", "done", 1.0),
        ]
    return [("start", errand, f"with-{errand}", 0.0), (f"with-{errand}", "office", "done", 1.0)]


def read_map(text: str) -> tuple[Grid, dict[Cell, str]]:
    """Read a map: its grid, and the symbols on its cells other than ``.``.

    Column c is character 2c + 1 of a line; a ``|`` after it is a wall. A line that starts with ``+`` lies
    between two rows and has a ``-`` where there is a wall.
    """
    lines = text.strip().splitlines()
    rows = [line for line in lines if line.startswith("|")]
    columns = len(rows[0]) // 2
    blocked: set[frozenset[Cell]] = set()
    symbols: dict[Cell, str] = {}
    r = -1
    for line in lines:
        if line.startswith("+"):
            blocked |= {frozenset({(r, c), (r + 1, c)}) for c in range(columns) if line[2 * c + 1] == "-"}
            continue
        r += 1
        blocked |= {frozenset({(r, c), (r, c + 1)}) for c in range(columns) if line[2 * c + 2] == "|"}
        symbols |= {(r, c): line[2 * c + 1] for c in range(columns) if line[2 * c + 1] != "."}
    return Grid(Grid.open(len(rows), columns).cells, frozenset(blocked)), symbols


def office_picture(errand: str = "coffee-and-mail") -> Picture:
    """Draw the building."""
    grid, symbols = read_map(MAP)
    meanings = {"coffee": "coffee machine, works w.p. 0.8", "plant": "plant: once one is broken, nothing pays"}
    places = {
        symbol: Mark(symbol, role, meanings.get(name, name if len(name) > 1 else ""))
        for symbol, (name, role) in SYMBOLS.items()
    }
    places[START] = Mark("S", "start", "episodes start here")
    marks = {cell: places[symbol] for cell, symbol in symbols.items()}
    return grid_picture(f"Office: {errand}", grid, marks, "moves slip w.p. 0.3; patrol: A, B, C, D in turn")
