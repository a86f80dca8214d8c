"""Numberings: what an environment of Gymnasium shows or takes, as numbers 0 … n − 1.

Discrete with any start, MultiDiscrete, MultiBinary, and Tuple and Dict of these are numbered like the digits of a
number: the last part changes fastest. Everything else is numbered by a function of the user's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator
from numbers import Integral
from reprlib import repr as brief
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from praemia.errors import ModelError

if TYPE_CHECKING:
    from gymnasium import spaces

MAX_SIZE = 10_000_000  # elements of a space that is numbered by itself


class FiniteNumbering:
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

    def forget(self) -> None:
        """Keep the numbers: the space fixes them."""

    def number(self, element: Any) -> int:
        """Return the number of an element; a ModelError if it has none."""
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
        """Return the name of a number."""
        return _name(self.space, iter(self._digits(number)))

    def names(self) -> tuple[str, ...] | None:
        """Return a name for each number; None where the elements are their own numbers."""
        return None if self.is_plain else tuple(map(self.name, range(self.size)))

    def _digits(self, number: int) -> list[int]:
        values = []
        for size, start in zip(reversed(self._sizes), reversed(self._starts), strict=True):
            number, digit = divmod(number, size)
            values.append(digit + start)
        return values[::-1]

    def _outside(self, element: Any) -> ModelError:
        return ModelError(f"the environment showed {brief(element)}, outside its space {self.space}")


class EncodedNumbering:
    """What a function of the user's returns: whole numbers as they are, other things numbered as they appear.

    A function that returns both is refused, since the numbers of one kind would be taken for those of the other.

    Parameters
    ----------
    encode : the function; size : the limit of its values.
    """

    def __init__(self, encode: Callable[[Any], Hashable], size: int) -> None:
        self.encode, self.size = encode, size
        self._numbers: dict[Hashable, int] = {}
        self._is_whole: bool | None = None  # unknown before the first element

    def forget(self) -> None:
        """Begin to number anew, so that a run depends on its seed alone."""
        self._numbers.clear()
        self._is_whole = None

    def number(self, element: Any) -> int:
        """Return the number of an element; a ModelError if the function does not give it one."""
        code = self.encode(element)
        whole = isinstance(code, Integral) and not isinstance(code, bool)
        if whole is not self._is_whole:
            if self._is_whole is not None:
                raise ModelError(
                    f"encode returned {brief(code)}, and {'something else' if whole else 'whole numbers'} before; "
                    "return whole numbers always or never"
                )
            self._is_whole = whole
        if isinstance(code, Integral) and whole:
            if not 0 <= code < self.size:
                raise ModelError(
                    f"encode returned {code}; expected a whole number from 0 to {self.size - 1}, below "
                    "num_observations, or something else, such as a tuple, which is numbered when it first appears"
                )
            return int(code)
        try:
            number = self._numbers.setdefault(code, len(self._numbers))
        except TypeError:
            raise ModelError(
                f"encode returned {brief(code)}, a {type(code).__name__}, which is not hashable and so has no number; "
                "return a whole number, a text or a tuple, such as tuple(array.tolist())"
            ) from None
        if number >= self.size:
            del self._numbers[code]
            raise ModelError(
                f"encode returned more than {self.size} different values, the last one {brief(code)}; "
                "give a larger num_observations=, or encode into fewer values"
            )
        return number

    def element(self, number: int) -> Any:
        """Refuse to say what a number stands for: the function cannot be asked backwards."""
        raise ModelError("observations are encoded, so labels are known only for steps taken")

    def name(self, number: int) -> str:
        """Return the name of a number."""
        names = self.names()
        return str(number) if names is None else names[number]

    def names(self) -> tuple[str, ...] | None:
        """Return a name for each number; None where the elements are their own numbers."""
        names: tuple[str, ...] | None = getattr(self.encode, "names", None)
        if names is not None or not self._numbers:
            return names
        codes = [str(code) for code in self._numbers]
        texts = codes if len(set(codes)) == len(codes) else [f"{code} #{i}" for i, code in enumerate(codes)]
        return (*texts, *(f"unseen #{i}" for i in range(len(codes), self.size)))


Numbering: TypeAlias = FiniteNumbering | EncodedNumbering


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
