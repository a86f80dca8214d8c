"""RiverSwim: swim against the current from one end of a river to the other, and back.

Observations 0 … n−1 lie along the river; episodes start at 0. *left* always moves one to the left. *right* moves one to
the right with probability 0.6, stays with 0.35 and is swept back with 0.05 (at 0: 0.6 and 0.4; at n−1: stays with 0.6,
is swept back with 0.4).

Patrol machine: the right end has a reward of 1, then the left end must be visited before it has one again. The label is
that of the observation *before* the step. In the probabilistic variant "right-end" is the move n−2 → n−1 and is noticed
only with probability 0.8.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from praemia.errors import require_whole
from praemia.limits import require_memory
from praemia.machines.builder import MachineBuilder
from praemia.machines.labels import LabelRule
from praemia.machines.machine import RewardMachine
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.picture import Mark, Picture, Spot
from praemia.tasks.task import Task

LEFT, RIGHT = 0, 1
MAX_SIZE = 10_000_000
_ROW = 15
_BYTES_PER_OBSERVATION = 400  # four entries of four arrays, and the copies made while they are sorted


def riverswim(size: int = 5, horizon: int | None = None) -> Task:
    """Swim against the current from one end of a river to the other, and back.

    The horizon is 2 · size unless it is given.

    Examples
    --------
    >>> import praemia
    >>> f"{praemia.solve(praemia.envs.riverswim(size=5)).value:.4f}"
    '0.8394'
    """
    require_whole("size", size, 2, MAX_SIZE)
    return _task(f"riverswim-{size}", size, horizon, LabelRule("right-end", source=size - 1), patrol())


def riverswim_prm(size: int = 5, horizon: int | None = None) -> Task:
    """Patrol a river whose right end is noticed 4 times in 5; the horizon is 2 · size unless it is given.

    Examples
    --------
    >>> import praemia
    >>> praemia.envs.riverswim_prm(size=5).machine.is_deterministic
    False
    """
    require_whole("size", size, 2, MAX_SIZE)
    right_end = LabelRule("right-end", source=size - 2, target=size - 1)
    return _task(f"riverswim-prm-{size}", size, horizon, right_end, probabilistic_patrol())


def _task(name: str, size: int, horizon: int | None, right_end: LabelRule, machine: RewardMachine) -> Task:
    require_memory(_BYTES_PER_OBSERVATION * size, f"a river of {size:,} observations")
    labels = [LabelRule("left-end", source=0), right_end]
    mdp = LabeledMDP.from_entries(size, 2, *_river(size), labels=labels, actions=("left", "right"))
    return Task(mdp.with_map(River(size)), machine, 2 * size if horizon is None else horizon, name)


def _river(size: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return the entries (o, a, o', p) of the model."""
    everywhere = np.arange(size)
    forth, stay, back = np.full(size, 0.6), np.full(size, 0.35), np.full(size, 0.05)
    stay[0], back[0] = 0.4, 0.0
    forth[-1], stay[-1], back[-1] = 0.0, 0.6, 0.4
    moves = [(LEFT, -1, np.ones(size)), (RIGHT, +1, forth), (RIGHT, 0, stay), (RIGHT, -1, back)]
    return (
        np.tile(everywhere, len(moves)),
        np.repeat([action for action, _, _ in moves], size),
        np.concatenate([np.clip(everywhere + by, 0, size - 1) for _, by, _ in moves]),
        np.concatenate([probs for _, _, probs in moves]),
    )


def patrol() -> RewardMachine:
    """Return the deterministic patrol machine of the paper."""
    return (
        MachineBuilder(initial="out", propositions=("left-end", "right-end"))
        .edge("out", "right-end", "back", reward=1)
        .edge("back", "left-end", "out")
        .build()
    )


def probabilistic_patrol() -> RewardMachine:
    """Return the patrol machine whose right end is noticed with probability 0.8."""
    return (
        MachineBuilder(initial="out", propositions=("left-end", "right-end"))
        .edge("out", "right-end", "back", probability=0.8, reward=1)
        .edge("out", "right-end", "out", probability=0.2)
        .edge("back", "left-end", "out")
        .build()
    )


class River(NamedTuple):
    """The map of the river: it turns at the end of each row, so that no picture gets too wide."""

    size: int

    def picture(self) -> Picture:
        """Return the river with its two ends marked."""
        marks = [Mark(str(o)) for o in range(self.size)]
        marks[0] = Mark("0", "left end", frozenset({"left-end"}), is_start=True)
        marks[-1] = Mark(str(self.size - 1), "right end", frozenset({"right-end"}))
        places = [divmod(o, _ROW) for o in range(self.size)]
        return Picture(
            tuple(
                Spot(4 / 3 * (_ROW - 1 - column if row % 2 else column) + 0.5, 4 / 3 * row + 0.5, mark)
                for (row, column), mark in zip(places, marks, strict=True)
            ),
            links=tuple((o, o + 1) for o in range(self.size - 1)),
            caption="the current flows to the left end: right succeeds with probability 0.6",
            is_round=True,
        )
