"""Office: errands in a building of several rooms, without breaking a plant.

The office world of the reward-machine literature, as three families. Labels are those of the cell that is *reached*.
An errand is a formula about the past: it has its reward when it first holds, never after a broken plant.

    office-ERRAND      with the slipping moves of every grid here, and a coffee machine that works four times in five
    office-mapN-expK   five buildings and seven errands of QR-Max (Trapasso, Iocchi, Patrizi, 2026): a move goes as
                       meant with .8 and to either side with .1; one that is blocked as meant stays and does not slip
    office-jair-tK     four errands of Toro Icarte et al. (2022) in the first of these buildings; moves never slip
"""

from __future__ import annotations

from praemia.envs.grid_map import GridMap
from praemia.envs.grid_text import Slip
from praemia.errors import ParameterError, require_one_of, unknown_name
from praemia.machines.machine import RewardMachine
from praemia.tasks.task import Task

LEGEND = {"c": "coffee", "m": "mail", "o": "office", "*": "plant", "A": "A", "B": "B", "C": "C", "D": "D"}
COFFEE_PROB = 0.8
HORIZONS = {"coffee": 80, "mail": 120, "coffee-and-mail": 150, "patrol": 200}
UNBROKEN = "H !plant"
PATROL = "(" + " ".join(f"(!{place} & !plant)* ({place} & !plant)" for place in "ABCD") + ")+"

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
_ROUND = "D & O(C & O(B & O A))"
ERRANDS = {
    0: "office & O(corner & O mail)",
    1: "office & O coffee",
    2: "office & O mail",
    3: "office & O coffee & O mail",
    4: _ROUND,
    5: f"office & O(coffee & O({_ROUND})) & O(mail & O({_ROUND}))",
}
TWO_COFFEES = 6  # the errand of which one coffee has a higher reward than the other: the first one taken counts
FAR_COFFEE = "office & O(corner & H(coffee -> corner))"
NEAR_COFFEE = "office & O(coffee & H !corner)"
_ONLY_ON = {0: 0, TWO_COFFEES: 4}  # errand -> map: those that tell one coffee from the others
JAIR_ERRANDS = (1, 2, 3, 4)


def office(errand: str = "coffee-and-mail", horizon: int | None = None) -> Task:
    """Run errands in an office of twelve rooms, without breaking a plant.

    The office of Toro Icarte et al. (2018), with moves that slip and without *stay*; episodes start at ``S``. Bring
    ``coffee``, ``mail`` or ``coffee-and-mail`` to the office, once, for a reward of 1; or ``patrol`` the places A, B, C
    and D in this order, each round for a reward of 1. A coffee machine works with probability 0.8. The default horizon
    depends on the errand.

    Examples
    --------
    >>> import praemia
    >>> praemia.envs.office("coffee").name
    'office-coffee'
    """
    if not isinstance(errand, str) or errand not in HORIZONS:
        raise unknown_name("errand of the office", errand, HORIZONS)
    if errand == "patrol":
        machine = RewardMachine.from_regex(PATROL, pay="each", propositions=LEGEND.values())
    else:
        formula = f"{ERRANDS[list(HORIZONS).index(errand) + 1]} & {UNBROKEN}"
        machine = RewardMachine.from_ltlf(formula, propositions=LEGEND.values())
    if "coffee" in errand:
        machine = machine.with_chance({"coffee": COFFEE_PROB})
    steps = HORIZONS[errand] if horizon is None else horizon
    return Task(GridMap(MAP, LEGEND).mdp(), machine, steps, f"office-{errand}")


def office_map(map: int = 1, exp: int = 1) -> Task:
    """Run one of QR-Max's errands in one of its buildings, where moves slip.

    Examples
    --------
    >>> import praemia
    >>> praemia.envs.make("office-map1-exp5").num_machine_states
    9
    """
    require_one_of("map", map, MAPS)
    require_one_of("exp", exp, [*ERRANDS, TWO_COFFEES])
    if _ONLY_ON.get(exp, map) != map:
        raise ParameterError(f"exp={exp} tells one coffee from another, on map {_ONLY_ON[exp]} only; found map={map}")
    return _published(map, exp, PUBLISHED_SLIP, f"office-map{map}-exp{exp}")


def office_jair(task: int = 1) -> Task:
    """Run an errand of Toro Icarte et al. (2022) in the office, where moves never slip.

    Examples
    --------
    >>> import praemia
    >>> praemia.envs.make("office-jair-t1").num_observations
    108
    """
    require_one_of("task", task, JAIR_ERRANDS)
    return _published(1, task, (1.0, 0.0, 0.0, 0.0), f"office-jair-t{task}")


def _published(map: int, errand: int, slip: Slip, name: str) -> Task:
    """Make a task of the published experiments; the last event has a reward, once, and after a plant there is none."""
    legend = {letter: names for letter, names in PUBLISHED_LEGEND.items() if letter in MAPS[map]}
    start = "S" if "S" in MAPS[map] else "k"
    grid_map = GridMap(MAPS[map], legend, start=start, slip=slip, slip_when_blocked=False)
    propositions = sorted({name for names in grid_map.legend.values() for name in names})
    rewards = {FAR_COFFEE: 1_000.0, NEAR_COFFEE: 1.0} if errand == TWO_COFFEES else {ERRANDS[errand]: 1.0}
    if "plant" in propositions:
        rewards = {f"{formula} & {UNBROKEN}": reward for formula, reward in rewards.items()}
    machine = RewardMachine.from_ltlf(rewards, propositions=propositions)
    return Task(grid_map.mdp(), machine, MAX_STEPS, name, DISCOUNT, until_done=True)
