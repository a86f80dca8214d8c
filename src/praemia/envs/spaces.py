"""Finite spaces of Gymnasium: what an environment shows or takes, as numbers 0 … n − 1.

Discrete with any start, MultiDiscrete, MultiBinary, and Tuple and Dict of these are numbered like the digits of a
number: the last part changes fastest. Everything else needs a function of the user's (``praemia.envs.encoding``).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator
from reprlib import repr as brief
from typing import TYPE_CHECKING, Any

import numpy as np

from praemia.errors import ModelError

if TYPE_CHECKING:
    from gymnasium import spaces

MAX_SIZE = 10_000_000  # elements of a space that is numbered by itself


class Numbering(ABC):
    """The elements of a space by number.

    Attributes
    ----------
    size : how many numbers there are.
    """

    size: int

    @abstractmethod
    def number(self, element: Any) -> int:
        """Return the number of an element; a ModelError if it has none."""

    @abstractmethod
    def names(self) -> tuple[str, ...] | None:
        """Return a name for each number; None where the elements are their own numbers."""

    def name(self, number: int) -> str:
        """Return the name of a number."""
        names = self.names()
        return str(number) if names is None else names[number]


class FiniteNumbering(Numbering):
    """A finite space: a tree of parts, of which each leaf is a whole number in a range.

    Parameters
    ----------
    space : the space.
    """

    def __init__(self, space: spaces.Space[Any]) -> None:
        self.space = space
        leaves = list(_leaves(space))
        self._sizes = [size for size, _ in leaves]
        self._starts = [start for _, start in leaves]
        self.size = math.prod(self._sizes)
        self._elements: dict[int, Any] = {}

    @property
    def is_plain(self) -> bool:
        """Whether elements are their own numbers."""
        return kind_of(self.space) == "Discrete" and self._starts == [0]

    def number(self, element: Any) -> int:
        number = 0
        try:
            values = _values(self.space, element)
        except (TypeError, ValueError, OverflowError, KeyError, IndexError):
            values = []
        if len(values) != len(self._sizes):
            raise self._outside(element)
        for value, size, start in zip(values, self._sizes, self._starts, strict=True):
            if not 0 <= value - start < size:
                raise self._outside(element)
            number = number * size + value - start
        return number

    def element(self, number: int) -> Any:
        """Return the element of a number, as the environment shows it; arrays cannot be written to."""
        if number not in self._elements:
            self._elements[number] = _build(self.space, iter(self._digits(number)))
        return self._elements[number]

    def key(self, number: int) -> Hashable:
        """Return the element of a number as a whole number, or as a tuple of its parts."""
        values = self._digits(number)
        return values[0] if kind_of(self.space) == "Discrete" else tuple(values)

    def name(self, number: int) -> str:
        return _name(self.space, iter(self._digits(number)))

    def names(self) -> tuple[str, ...] | None:
        return None if self.is_plain else tuple(map(self.name, range(self.size)))

    def _digits(self, number: int) -> list[int]:
        values = []
        for size, start in zip(reversed(self._sizes), reversed(self._starts), strict=True):
            number, digit = divmod(number, size)
            values.append(digit + start)
        return values[::-1]

    def _outside(self, element: Any) -> ModelError:
        return ModelError(f"the environment showed {brief(element)}, outside its space {self.space}")


def number_space(space: spaces.Space[Any], kind: str, remedy: str) -> FiniteNumbering:
    """Number a finite space (``kind`` says which, in messages); of another one, say what to do instead."""
    try:
        numbering = FiniteNumbering(space)
    except _NotFinite as error:
        inside = "" if error.part is space else f" (because of {error.part})"
        raise ModelError(f"{kind} space is {space}, which is not finite{inside}; {remedy}") from None
    if numbering.size > MAX_SIZE:
        raise ModelError(
            f"{kind} space is {space} with {magnitude(numbering.size)} elements, more than {MAX_SIZE:,}; {remedy}"
        )
    return numbering


def magnitude(size: int) -> str:
    """Write a size of any number of digits."""
    return f"{size:,}" if size < 10**12 else f"about 10^{int(math.log10(size))}"


class _NotFinite(Exception):
    def __init__(self, part: Any) -> None:
        self.part = part


def kind_of(space: Any) -> str:
    """Return the name of the kind of space; Gymnasium is not imported for it, subclasses count as what they are."""
    kinds = ("Discrete", "MultiDiscrete", "MultiBinary", "Tuple", "Dict", "Box")
    return next((kind.__name__ for kind in type(space).__mro__ if kind.__name__ in kinds), "")


def _leaves(space: Any) -> Iterator[tuple[int, int]]:
    """Yield (size, start) for each whole number that an element consists of."""
    kind = kind_of(space)
    if kind == "Discrete":
        yield int(space.n), int(space.start)
    elif kind == "MultiDiscrete":
        yield from zip(space.nvec.ravel().tolist(), space.start.ravel().tolist(), strict=True)
    elif kind == "MultiBinary":
        yield from [(2, 0)] * math.prod(space.shape)
    elif kind in ("Tuple", "Dict"):
        for part in _parts(space):
            yield from _leaves(part)
    else:
        raise _NotFinite(space)


def _parts(space: Any) -> list[Any]:
    return list(space.spaces.values() if kind_of(space) == "Dict" else space.spaces)


def _values(space: Any, element: Any) -> list[int]:
    """Return the whole numbers that an element consists of."""
    kind = kind_of(space)
    if kind == "Discrete":
        return [_whole(element)]
    if kind in ("MultiDiscrete", "MultiBinary"):
        array = np.asarray(element)
        return [_whole(value) for value in array.ravel().tolist()] if array.shape == space.shape else []
    keys = list(space.spaces) if kind == "Dict" else range(len(space.spaces))
    if len(element) != len(keys):
        return []
    return [value for key, part in zip(keys, _parts(space), strict=True) for value in _values(part, element[key])]


def _whole(value: Any) -> int:
    whole = int(value)
    if whole != value:
        raise ValueError
    return whole


def _build(space: Any, values: Iterator[int]) -> Any:
    """Build an element of a space from its whole numbers."""
    kind = kind_of(space)
    if kind == "Discrete":
        return next(values)
    if kind == "Tuple":
        return tuple(_build(part, values) for part in space.spaces)
    if kind == "Dict":
        return {key: _build(part, values) for key, part in space.spaces.items()}
    array = np.array([next(values) for _ in range(math.prod(space.shape))], dtype=space.dtype).reshape(space.shape)
    array.setflags(write=False)
    return array


def _name(space: Any, values: Iterator[int]) -> str:
    """Write an element as ``3``, ``[2 0]``, ``(3, [2 0])`` or ``floor=3 doors=[2 0]``."""
    kind = kind_of(space)
    if kind == "Discrete":
        return str(next(values))
    if kind == "Tuple":
        return f"({', '.join(_name(part, values) for part in space.spaces)})"
    if kind == "Dict":
        return " ".join(f"{key}={_name(part, values)}" for key, part in space.spaces.items())
    return f"[{' '.join(str(next(values)) for _ in range(math.prod(space.shape)))}]"
