"""The learners and the test of QR-Max's experiments, as their released code plays them, compiled.

praemia's own learners differ from it in details that `published_steps.py` tells apart, one at a time: `Protocol` holds
them, and its defaults are those of the released code (Alee08/multiagent-rl-rm, 0.3.0; this is written anew).

A table is Q(o, m, a) over the machine states that go on, in the order of the task, and one more that is done. Actions
are in the released order, which decides between equals: down, up, left, right.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from praemia import Task, solve

ACTIONS = ("down", "up", "left", "right")
SIDES = np.array([[2, 3], [2, 3], [0, 1], [0, 1]])  # of each action: what it may slip to
METHODS = ("Q-learning", "CRM", "QR-Max", "QR-Max, machine known")
Q_LEARNING, CRM, QR_MAX, QR_MAX_TOLD = range(4)
EPSILON, INITIAL = 0.1, 2.0
TESTED, FIRST_TEST = 100, 10_000  # episodes of a test, and the seed of their first one
AS_MEANT, TO_FIRST_SIDE = 0.8, 0.9
NOTHING = 1e-100  # value iteration goes on from here at 0
NEVER, NORMAL_QUANTILE = -1, 1.6448536269514722


class Protocol(NamedTuple):
    """What the released code does, other than praemia's suite.

    Attributes
    ----------
    horizon : the steps after which an episode is cut.
    same_numbers : both policies are tested with the same random numbers, the same ones in every test and run.
    test_shorter : a test is also made when a paid episode has shown a shorter way, if there were no slips.
    optimism : an unknown pair is worth this many times 1/(1 − γ); 0: as many as there are machine states.
    tolerance : value iteration starts from the last table, and stops at this relative change.
    stop_counting : visits of a pair that is known are not counted.
    by_triple : a pair is known in a machine state only once it was tried there, too.
    threshold, rate : of QR-Max; of Q-learning and CRM.
    """

    horizon: int = 1_001
    same_numbers: bool = True
    test_shorter: bool = True
    optimism: float = 0.0
    tolerance: float = 0.01
    stop_counting: bool = True
    by_triple: bool = True
    threshold: int = 39
    rate: float = 0.1
    test_every: int = 1_000


class World(NamedTuple):
    """A task of the office as arrays; M is the number of machine states that go on.

    Attributes
    ----------
    reached : int64[4, O], where a move leads that does not slip.
    moves, pays : [M, O], the machine's next state where a cell is reached, M for done, and its reward.
    plants : bool[O], the cells that end an episode. best : int64[O, M + 1], an optimal policy.
    """

    reached: NDArray[np.int64]
    moves: NDArray[np.int64]
    pays: NDArray[np.float64]
    plants: NDArray[np.bool_]
    best: NDArray[np.int64]
    start: int
    discount: float


def world_of(task: Task) -> World:
    """Return the arrays of a task of the office."""
    mdp, machine = task.mdp, task.machine
    order = [(mdp.action_names or ACTIONS).index(name) for name in ACTIONS]
    reached = np.argmax(mdp.to_dense(), axis=2).T[order]  # a move goes as meant more often than not
    cells = dict(zip(mdp.targets.tolist(), mdp.labels.tolist(), strict=True))
    going_on = [state for m, state in enumerate(machine.states) if m not in task.done_states]
    number = {state: i for i, state in enumerate(going_on)}
    moves, pays = np.zeros((len(going_on), len(cells)), dtype=np.int64), np.zeros((len(going_on), len(cells)))
    plants = np.zeros(len(cells), dtype=bool)
    for cell, label in cells.items():
        for m, state in enumerate(going_on):
            (outcome,) = machine.outcomes(state, mdp.label_sets[label])
            moves[m, cell], pays[m, cell] = number.get(outcome.target, len(going_on)), outcome.reward.mean
            plants[cell] |= moves[m, cell] == len(going_on) and pays[m, cell] == 0.0
    policy = solve(task.with_horizon(None)).policy
    best = np.zeros((len(cells), len(going_on) + 1), dtype=np.int64)
    best[:, :-1] = np.argsort(order)[policy[[machine.states.index(state) for state in going_on]]].T
    return World(reached, moves, pays, plants, best, task.starts[0], task.discount)


def steps_to_pass(world: World, method: int, protocol: Protocol, num_steps: int, seed: int) -> float:
    """Return after how many steps a run passes the test for the first time; infinite if it does not."""
    shape = (TESTED, protocol.horizon)
    rng = np.random.default_rng(np.random.SeedSequence((seed, method)))
    numbers = np.stack([np.random.default_rng(FIRST_TEST + i).random(shape[1]) for i in range(TESTED)])
    if not protocol.same_numbers:
        numbers = rng.random(shape)
    steps = _run(world, method, protocol, num_steps, numbers, rng)
    return np.inf if steps == NEVER else float(steps)


# --- the world ---


@njit(cache=True)
def _moved(world: Any, o: int, a: int, number: float) -> int:
    """Return where a move leads; one that is blocked as meant stays, and does not slip."""
    if world.reached[a, o] == o or number < AS_MEANT:
        return int(world.reached[a, o])
    return int(world.reached[SIDES[a, 0 if number < TO_FIRST_SIDE else 1], o])


@njit(cache=True)
def _return(world: Any, policy: Any, horizon: int, numbers: Any) -> tuple[float, int]:
    """Play an episode; return what it pays, discounted, and its steps, −1 unless the machine is done."""
    o, m, drawn, worth = world.start, 0, 0, 1.0
    for step in range(horizon):
        a = policy[o, m]
        blocked = world.reached[a, o] == o
        o = _moved(world, o, a, numbers[drawn])
        drawn += 0 if blocked else 1  # a move that is blocked draws no number
        if world.plants[o]:
            return 0.0, NEVER
        paid, m = world.pays[m, o], world.moves[m, o]
        if m == world.moves.shape[0]:
            return worth * paid, step + 1
        worth *= world.discount
    return 0.0, NEVER


@njit(cache=True)
def _returns(world: Any, policy: Any, numbers: Any) -> Any:
    earned = np.empty(numbers.shape[0])
    for i in range(numbers.shape[0]):
        earned[i] = _return(world, policy, numbers.shape[1], numbers[i])[0]
    return earned


@njit(cache=True)
def _passes(first: Any, second: Any) -> bool:
    """Return whether Welch's test has p > .1, by the quantile of t with many degrees of freedom."""
    size, z = len(first), NORMAL_QUANTILE
    parts = (first.var() / (size - 1), second.var() / (size - 1))
    total = parts[0] + parts[1]
    if total == 0.0:
        return False
    degrees = total**2 * (size - 1) / (parts[0] ** 2 + parts[1] ** 2)
    quantile = z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)
    return bool(abs(first.mean() - second.mean()) < quantile * np.sqrt(total))


@njit(cache=True)
def _greedy(table: Any) -> Any:
    policy = np.empty(table.shape[:2], dtype=np.int64)
    for o in range(table.shape[0]):
        for m in range(table.shape[1]):
            policy[o, m] = np.argmax(table[o, m])
    return policy


# --- what is learned ---


class Known(NamedTuple):
    """What QR-Max has counted: visits of (o, a), of their targets and of (o, m, a), and what is known."""

    visits: NDArray[np.int64]
    targets: NDArray[np.int64]
    triples: NDArray[np.int64]
    pairs: NDArray[np.bool_]
    known: NDArray[np.bool_]
    machine: NDArray[np.bool_]
    final: NDArray[np.bool_]


@njit(cache=True)
def _machine_is_known(world: Any, known: Any, o: int, m: int, a: int) -> bool:
    for move in range(-1, 4):
        target = o if move < 0 else world.reached[move, o]
        if known.targets[o, a, target] > 0 and not known.machine[m, target]:
            return False
    return True


@njit(cache=True)
def _count(world: Any, known: Any, protocol: Any, o: int, m: int, a: int, target: int) -> bool:
    """Count a step for a machine state; return whether something has become known by it."""
    is_new = False
    known.triples[o, m, a] += 1
    if not (known.pairs[o, a] and protocol.stop_counting):
        known.visits[o, a] += 1
        known.targets[o, a, target] += 1
    if protocol.by_triple and not known.known[o, m, a]:
        enough = known.triples[o, m, a] >= protocol.threshold
        if enough or (known.pairs[o, a] and _machine_is_known(world, known, o, m, a)):
            known.known[o, m, a] = is_new = True
    if not known.pairs[o, a] and known.visits[o, a] >= protocol.threshold:
        known.pairs[o, a] = is_new = True
    if not known.machine[m, target]:
        known.machine[m, target] = is_new = True
    return is_new


@njit(cache=True)
def _is_known(world: Any, protocol: Any, known: Any, o: int, m: int, a: int) -> bool:
    if not known.pairs[o, a] or known.final[o, m]:
        return False
    return bool(known.known[o, m, a]) if protocol.by_triple else _machine_is_known(world, known, o, m, a)


@njit(cache=True)
def _expected(world: Any, known: Any, best: Any, o: int, m: int, a: int) -> float:
    """Return r + γ·V of a known pair, by the shares of its targets: its own cell, and those beside it."""
    value = 0.0
    for move in range(-1, 4):
        target = o if move < 0 else world.reached[move, o]
        if known.targets[o, a, target] == 0 or not known.machine[m, target] or (move >= 0 and target == o):
            continue
        later = world.pays[m, target] + world.discount * best[target, world.moves[m, target]]
        value += known.targets[o, a, target] / known.visits[o, a] * later
    return value if value > NOTHING else 0.0


@njit(cache=True)
def _iterate(world: Any, protocol: Any, known: Any, table: Any) -> None:
    """Repeat value iteration on what is known until no entry changes much."""
    num_states, change = world.moves.shape[0], 1.0
    for o in range(table.shape[0]):
        for m in range(table.shape[1]):
            if known.final[o, m]:
                table[o, m] = 0.0
    best = np.empty(table.shape[:2])
    while change > protocol.tolerance:
        change = 0.0
        for o in range(table.shape[0]):
            for m in range(table.shape[1]):
                best[o, m] = table[o, m].max()
        for o in range(table.shape[0]):
            for m in range(num_states):
                for a in range(table.shape[2]):
                    if _is_known(world, protocol, known, o, m, a):
                        value = _expected(world, known, best, o, m, a)
                        most = max(value, table[o, m, a])
                        change = max(change, abs(value - table[o, m, a]) / (most if most > 0.0 else 1.0))
                        table[o, m, a] = value


@njit(cache=True)
def _count_all(world: Any, method: int, protocol: Any, known: Any, o: int, m: int, a: int, target: int) -> bool:
    """Count a step, with the machine known once more for every machine state; return whether something is new."""
    num_states, plant = world.moves.shape[0], world.plants[target]
    known.final[target, world.moves[m, target]] |= plant or world.moves[m, target] == num_states
    is_new = _count(world, known, protocol, o, m, a, target)
    if method == QR_MAX_TOLD:
        for state in range(num_states):
            known.final[target, world.moves[state, target]] |= plant or world.moves[state, target] == num_states
            is_new |= _count(world, known, protocol, o, state, a, target)
    return is_new


@njit(cache=True)
def _update(world: Any, rate: float, table: Any, o: int, m: int, a: int, target: int) -> None:
    m_next = world.moves[m, target]
    is_over = world.plants[target] or m_next == world.moves.shape[0]
    later = 0.0 if is_over else table[target, m_next].max()
    table[o, m, a] += rate * (world.pays[m, target] + world.discount * later - table[o, m, a])


@njit(cache=True)
def _chosen(table: Any, method: int, o: int, m: int, rng: Any) -> int:
    """Return what is played: ε-greedy with equals drawn; QR-Max takes the first best, but draws if all are equal."""
    row = table[o, m]
    if method <= CRM and rng.random() < EPSILON:
        return int(rng.integers(0, len(row)))
    best = np.flatnonzero(row == row.max())
    if method <= CRM or len(best) == len(row):
        return int(best[rng.integers(0, len(best))])
    return int(best[0])


# --- a run ---


@njit(cache=True)
def _episode(world: Any, method: int, protocol: Any, table: Any, known: Any, rng: Any) -> tuple[int, bool]:
    """Play and learn an episode; return its steps, and whether it was paid."""
    o, m, num_states = world.start, 0, world.moves.shape[0]
    for step in range(protocol.horizon):
        a = _chosen(table, method, o, m, rng)
        target = _moved(world, o, a, rng.random())
        if method == Q_LEARNING:
            _update(world, protocol.rate, table, o, m, a, target)
        elif method == CRM:
            for state in range(num_states):
                _update(world, protocol.rate, table, o, state, a, target)
        elif _count_all(world, method, protocol, known, o, m, a, target):
            _iterate(world, protocol, known, table)
        if world.plants[target]:
            return step + 1, False
        o, m = target, world.moves[m, target]
        if m == num_states:
            return step + 1, True
    return protocol.horizon, False


@njit(cache=True)
def _run(world: Any, method: int, protocol: Any, num_steps: int, numbers: Any, rng: Any) -> int:
    num_cells, num_states = world.best.shape[0], world.moves.shape[0]
    shape, most = (num_cells, num_states + 1, 4), 1.0 / (1.0 - world.discount)
    optimism = num_states + 1.0 if protocol.optimism == 0.0 else protocol.optimism
    table = np.full(shape, INITIAL if method <= CRM else most * optimism)
    known = Known(
        np.zeros((num_cells, 4), dtype=np.int64),
        np.zeros((num_cells, 4, num_cells), dtype=np.int64),
        np.zeros(shape, dtype=np.int64),
        np.zeros((num_cells, 4), dtype=np.bool_),
        np.zeros(shape, dtype=np.bool_),
        np.zeros((num_states, num_cells), dtype=np.bool_),
        np.zeros((num_cells, num_states + 1), dtype=np.bool_),
    )
    optimal, no_slips = _returns(world, world.best, numbers), np.zeros(protocol.horizon)
    taken, tested, shortest = 0, 0, protocol.horizon + 1
    while taken < num_steps:
        steps, is_paid = _episode(world, method, protocol, table, known, rng)
        taken, is_due = taken + steps, False
        if is_paid and protocol.test_shorter:
            length = _return(world, _greedy(table), protocol.horizon, no_slips)[1]
            if 0 < length < shortest:
                shortest, is_due = length, True
        if is_due or taken - tested > protocol.test_every:
            tested = taken
            if not protocol.same_numbers:
                numbers = rng.random(numbers.shape)
            if _passes(_returns(world, _greedy(table), numbers), optimal):
                return taken
    return NEVER
