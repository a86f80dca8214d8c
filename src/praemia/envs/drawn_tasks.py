"""Drawn tasks: problems of eleven kinds and many sizes, drawn by a seed, to compare learners on.

``drawn-lake-7`` is the lake of seed 7; ``drawn-lake-large-7`` is a large one. Everything about a task is drawn: how
large it is, its kernel or map, its machine, whether the machine has chance, pays early or late, once or in rounds.

    sparse   a random kernel, two or three successors        rooms   four rooms with doors, places in order
    dense    a random kernel, every observation can follow   traps   a grid with traps, after which nothing is paid
    actions  a random kernel, many actions                   lake    ice: moves go astray, nobody leaves a hole
    chain    swim against a current                          office  rooms and plants; items in any order to the desk
    lock     at each place one action leads on               queue   faster service pays less, a full queue annoys
                                                             store   orders and demand; customers remember gaps

Sizes are drawn evenly on a log scale: O from 5 to 81, M from 1 to 10, H from 5 to 50; in large tasks O up to 400, M up
to 50 and H up to 200. ``praemia league`` plays such tasks; no constant of a learner was chosen on those it plays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from praemia.arithmetic import portable_exp, portable_log
from praemia.envs import drawn_grids, drawn_kernels
from praemia.errors import require_whole, unknown_name
from praemia.machines.machine import RewardMachine
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.task import Task

STREAM = 4217  # keeps these draws apart from those of other generators


class Ranges(NamedTuple):
    """The least and the most of what a size is drawn from: observations, machine states, steps."""

    observations: tuple[int, int]
    states: tuple[int, int]
    steps: tuple[int, int]


SIZES = {"usual": Ranges((5, 60), (1, 10), (5, 50)), "large": Ranges((60, 400), (10, 50), (50, 200))}


def drawn_task(kind: str = "sparse", seed: int = 0, size: str = "usual", horizon: int | None = None) -> Task:
    """Draw a task of a kind; the horizon is drawn with it unless it is given.

    Examples
    --------
    >>> import praemia
    >>> praemia.envs.drawn_task("lake", seed=7).name
    'drawn-lake-7'
    """
    if not isinstance(kind, str) or kind not in KINDS:
        raise unknown_name("kind of drawn task", kind, KINDS)
    if not isinstance(size, str) or size not in SIZES:
        raise unknown_name("size of a drawn task", size, SIZES)
    require_whole("seed", seed, 0, 2**63 - 1)
    rng = np.random.default_rng([STREAM, list(KINDS).index(kind), list(SIZES).index(size), seed])
    mdp, machine, steps = KINDS[kind](rng, SIZES[size])
    name = f"drawn-{kind}-{seed}" if size == "usual" else f"drawn-{kind}-{size}-{seed}"
    return Task(mdp, machine, steps if horizon is None else horizon, name)


Maker = Callable[[np.random.Generator, Ranges], tuple[LabeledMDP, RewardMachine, int]]


def _between(rng: np.random.Generator, least: float, most: float) -> int:
    """Draw a whole number, evenly on a log scale."""
    return round(portable_exp(rng.uniform(portable_log(least), portable_log(most))))


def _random(most_observations: int, actions: tuple[int, int], branching: int | None, weight: float) -> Maker:
    def make(rng: np.random.Generator, ranges: Ranges) -> tuple[LabeledMDP, RewardMachine, int]:
        low, high = ranges.observations
        observations = _between(rng, low, max(low, min(high, most_observations)))
        successors = observations if branching is None else int(rng.integers(2, min(branching, observations) + 1))
        sizes = (_between(rng, *actions), _between(rng, *ranges.states), _between(rng, *ranges.steps))
        drawn = drawn_kernels.random_kernel(rng, observations, *sizes, branching=successors, weight=weight)
        return *drawn, sizes[-1]

    return make


def _chain(rng: np.random.Generator, ranges: Ranges) -> tuple[LabeledMDP, RewardMachine, int]:
    size = _between(rng, 5, min(25, ranges.observations[1] // 4))
    steps = _within(4 * size * rng.uniform(0.7, 1.3), ranges)
    return *drawn_kernels.chain(rng, size, _between(rng, *ranges.states), steps), steps


def _lock(rng: np.random.Generator, ranges: Ranges) -> tuple[LabeledMDP, RewardMachine, int]:
    size = _between(rng, 5, ranges.observations[1] // 5)
    steps = _within(2 * size * rng.uniform(1.0, 2.0), ranges)
    return *drawn_kernels.lock(rng, size, _between(rng, 2, 6), _between(rng, *ranges.states), steps), steps


def _queue(rng: np.random.Generator, ranges: Ranges) -> tuple[LabeledMDP, RewardMachine, int]:
    size, actions = _between(rng, *ranges.observations) // 2 + 3, _between(rng, 2, 6)
    return *drawn_kernels.queue(rng, size, actions, _between(rng, *ranges.states)), _between(rng, *ranges.steps)


def _store(rng: np.random.Generator, ranges: Ranges) -> tuple[LabeledMDP, RewardMachine, int]:
    size, actions = _between(rng, 5, min(80, ranges.observations[1] // 2)), _between(rng, 2, 6)
    return *drawn_kernels.store(rng, size, actions, _between(rng, *ranges.states)), _between(rng, *ranges.steps)


def _map(draw: Callable[[np.random.Generator, int, int, int], drawn_grids.Drawn], least: int) -> Maker:
    def make(rng: np.random.Generator, ranges: Ranges) -> tuple[LabeledMDP, RewardMachine, int]:
        low, high = ranges.observations
        size, states = _between(rng, max(least, low), max(least, high)), _between(rng, *ranges.states)
        mdp, machine, way = draw(rng, size, states, ranges.steps[1])
        return mdp, machine, _within(way * rng.uniform(1.5, 3.0), ranges)

    return make


def _within(steps: float, ranges: Ranges) -> int:
    return int(min(max(round(steps), ranges.steps[0]), ranges.steps[1]))


KINDS: dict[str, Maker] = {
    "sparse": _random(400, (2, 5), 3, 1.0),
    "dense": _random(40, (2, 4), None, 0.3),
    "actions": _random(20, (8, 24), 4, 0.5),
    "chain": _chain,
    "lock": _lock,
    "rooms": _map(drawn_grids.rooms, 16),
    "traps": _map(drawn_grids.traps, 9),
    "lake": _map(drawn_grids.lake, 9),
    "office": _map(drawn_grids.office, 36),
    "queue": _queue,
    "store": _store,
}
