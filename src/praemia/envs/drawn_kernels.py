"""Drawn tasks without a map: random kernels, chains, locks, deep seas, queues and stores.

Every kind is a function of a generator and of the ranges of sizes. It draws sizes, kernel and machine, in this order.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from praemia.arithmetic import portable_exp, portable_log
from praemia.envs.builtin_machines import errands, moods, prices, random_machine
from praemia.machines.builder import MachineBuilder
from praemia.machines.labels import LabelRule
from praemia.machines.machine import RewardMachine
from praemia.tasks.mdp import LabeledMDP

Rows = dict[tuple[int, int], dict[int, float]]
PLACES = ("a", "b", "c")
PROPOSITION_PROB = 0.25


class Ranges(NamedTuple):
    """The least and the most of what a size is drawn from: observations, machine states, steps."""

    observations: tuple[int, int]
    states: tuple[int, int]
    steps: tuple[int, int]

    def within(self, steps: float) -> int:
        """Return a number of steps, or the nearest that is allowed."""
        return int(min(max(round(steps), self.steps[0]), self.steps[1]))


Drawn: TypeAlias = tuple[LabeledMDP, RewardMachine, int]  # and the horizon
Kind: TypeAlias = Callable[[np.random.Generator, Ranges], Drawn]


def between(rng: np.random.Generator, least: float, most: float) -> int:
    """Draw a whole number, evenly on a log scale."""
    return round(portable_exp(rng.uniform(portable_log(least), portable_log(most))))


def labelled_at_random(
    rng: np.random.Generator, observations: int, actions: int, branching: int, names: tuple[str, ...]
) -> LabeledMDP:
    """Draw a few successors for each pair, with flat Dirichlet probabilities, and what is true at each observation."""
    pairs = observations * actions
    rows = np.repeat(np.arange(pairs), branching)
    successors = rng.integers(observations, size=pairs * branching)
    probs = rng.dirichlet(np.ones(branching), size=pairs).ravel()
    true = rng.random((observations, len(names))) < PROPOSITION_PROB
    true[-1, 0] = True
    labels = [
        LabelRule(frozenset(name for name, holds in zip(names, row, strict=True) if holds), target=o)
        for o, row in enumerate(true)
        if row.any()
    ]
    return LabeledMDP.from_entries(
        observations, actions, rows // actions, rows % actions, successors, probs, labels=labels
    )


def random_kind(most_observations: int, actions: tuple[int, int], branching: int | None, weight: float) -> Kind:
    """Return the kind of random kernels with up to ``branching`` successors, or as many as there are observations."""

    def draw(rng: np.random.Generator, ranges: Ranges) -> Drawn:
        low, high = ranges.observations
        observations = between(rng, low, max(low, min(high, most_observations)))
        successors = observations if branching is None else int(rng.integers(2, min(branching, observations) + 1))
        num_actions, states, steps = between(rng, *actions), between(rng, *ranges.states), between(rng, *ranges.steps)
        mdp = _random_kernel(rng, observations, num_actions, branching=successors, weight=weight)
        if rng.integers(2):
            return mdp, random_machine(rng, states, PLACES), steps
        return mdp, errands(rng, PLACES, states, fits=steps / observations, again=True), steps

    return draw


def _random_kernel(
    rng: np.random.Generator, observations: int, actions: int, *, branching: int, weight: float
) -> LabeledMDP:
    """Draw successors uniformly, with Dirichlet(weight) probabilities, and three places, near ones first."""
    pairs = observations * actions
    successors = np.argsort(rng.random((pairs, observations)), axis=1, kind="stable")[:, :branching].ravel()
    probs = rng.dirichlet(np.full(branching, weight), size=pairs).ravel()
    rows = np.repeat(np.arange(pairs), branching)
    start = int(rng.integers(observations))
    near = steps_from(start, successors.reshape(observations, -1))
    places = sorted(rng.permutation(observations).tolist(), key=lambda o: o not in near)[: len(PLACES)]
    labels = [LabelRule(name, target=o) for name, o in zip(PLACES, places, strict=True)]
    return LabeledMDP.from_entries(
        observations, actions, rows // actions, rows % actions, successors, probs, labels=labels, start=start
    )


def steps_from(start: int, successors: NDArray[np.int64]) -> dict[int, int]:
    """Return the fewest steps to every observation that can be reached, from the successors of each, int64[O, ·]."""
    steps, waiting = {start: 0}, deque([start])
    while waiting:
        here = waiting.popleft()
        for there in successors[here].tolist():
            if there not in steps:
                steps[there] = steps[here] + 1
                waiting.append(there)
    return steps


def chain(rng: np.random.Generator, ranges: Ranges) -> Drawn:
    """Draw a river: right is against the current, left is sure; the ends pay, or are asked for in turn."""
    size = between(rng, 5, min(25, ranges.observations[1] // 4))
    steps = ranges.within(4 * size * rng.uniform(0.7, 1.3))
    states = between(rng, *ranges.states)
    forth, stay = rng.uniform(0.4, 0.8, size), rng.uniform(0.1, 0.2, size)
    rows: Rows = {}
    for o in range(size):
        rows[o, 0] = {max(0, o - 1): 1.0}
        rows[o, 1] = _added([(min(size - 1, o + 1), forth[o]), (o, stay[o]), (max(0, o - 1), 1.0 - forth[o] - stay[o])])
    labels = [LabelRule("near", target=0), LabelRule("far", target=size - 1)]
    start = int(rng.integers(1, max(2, size // 3)))
    mdp = LabeledMDP.from_rows(size, 2, rows, labels, start=start)
    if states == 1:
        return mdp, prices({"near": float(rng.uniform(0.005, 0.05)), "far": 1.0}), steps
    return mdp, errands(rng, ("far", "near"), states, fits=steps / (2 * size), again=True), steps


def lock(rng: np.random.Generator, ranges: Ranges) -> Drawn:
    """Draw a combination lock: at each place one action leads on, the others back to the start; it slips a little."""
    size = between(rng, 5, ranges.observations[1] // 5)
    steps = ranges.within(2 * size * rng.uniform(1.0, 2.0))
    actions, states = between(rng, 2, 6), between(rng, *ranges.states)
    slip, decoy = float(rng.uniform(0.0, 0.15)), bool(rng.integers(2))
    right = rng.integers(actions, size=size)
    rows: Rows = {}
    for o in range(size):
        for a in range(actions):
            on = (o + 1) % size if a == right[o] else 0
            rows[o, a] = _added([(on, 1.0 - slip), (o, slip)])
    labels = [LabelRule("open", target=size - 1, source=size - 2)]
    labels += [LabelRule("decoy", source=0, action=int((right[0] + 1) % actions), target=0)] if decoy else []
    mdp, decoys = LabeledMDP.from_rows(size, actions, rows, labels), ("decoy",) if decoy else ()
    if states == 1:
        return mdp, prices({"open": 1.0, **dict.fromkeys(decoys, 0.02)}), steps
    return mdp, errands(rng, ("open",), states - 1, fits=steps / (2 * size), others=decoys), steps


def sea(rng: np.random.Generator, ranges: Ranges) -> Drawn:
    """Draw a deep sea: a move sinks a row, to the left or to the right; which action does what is drawn for each cell.

    A little is found on the left of the bottom, much on its right, where no move to the left leads. A move slips to the
    other side now and then. The machine counts what was found on the right; each find pays, or those up to the last.
    """
    depth = max(3, round(math.sqrt(2.0 * between(rng, *ranges.observations))))
    states, dives, slip = between(rng, *ranges.states), int(rng.integers(1, 4)), float(rng.uniform(0.0, 0.1))
    little, again = float(rng.uniform(0.02, 0.2)), bool(rng.integers(2))
    rows: Rows = {}
    for row in range(depth):
        for column in range(row + 1):
            here, below = row * (row + 1) // 2 + column, (row + 1) * (row + 2) // 2
            sides = [below + max(0, column - 1), below + column + 1] if row < depth - 1 else [0, 0]
            right = int(rng.integers(2))
            rows[here, right] = _added([(sides[1], 1.0 - slip), (sides[0], slip)])
            rows[here, 1 - right] = _added([(sides[0], 1.0 - slip), (sides[1], slip)])
    size = depth * (depth + 1) // 2
    labels = [LabelRule("shell", target=size - depth), LabelRule("pearl", target=size - 1)]
    builder = MachineBuilder("found-0", propositions=("shell", "pearl"))
    for i in range(states):
        following = i + 1 if i < states - 1 else 0 if again else i
        builder.edge(f"found-{i}", "pearl", f"found-{following}", reward=1.0 / dives)
        builder.edge(f"found-{i}", "shell & !pearl", f"found-{i}", reward=little / dives)
    return LabeledMDP.from_rows(size, 2, rows, labels), builder.build(), ranges.within(depth * dives)


def queue(rng: np.random.Generator, ranges: Ranges) -> Drawn:
    """Draw a queue: faster service pays less for a customer, and a full queue spoils the mood, if there is any."""
    size, actions, states = (
        between(rng, *ranges.observations) // 2 + 3,
        between(rng, 2, 6),
        between(rng, *ranges.states),
    )
    arrival = float(rng.uniform(0.3, 0.6))
    service = np.sort(rng.uniform(0.15, 0.9, actions))
    rows: Rows = {}
    for o in range(size):
        for a in range(actions):
            done = service[a] if o > 0 else 0.0
            more, fewer = arrival * (1.0 - done), done * (1.0 - arrival)
            rows[o, a] = _added([(min(size - 1, o + 1), more), (max(0, o - 1), fewer), (o, 1.0 - more - fewer)])
    labels = [
        LabelRule(f"served-{a}", source=o, action=a, target=o - 1) for o in range(1, size) for a in range(actions)
    ]
    labels += [LabelRule("full", target=size - 1)]
    mdp = LabeledMDP.from_rows(size, actions, rows, labels)
    paid = {f"served-{a}": float(1.0 - 0.6 * service[a] * rng.random()) for a in range(actions)}
    if states == 1:
        return mdp, prices({"full": 0.0, **paid}), between(rng, *ranges.steps)
    machine = moods(states, paid, "full", f"served-{int(rng.integers(actions))}", float(rng.uniform(0.3, 1.0)))
    return mdp, machine, between(rng, *ranges.steps)


def store(rng: np.random.Generator, ranges: Ranges) -> Drawn:
    """Draw a store: orders arrive before the demand. Large sales pay more, costly orders less."""
    size = between(rng, 5, min(80, ranges.observations[1] // 2))
    actions = min(size, between(rng, 2, 6))  # no two order the same
    states = between(rng, *ranges.states)
    most = max(2, size // 2)
    demand = rng.dirichlet(np.ones(most + 1))
    lots = np.linspace(0, size - 1, actions).round().astype(int)
    rows: Rows = {}
    labels: list[LabelRule] = []
    for o in range(size):
        for a in range(actions):
            stock = min(size - 1, o + int(lots[a]))
            after: dict[int, float] = {}
            for wanted, prob in enumerate(demand.tolist()):
                left = max(0, stock - wanted)
                after[left] = after.get(left, 0.0) + prob
            rows[o, a] = after
            cost = "dear" if lots[a] > size // 2 else "cheap"
            for left in after:
                sold = stock - left
                event = f"{'large' if sold > most // 2 else 'small'}-{cost}" if sold else ""
                names = [name for name in ("empty" if left == 0 else "", event) if name]
                labels += [LabelRule(names, source=o, action=a, target=left)] if names else []
    mdp = LabeledMDP.from_rows(size, actions, rows, labels, actions=[f"+{lot}" for lot in lots])
    small, dear = float(rng.uniform(0.1, 0.5)), float(rng.uniform(0.3, 0.8))
    paid = {"large-cheap": 1.0, "large-dear": dear, "small-cheap": small, "small-dear": small * dear}
    if states == 1:
        return mdp, prices({**paid, "empty": 0.0}), between(rng, *ranges.steps)
    machine = moods(states, paid, "empty", "large-cheap", float(rng.uniform(0.3, 1.0)))
    return mdp, machine, between(rng, *ranges.steps)


def _added(entries: list[tuple[int, float | NDArray[np.float64]]]) -> dict[int, float]:
    """Add up the probabilities of one row."""
    row: dict[int, float] = {}
    for o, prob in entries:
        row[o] = row.get(o, 0.0) + float(prob)
    return {o: prob for o, prob in row.items() if prob > 0.0}
