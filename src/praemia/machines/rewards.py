"""Rewards: a number, or a distribution over finitely many numbers and intervals. Values may be any finite numbers.

Learners and bounds work in the unit range: ``RewardRange`` maps [min(0, lowest), max(0, highest)] onto [0, 1].
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

from praemia._support.arithmetic import steps_left
from praemia.errors import ModelError, require_distribution

TOLERANCE = 1e-9
LARGEST = 1e100  # far above any reward that is meant, far below where sums over an episode overflow


class RewardPiece(NamedTuple):
    """A piece of a distribution of rewards: a number, or a uniform interval; and its probability.

    ``praemia.kernels.records`` has the same in ``REWARD``, with running sums of the probabilities.
    """

    value: float
    width: float
    probability: float

    @property
    def mean(self) -> float:
        return self.value + 0.5 * self.width

    @property
    def highest(self) -> float:
        return self.value + self.width

    def __str__(self) -> str:
        return f"uniform({self.value:g}, {self.highest:g})" if self.width else f"{self.value:g}"


@dataclass(frozen=True)
class Reward:
    """A distribution: with probability i value i, or a number sampled uniformly from [value i, value i + width i].

    Parameters
    ----------
    values : the possible numbers, or the lower ends of intervals; sorted and merged on creation.
    probabilities : their probabilities, positive, summing to 1.
    widths : the widths of the intervals, 0 for a single number; by default, all are single numbers.

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
    widths: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        widths = self.widths or (0.0,) * len(self.values)
        if not len(self.values) == len(self.probabilities) == len(widths) or not self.values:
            raise ModelError(
                f"a reward with {len(self.values)} values, {len(self.probabilities)} probabilities and {len(widths)} "
                "widths; there must be as many of each, and at least one"
            )
        for number in (*self.values, *widths, *self.probabilities):
            _require_number(number)
        require_distribution("a reward: ", self.probabilities, TOLERANCE)
        merged: dict[tuple[float, float], float] = {}
        for value, width, probability in zip(self.values, widths, self.probabilities, strict=True):
            for end in (value, value + width):
                if not abs(end) <= LARGEST:
                    raise ModelError(f"a reward of {end:g}; expected a number between -{LARGEST:g} and {LARGEST:g}")
            if not width >= 0.0:
                raise ModelError(f"a uniform reward from {value:g} to {value + width:g}; the first must be the lower")
            key = (float(value), float(width))
            merged[key] = merged.get(key, 0.0) + float(probability)
        parts = sorted((*key, probability) for key, probability in merged.items() if probability > 0.0)
        for name, column in zip(("values", "widths", "probabilities"), zip(*parts, strict=True), strict=True):
            object.__setattr__(self, name, column)

    @classmethod
    def bernoulli(cls, probability: float) -> Reward:
        """Return the distribution that is 1 with the given probability, else 0."""
        if not 0.0 <= _require_number(probability) <= 1.0:
            raise ModelError(f"a Bernoulli reward with probability {probability:g}; it must lie in [0, 1]")
        return cls((0.0, 1.0), (1.0 - probability, probability))

    @classmethod
    def uniform(cls, low: float, high: float) -> Reward:
        """Return the uniform distribution on [low, high].

        >>> Reward.uniform(-1, 3).mean
        1.0
        """
        low, high = _require_number(low), _require_number(high)
        return cls((low,), (1.0,), (high - low,))

    @classmethod
    def of(cls, reward: float | Reward) -> Reward:
        """Turn a number into a constant reward."""
        return reward if isinstance(reward, Reward) else cls((reward,))

    @classmethod
    def from_data(cls, data: Any) -> Reward:
        """Read a reward as task files have it: a number, or a mapping that names a distribution."""
        match data:
            case {"bernoulli": probability, **rest} if not rest:
                return cls.bernoulli(probability)
            case {"uniform": [low, high], **rest} if not rest:
                return cls.uniform(low, high)
            case {"values": values, "probabilities": probabilities, **rest} if not rest:
                return cls(tuple(values), tuple(probabilities))
            case {}:
                expected = "'bernoulli', 'values' together with 'probabilities', or 'uniform': [low, high]"
                raise ModelError(f"a reward of {data!r}; expected a number, {expected}")
        return cls.of(data)

    def to_data(self) -> float | dict[str, Any]:
        """Return the reward as plain data, the inverse of ``from_data``."""
        if self.is_constant:
            return self.values[0]
        if self == Reward.bernoulli(self.probabilities[-1]):
            return {"bernoulli": self.probabilities[-1]}
        if self == Reward.uniform(*self._ends):
            return {"uniform": self._ends}
        if not self.is_discrete:
            raise ModelError(f"the reward {self} mixes uniform distributions; task files cannot express that")
        return {"values": self.values, "probabilities": self.probabilities}

    @classmethod
    def mixture(cls, parts: Iterable[tuple[float, Reward]]) -> Reward:
        """Return a mixture of rewards; the weights are scaled to sum to 1."""
        parts = list(parts)
        total = math.fsum(weight for weight, _ in parts)
        if not total > 0.0:
            raise ModelError(f"rewards are mixed by weights with the sum {total:g}; it must be above 0")
        pieces = [(value, weight * p / total, width) for weight, own in parts for value, width, p in own.pieces]
        return cls(*zip(*pieces, strict=True))

    @classmethod
    def sum(cls, first: Reward, second: Reward) -> Reward:
        """Return the distribution of the sum of two independent rewards, of which at most one is uniform."""
        if not first.is_discrete and not second.is_discrete:
            raise ModelError("the sum of two uniform rewards is not uniform; make one of them a number")
        pieces = [(v + w, p * q, a + b) for v, a, p in first.pieces for w, b, q in second.pieces]
        return cls(*zip(*pieces, strict=True))

    @property
    def pieces(self) -> list[RewardPiece]:
        """Its numbers and intervals, in increasing order."""
        return list(map(RewardPiece, self.values, self.widths, self.probabilities))

    @property
    def is_discrete(self) -> bool:
        """Whether it has finitely many values."""
        return not any(self.widths)

    @property
    def is_constant(self) -> bool:
        return len(self.values) == 1 and self.widths[0] == 0.0

    @property
    def mean(self) -> float:
        mean = math.fsum(piece.mean * piece.probability for piece in self.pieces)
        return min(max(mean, self.lowest), self.highest)  # probabilities may sum to a little more than 1

    @property
    def lowest(self) -> float:
        """The minimum."""
        return self.values[0]

    @property
    def highest(self) -> float:
        """The maximum."""
        return max(piece.highest for piece in self.pieces)

    @property
    def _ends(self) -> tuple[float, float]:
        """The ends of an interval from which ``uniform`` makes this reward again bit for bit, if it is one."""
        near = self.lowest + self.widths[0]
        candidates = (near, math.nextafter(near, -math.inf), math.nextafter(near, math.inf))
        return self.lowest, next((high for high in candidates if high - self.lowest == self.widths[0]), near)

    def __str__(self) -> str:
        if self.values == (0.0, 1.0) and self.is_discrete:
            return f"Bernoulli({self.probabilities[1]:g})"
        pieces = self.pieces
        return str(pieces[0]) if len(pieces) == 1 else ", ".join(f"P({own}) = {own.probability:g}" for own in pieces)


def _require_number(value: object) -> float:
    if not isinstance(value, Real):
        raise ModelError(f"a reward of {value!r}; expected a number")
    try:
        return float(value)
    except OverflowError:
        raise ModelError(f"a reward above {LARGEST:g} or below -{LARGEST:g}; expected a number between them") from None


@dataclass(frozen=True)
class RewardRange:
    """The range of a machine's rewards, 0 always in it, and the map r ↦ (r − low)/span of this range onto [0, 1].

    Over H steps a value v becomes (v − H·low)/span, and a loss shrinks by span.
    """

    low: float = 0.0
    high: float = 1.0

    @classmethod
    def of(cls, rewards: Iterable[Reward]) -> RewardRange:
        """Return the smallest range that holds some rewards and 0."""
        both = [(reward.lowest, reward.highest) for reward in rewards]
        low, high = min([0.0, *(low for low, _ in both)]), max([0.0, *(high for _, high in both)])
        return cls(low, high if low < high else 1.0)

    @property
    def span(self) -> float:
        return self.high - self.low

    @property
    def is_unit(self) -> bool:
        """Whether nothing needs to be mapped."""
        return self.low == 0.0 and self.high == 1.0

    def number_to_unit(self, reward: float) -> float:
        """Map a reward into [0, 1]."""
        return reward if self.is_unit else (reward - self.low) / self.span

    def values_from_unit(self, values: Any, horizon: int, discount: float) -> Any:
        """Convert values of whole episodes from the unit range, in which learners work, to the user's units."""
        return values if self.is_unit else values * self.span + float(steps_left(horizon, discount)[0]) * self.low

    def to_unit(self, reward: Reward) -> Reward:
        """Map a reward into [0, 1]."""
        if self.is_unit:
            return reward
        values = tuple(min(1.0, max(0.0, (value - self.low) / self.span)) for value in reward.values)
        widths = (min(width / self.span, 1.0 - value) for value, width in zip(values, reward.widths, strict=True))
        return Reward(values, reward.probabilities, tuple(widths))
