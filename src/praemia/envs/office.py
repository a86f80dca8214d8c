"""Office: errands in a building of twelve rooms, without breaking a plant.

The office world of the reward-machine literature (Toro Icarte et al., 2018), with the slipping moves of
every grid here and without *stay*. Episodes start at ``S``. Labels are those of the cell that is *reached*.
Stepping on a plant breaks it: nothing is paid for the rest of the episode.

The tasks (``errand``): bring ``coffee``, ``mail`` or ``coffee-and-mail`` to the office, once, for a reward
of 1; or ``patrol`` the places A, B, C, D in this order, each round for a reward of 1. The coffee machine
works w.p. 0.8.
"""

from __future__ import annotations

from praemia.envs.grid_map import GridMap
from praemia.errors import unknown_name
from praemia.machines.builder import MachineBuilder
from praemia.machines.guards import only
from praemia.machines.machine import RewardMachine
from praemia.tasks.task import Task

MAP = """
...|...|...|...
.D.+.*.+.*.+.C.
...|c..|...|...
-+---+---+---+-
...|...|...|...
.*.|.o.|.m.|.*.
...|...|...|...
-+-----------+-
...|...|..c|...
.AS+.*.+.*.+.B.
...|...|...|...
"""
LEGEND = {"c": "coffee", "m": "mail", "o": "office", "*": "plant", "A": "A", "B": "B", "C": "C", "D": "D"}
PROPOSITIONS = tuple(LEGEND.values())
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
    return Task(
        GridMap(MAP, LEGEND).mdp(), machine, HORIZONS[errand] if horizon is None else horizon, f"office-{errand}"
    )


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
