"""A run's random numbers: two independent streams, made from its seed alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from praemia.errors import ParameterError

Seed: TypeAlias = int | Sequence[int]

STREAMS = 2  # raised when a seed comes to mean other random numbers: runs of different streams are never mixed


def seed_key(seed: Seed) -> tuple[int, ...]:
    """Check a seed and return it as a tuple of whole numbers."""
    key = tuple(seed) if isinstance(seed, Sequence) else (seed,)
    if not key or any(isinstance(s, bool) or not isinstance(s, int | np.integer) or s < 0 for s in key):
        raise ParameterError(f"seed={seed!r}; expected a whole number ≥ 0, or several")
    return tuple(int(s) for s in key)


def generators(seed: tuple[int, ...]) -> tuple[np.random.Generator, np.random.Generator]:
    """Return the world's and the learner's generator of a run."""
    world, learner = np.random.SeedSequence(seed).spawn(2)
    return np.random.default_rng(world), np.random.default_rng(learner)
