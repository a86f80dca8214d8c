"""The office benchmarks of the reward-machine literature, as they were published.

``office-mapN-expK``: five buildings and seven errands of QR-Max (Trapasso, Iocchi, Patrizi, 2026). A move goes as meant
with .8 and to either side with .1; one that is blocked as meant stays and does not slip.

``office-jair-tK``: four errands of Toro Icarte et al. (2022) in the first building (map1), where moves have no chance.

Actions are up, right, down, left. Labels are those of the cell that is reached. The last event of an errand pays; a
plant ends all errands unpaid.
"""

from __future__ import annotations

from collections.abc import Collection

from praemia.envs.errands import Stages, errand_machine, sequence
from praemia.envs.grid_kernel import Slip
from praemia.envs.grid_map import GridMap
from praemia.errors import ParameterError
from praemia.machines.builder import MachineBuilder
from praemia.machines.machine import RewardMachine
from praemia.tasks.task import Task

MAX_STEPS = 1_000
SLIP = (0.8, 0.1, 0.1, 0.0)
LEGEND = {
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
_JAIR = {1: ERRANDS[1], 2: ERRANDS[2], 3: _BOTH, 4: _ROUND}


def office_map(map: int = 1, exp: int = 1) -> Task:
    """Make a task of QR-Max's: errand ``exp`` in building ``map``, with moves that slip.

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
    grid_map = _grid_map(map, SLIP)
    machine = _two_coffees(grid_map) if exp == TWO_COFFEES else _errand(grid_map, ERRANDS[exp])
    return Task(grid_map.mdp(), machine, MAX_STEPS, f"office-map{map}-exp{exp}")


def office_jair(task: int = 1) -> Task:
    """Make a task of Toro Icarte et al. (2022): an errand without chance in the first building.

    Examples
    --------
    >>> import praemia
    >>> praemia.envs.make("office-jair-t1").num_observations
    108
    """
    _require("task", task, _JAIR)
    grid_map = _grid_map(1, (1.0, 0.0, 0.0, 0.0))
    return Task(grid_map.mdp(), _errand(grid_map, _JAIR[task]), MAX_STEPS, f"office-jair-t{task}")


def _require(name: str, number: object, known: Collection[int]) -> None:
    if number not in known:
        raise ParameterError(f"{name}={number!r}; expected one of {', '.join(map(str, known))}")


def _grid_map(number: int, slip: Slip) -> GridMap:
    text = MAPS[number]
    legend = {letter: names for letter, names in LEGEND.items() if letter in text}
    start = "S" if "S" in text else "k"
    return GridMap(text, legend, start=start, slip=slip, slip_when_blocked=False)


def _propositions(grid_map: GridMap) -> tuple[str, ...]:
    return tuple(sorted({name for names in grid_map.legend.values() for name in names}))


def _errand(grid_map: GridMap, stages: Stages) -> RewardMachine:
    propositions = _propositions(grid_map)
    return errand_machine(stages, propositions, hazard="plant" if "plant" in propositions else None)


def _two_coffees(grid_map: GridMap) -> RewardMachine:
    """Return the machine that pays 1,000 for the coffee of the far corner and 1 for the other one."""
    builder = MachineBuilder("start", _propositions(grid_map), first_match=True)
    for state in ("start", "with-far-coffee", "with-coffee"):
        builder.edge(state, "plant", "failed")
    builder.edge("start", "corner", "with-far-coffee").edge("start", "coffee", "with-coffee")
    builder.edge("with-far-coffee", "office", "done", reward=1_000.0)
    builder.edge("with-coffee", "office", "done", reward=1.0)
    return builder.build()
