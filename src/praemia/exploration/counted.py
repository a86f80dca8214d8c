"""Transitions as they were counted: each distinct one once, in order, with how often it happened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from praemia.simulation.loop import World

Column: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Counted:
    """The transitions of some episodes.

    Attributes
    ----------
    pairs : int64[E], o · A + a; successors : int64[E]; counts : int64[E], positive — in order, each pair's together.
    first_counts : int64[O], how often an episode began in each observation.
    """

    pairs: Column
    successors: Column
    counts: Column
    first_counts: Column

    @classmethod
    def of(cls, world: World) -> Counted:
        """Read out what was counted in a world whose learner ``uses_steps``."""
        experience = world.experience()
        seen, size = experience.transitions, experience.spec.num_observations
        pairs = seen.observations * experience.spec.num_actions + seen.actions
        columns = add_up(pairs, seen.successors, seen.counts, size)
        return cls(*columns, experience.step_visits[0].astype(np.int64))

    @property
    def num_episodes(self) -> int:
        return int(self.first_counts.sum())

    def __add__(self, other: Counted) -> Counted:
        columns = add_up(
            np.concatenate((self.pairs, other.pairs)),
            np.concatenate((self.successors, other.successors)),
            np.concatenate((self.counts, other.counts)),
            len(self.first_counts),
        )
        return Counted(*columns, self.first_counts + other.first_counts)


def add_up(pairs: Column, successors: Column, counts: Column, num_observations: int) -> tuple[Column, Column, Column]:
    """Add up the counts of equal transitions; return the columns in order."""
    keys, places = np.unique(pairs * num_observations + successors, return_inverse=True)
    first, second = np.divmod(keys, num_observations)
    return first, second, np.bincount(places, counts, len(keys)).astype(np.int64)
