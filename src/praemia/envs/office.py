"""Office: errands in a building of several rooms, without breaking a plant.

The office world of the reward-machine literature, as three families. Labels are those of the cell that is *reached*.
The last event of an errand pays; after a broken plant nothing is paid.

    office-ERRAND      with the slipping moves of every grid here, and a coffee machine that works w.p. 0.8
    office-mapN-expK   five buildings and seven errands of QR-Max (Trapasso, Iocchi, Patrizi, 2026): a move goes as
                       meant with .8 and to either side with .1; one that is blocked as meant stays and does not slip
    office-jair-tK     four errands of Toro Icarte et al. (2022) in the first of these buildings; moves never slip
"""

from __future__ import annotations

from collections.abc import Collection

from praemia.envs.builtin_machines import Stages, edge_or_stay, in_stages, sequence
from praemia.envs.grid_map import GridMap
from praemia.envs.grid_text import Slip
from praemia.errors import ParameterError, unknown_name
from praemia.machines.builder import MachineBuilder
from praemia.machines.guards import exactly
from praemia.machines.machine import RewardMachine
from praemia.tasks.task import Task

LEGEND = {"c": "coffee", "m": "mail", "o": "office", "*": "plant", "A": "A", "B": "B", "C": "C", "D": "D"}
PROPOSITIONS = tuple(LEGEND.values())
COFFEE_PROB = 0.8
HORIZONS = {"coffee": 80, "mail": 120, "coffee-and-mail": 150, "patrol": 200}

MAX_STEPS, DISCOUNT = 1_000, 0.9  # of the published experiments
PUBLISHED_SLIP = (0.8, 0.1, 0.1, 0.0)
PUBLISHED_LEGEND = {
    "c": "coffee",
    "k": ("coffee", "corner"),  # the coffee that an errand tells from the others
    "m": "mail",
    "o": "office",
    "p": "plant",
    **{place: place for place in "ABCDE"},
}
MAPS = {
    0: """
k.......Ac
..........
..........
C.........
..........
..........
D........B
..........
..........
o...E....m
""",
    1: """
...|...|...|...
.B.+.p.+.p.+.C.
...|c..|...|...
-+---+---+---+-
...|...|...|...
.p.|.o.|.m.|.p.
...|...|...|...
-+-----------+-
...|...|..c|...
.AS+.p.+.p.+.D.
E..|...|...|...
""",
    2: """
Ep.|.p.|.p.|...
.B.+...+...+.D.
...|...|...|...
-+---+---+----+
p..|cp.+...|...
.o.|...|...|.p.
...|c..+...|...
-+-------+----+
...|...|p..|...
.AS|.p.+...|p..
...|.p.|m.p|...
+---+--------+-
...+pp.|...|...
...|C..+...+...
p..|...|.p.|.pp
""",
    3: """
.pE+..p+ppp+p..+.p.
.Ap+...+..p+...|.B.
...+...+...+..p|...
-+-------+----+-++-
...|...+...|...|...
.p.|m..|..c|.pp|.p.
...|ppp+.pp|...|...
-+-------+----+--+-
p..|...|...|.p.|...
..S|.p.+.p.+.p.|...
...|.p.|...|...|...
+---+-------++---+-
..p+p.c|...|..p+...
.D.|p..+...+..p|p..
...|...|.p.|...|...
+--------+---+---+-
...+...|...|...|...
.o.+.p.+...+...|..C
...|...|...|...+...
""",
    4: """
.pE+..p+ppp+p..+.pk
.A.+...+...+...|B..
...+...+...+..p|p..
-+-------+----+-++-
...|...+...|...|...
.p.|m..|...|.pp|pp.
...|ppp+.pp|...|...
-+-------+----+--+-
...|...|...|.p.|...
.pS|.p.+.p.+.p.|.p.
...|.p.|...|...|...
+---+----+--++---+-
..p+p.c|..p|..p+...
.D.|p..|...+..p|p..
...+...|.p.|...|...
+--------+---+---+-
...+...|...|...|...
.o.+.p.+.p.+.p.|.pC
...|...|...|...+...
""",
}
MAP = MAPS[1].translate(str.maketrans("BDpE", "DB*."))  # of 2018: other letters in the same building
_BOTH: Stages = ((("coffee",), ("mail",)), (("office",),))
_ROUND = sequence("A", "B", "C", "D")
ERRANDS: dict[int, Stages] = {
    0: sequence("mail", "corner", "office"),
    1: sequence("coffee", "office"),
    2: sequence("mail", "office"),
    3: _BOTH,
    4: _ROUND,
    5: _ROUND + _BOTH,
}
TWO_COFFEES = 6  # the errand of which one coffee pays more than the other
_ONLY_ON = {0: 0, TWO_COFFEES: 4}  # errand -> map: those that tell one coffee from the others
JAIR_ERRANDS = (1, 2, 3, 4)


def office(errand: str = "coffee-and-mail", horizon: int | None = None) -> Task:
    """Run errands in an office of twelve rooms, without breaking a plant.

    The office of Toro Icarte et al. (2018), with moves that slip and without *stay*; episodes start at ``S``. Bring
    ``coffee``, ``mail`` or ``coffee-and-mail`` to the office, once, for a reward of 1; or ``patrol`` the places A, B, C
    and D in this order, each round for a reward of 1. The horizon is that of ``HORIZONS`` unless it is given.

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
        probability = COFFEE_PROB if event == "coffee" else 1.0
        edge_or_stay(builder, source, exactly({event}, PROPOSITIONS), target, probability, reward=reward)
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


def office_map(map: int = 1, exp: int = 1) -> Task:
    """Run one of QR-Max's errands in one of its buildings, where moves slip.

    Examples
    --------
    >>> import praemia
    >>> praemia.envs.make("office-map1-exp5").num_machine_states
    10
    """
    _require("map", map, MAPS)
    _require("exp", exp, [*ERRANDS, TWO_COFFEES])
    if _ONLY_ON.get(exp, map) != map:
        raise ParameterError(f"exp={exp} tells one coffee from another, on map {_ONLY_ON[exp]} only; found map={map}")
    grid_map = _grid_map(map, PUBLISHED_SLIP)
    machine = _two_coffees(grid_map) if exp == TWO_COFFEES else _errand(grid_map, ERRANDS[exp])
    return Task(grid_map.mdp(), machine, MAX_STEPS, f"office-map{map}-exp{exp}", DISCOUNT, until_done=True)


def office_jair(task: int = 1) -> Task:
    """Run an errand of Toro Icarte et al. (2022) in the office, where moves never slip.

    Examples
    --------
    >>> import praemia
    >>> praemia.envs.make("office-jair-t1").num_observations
    108
    """
    _require("task", task, JAIR_ERRANDS)
    grid_map = _grid_map(1, (1.0, 0.0, 0.0, 0.0))
    machine = _errand(grid_map, ERRANDS[task])
    return Task(grid_map.mdp(), machine, MAX_STEPS, f"office-jair-t{task}", DISCOUNT, until_done=True)


def _require(name: str, number: object, numbers: Collection[int]) -> None:
    if number not in numbers:
        raise ParameterError(f"{name}={number!r}; expected one of {', '.join(map(str, numbers))}")


def _grid_map(number: int, slip: Slip) -> GridMap:
    text = MAPS[number]
    legend = {letter: names for letter, names in PUBLISHED_LEGEND.items() if letter in text}
    start = "S" if "S" in text else "k"
    return GridMap(text, legend, start=start, slip=slip, slip_when_blocked=False)


def _propositions(grid_map: GridMap) -> tuple[str, ...]:
    return tuple(sorted({name for names in grid_map.legend.values() for name in names}))


def _errand(grid_map: GridMap, stages: Stages) -> RewardMachine:
    propositions = _propositions(grid_map)
    return in_stages(stages, propositions, hazard="plant" if "plant" in propositions else None)


def _two_coffees(grid_map: GridMap) -> RewardMachine:
    """Return the machine that pays 1,000 for the coffee of the far corner and 1 for the other one."""
    builder = MachineBuilder("start", _propositions(grid_map), first_match=True)
    for state in ("start", "with-far-coffee", "with-coffee"):
        builder.edge(state, "plant", "failed")
    builder.edge("start", "corner", "with-far-coffee").edge("start", "coffee", "with-coffee")
    builder.edge("with-far-coffee", "office", "done", reward=1_000.0)
    builder.edge("with-coffee", "office", "done", reward=1.0)
    return builder.build()
