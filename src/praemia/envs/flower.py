"""Flower: few observations and a machine of any size (after Bourel et al., 2023).

Observations: the hub 0 and the petals 1 … 5; episodes start in the hub. From the hub every action leads to each of the
six observations with probability 1/6; from a petal the agent stays with probability 0.2 and returns to the hub with
0.8, whatever the action. Taking the *first* action in petal i makes "petal-i" true: an action does not choose where to
go, only whether the visit counts.

The machine has 13 + B states. From the centre, petal i = 1 … 4 starts a small loop of three states, which
needs "petal-i" three more times, has a reward of 1 and returns to the centre; petal 5 starts the big loop of B states.
Other labels leave a loop where it is. The horizon does not depend on B, so a sweep over B varies the machine
alone.
"""

from __future__ import annotations

import math
from itertools import pairwise

from praemia.errors import require_whole
from praemia.machines.builder import MachineBuilder
from praemia.machines.guards import exactly
from praemia.machines.labels import LabelRule
from praemia.machines.machine import RewardMachine
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.picture import Mark, Picture, Spot
from praemia.tasks.task import Task

HUB, PETALS = 0, range(1, 6)
COUNT, PASS = 0, 1
SMALL_LOOP = 3
HORIZON = 30


def flower(loop: int = 20, horizon: int = HORIZON) -> Task:
    """Count visits to the petals of a flower; the largest loop of its machine has ``loop`` states.

    Examples
    --------
    >>> import praemia
    >>> praemia.envs.flower(loop=20).horizon
    30
    """
    machine = flower_machine(loop)
    rows = {}
    for action in (COUNT, PASS):
        rows[HUB, action] = dict.fromkeys((HUB, *PETALS), 1 / 6)
        for petal in PETALS:
            rows[petal, action] = {petal: 0.2, HUB: 0.8}
    labels = [LabelRule(frozenset({f"petal-{i}"}), source=i, action=COUNT) for i in PETALS]
    names = ("hub", *(f"petal-{i}" for i in PETALS))
    mdp = LabeledMDP.from_rows(len(names), 2, rows, labels, observations=names, actions=("count", "pass"))
    return Task(mdp.with_map(_picture()), machine, horizon, f"flower-{loop}")


def flower_machine(loop: int = 20) -> RewardMachine:
    """Return the machine: four loops of three states, and one of ``loop``, that meet in the centre."""
    require_whole("loop", loop, 1, 100_000)
    propositions = [f"petal-{i}" for i in PETALS]
    builder = MachineBuilder(initial="centre", propositions=propositions)
    for i in PETALS:
        visit = exactly({f"petal-{i}"}, propositions)
        length = loop if i == PETALS[-1] else SMALL_LOOP
        path = ["centre", *(f"loop-{i}-{step}" for step in range(1, length + 1))]
        for here, there in pairwise(path):
            builder.edge(here, visit, there)
        builder.edge(path[-1], visit, "centre", reward=1)
    return builder.build()


def _picture() -> Picture:
    """Draw the petals around the hub."""
    spots = [Spot(2.1, 2.1, Mark("0", "hub", is_start=True))]
    for i in PETALS:
        angle = 2 * math.pi * (i - 1) / len(PETALS)
        mark = Mark(str(i), "petal", frozenset({f"petal-{i}"}))
        spots.append(Spot(2.1 + 1.6 * math.sin(angle), 2.1 - 1.6 * math.cos(angle), mark))
    caption = "the first action makes a visit to a petal count"
    return Picture(tuple(spots), links=tuple((HUB, i) for i in PETALS), caption=caption, is_round=True)
