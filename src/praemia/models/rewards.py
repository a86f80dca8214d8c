"""Rewards: a number, or a distribution over finitely many numbers, in [0, 1]."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from praemia.errors import ModelError

TOLERANCE = 1e-9


@dataclass(frozen=True)
class Reward:
    """A reward law on [0, 1].

    Parameters
    ----------
    values : the numbers that can be paid, increasing and distinct.
    probabilities : their probabilities, positive, summing to 1.

    Examples
    --------
    >>> import praemia
    >>> praemia.Reward.bernoulli(0.3).mean
    0.3
    >>> praemia.Reward((0.5, 1.0), (0.5, 0.5)).mean
    0.75
    """

    values: tuple[float, ...]
    probabilities: tuple[float, ...] = (1.0,)

    def __post_init__(self) -> None:
        if len(self.values) != len(self.probabilities) or not self.values:
            raise ModelError(
                f"a reward with {len(self.values)} values and {len(self.probabilities)} probabilities; "
                "there must be as many of one as of the other, and at least one"
            )
        for value in self.values:
            if not 0.0 <= value <= 1.0:
                raise ModelError(f"a reward of {value:g}; rewards must lie in [0, 1]")
        for probability in self.probabilities:
            if not 0.0 <= probability <= 1.0:
                raise ModelError(f"a reward with probability {probability:g}; it must lie in [0, 1]")
        total = math.fsum(self.probabilities)
        if not abs(total - 1.0) <= TOLERANCE:
            raise ModelError(f"a reward whose probabilities sum to {total:g}; they must sum to 1")
        merged: dict[float, float] = {}
        for value, probability in zip(self.values, self.probabilities, strict=True):
            merged[float(value)] = merged.get(float(value), 0.0) + float(probability)
        pairs = sorted((value, probability) for value, probability in merged.items() if probability > 0.0)
        object.__setattr__(self, "values", tuple(value for value, _ in pairs))
        object.__setattr__(self, "probabilities", tuple(probability for _, probability in pairs))

    @classmethod
    def bernoulli(cls, probability: float) -> Reward:
        """Pay 1 with the given probability, else 0."""
        return cls((0.0, 1.0), (1.0 - probability, probability))

    @classmethod
    def of(cls, reward: float | Reward) -> Reward:
        """Take a number for the reward that always pays it."""
        return reward if isinstance(reward, Reward) else cls((float(reward),))

    @classmethod
    def mixture(cls, parts: Iterable[tuple[float, Reward]]) -> Reward:
        """Mix rewards by weights (they are scaled to sum to 1)."""
        parts = list(parts)
        total = math.fsum(weight for weight, _ in parts)
        values = [value for _, reward in parts for value in reward.values]
        weights = [weight * p / total for weight, reward in parts for p in reward.probabilities]
        return cls(tuple(values), tuple(weights))

    @property
    def is_constant(self) -> bool:
        return len(self.values) == 1

    @property
    def mean(self) -> float:
        return math.fsum(v * p for v, p in zip(self.values, self.probabilities, strict=True))

    def __str__(self) -> str:
        if self.is_constant:
            return f"{self.values[0]:g}"
        if self.values == (0.0, 1.0):
            return f"Bernoulli({self.probabilities[1]:g})"
        return ", ".join(f"{v:g} w.p. {p:g}" for v, p in zip(self.values, self.probabilities, strict=True))
