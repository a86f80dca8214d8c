"""Counted transitions, and the kernel p̂ that they estimate: p̂(o'|o, a) = N(o, a, o')/N(o, a)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from praemia.simulation.loop import World
from praemia.tasks.mdp import sparse_kernel

Column: TypeAlias = NDArray[np.int64]
TRANSITIONS = ("pairs", "successors", "ends", "counts")  # the columns that describe transitions


@dataclass(frozen=True, eq=False)
class Counted:
    """The transitions of some episodes, in order, each pair's together.

    Attributes
    ----------
    pairs : int64[E], o · A + a; successors : int64[E]; ends : bool[E], whether the episode was over then; counts :
        int64[E], positive.
    first_counts : int64[O], how often an episode began in each observation.
    """

    num_observations: int
    num_actions: int
    pairs: Column
    successors: Column
    ends: NDArray[np.bool_]
    counts: Column
    first_counts: Column

    @classmethod
    def of(cls, world: World) -> Counted:
        """Read out what was counted in a world whose learner ``uses_steps``."""
        experience = world.experience()
        seen, size = experience.transitions, experience.spec.num_observations
        pairs = seen.observations * experience.spec.num_actions + seen.actions
        columns = add_up(pairs, seen.successors, seen.ends, seen.counts, size)
        return cls(
            size, experience.spec.num_actions, **columns, first_counts=experience.step_visits[0].astype(np.int64)
        )

    def __add__(self, other: Counted) -> Counted:
        columns = together((self, other))
        return Counted(
            self.num_observations, self.num_actions, **columns, first_counts=self.first_counts + other.first_counts
        )

    @property
    def targets(self) -> NDArray[np.int64]:
        """int64[E], o' of each transition seen, or O + o' where the episode ended there."""
        return self.successors + self.num_observations * self.ends

    @property
    def num_episodes(self) -> int:
        return int(self.first_counts.sum())

    @property
    def num_transitions(self) -> int:
        return int(self.counts.sum())

    @cached_property
    def visits(self) -> NDArray[np.int64]:
        """int64[O, A], N(o, a)."""
        flat = np.bincount(self.pairs, self.counts, self.num_observations * self.num_actions)
        return flat.astype(np.int64).reshape(self.num_observations, self.num_actions)

    @cached_property
    def probs(self) -> NDArray[np.float64]:
        """float64[E], p̂ of each transition seen."""
        return self.counts / self.visits.ravel()[self.pairs]

    @cached_property
    def kernel(self) -> Any:
        """p̂ as a SciPy sparse array [O·A, 2·O]: column O + o' is the end in o'; empty rows for pairs never visited."""
        return sparse_kernel(self.num_observations, self.indptr, self.targets, self.probs)

    @cached_property
    def start_probs(self) -> NDArray[np.float64]:
        """float64[O], how often episodes began in each observation."""
        return self.first_counts / self.num_episodes

    @property
    def indptr(self) -> NDArray[np.int64]:
        """int64[O·A + 1]: pair i holds the entries indptr[i] : indptr[i + 1]."""
        places = np.arange(self.num_observations * self.num_actions + 1)
        return np.searchsorted(self.pairs, places).astype(np.int64)

    @property
    def transitions(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """The transitions seen as o, a, o', each int64[E]."""
        return (*np.divmod(self.pairs, self.num_actions), self.successors)


def add_up(
    pairs: Column, successors: Column, ends: NDArray[np.bool_], counts: Column, num_observations: int
) -> dict[str, Any]:
    """Add up the counts of equal transitions; return the columns by name, in order."""
    keys, places = np.unique((pairs * 2 + ends) * num_observations + successors, return_inverse=True)
    rest, targets = np.divmod(keys, num_observations)
    added = np.bincount(places, counts, len(keys)).astype(np.int64)
    return {"pairs": rest // 2, "successors": targets, "ends": rest % 2 > 0, "counts": added}


def together(parts: Sequence[Counted]) -> dict[str, Any]:
    """Add up the transitions of several parts."""
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in TRANSITIONS}
    return add_up(**columns, num_observations=len(parts[0].first_counts))
