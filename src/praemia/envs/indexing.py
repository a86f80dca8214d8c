"""Indices 0 … n − 1 of what a Gymnasium environment shows or takes.

Discrete with any start, MultiDiscrete, MultiBinary, and Tuple and Dict of these are indexed like the digits of a
number: the last part changes fastest. All other observations need a function of the user's; ``praemia.envs.cells``
makes one for a Box.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import reduce
from numbers import Integral
from operator import getitem
from reprlib import repr as brief
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from praemia.errors import ModelError

if TYPE_CHECKING:
    from gymnasium import spaces

MAX_SIZE = 10_000_000  # elements of a space


class FiniteIndex:
    """The indices of a finite space; ``what`` names the space in messages, which end with a ``remedy``."""

    def __init__(self, space: spaces.Space[Any], what: str = "the", remedy: str = "encode it") -> None:
        self.space, self._leaves = space, list(_leaves(space))
        for leaf, _, digits in self._leaves:
            if digits is None:
                inside = "" if leaf is space else f" (because of {leaf})"
                raise ModelError(f"{what} space is {space}, which is not finite{inside}; {remedy}")
        self._digits = [digit for _, _, digits in self._leaves for digit in digits or ()]
        self.size: int = math.prod(size for size, _ in self._digits)
        if self.size > MAX_SIZE:
            count = f"{magnitude(self.size)} elements, more than {MAX_SIZE:,}"
            raise ModelError(f"{what} space is {space} with {count}; {remedy}")
        self._elements: dict[int, Any] = {}

    def for_run(self) -> FiniteIndex:
        """Return the index itself: the space fixes it."""
        return self

    def number(self, element: Any) -> int:
        """Return the index of an element; a ModelError if it has none."""
        number = 0
        try:
            for leaf, path, digits in self._leaves:
                part = np.asarray(reduce(getitem, path, element))
                if part.shape != leaf.shape:
                    raise ValueError
                for value, (size, start) in zip(part.ravel().tolist(), digits or (), strict=True):
                    digit = int(value) - start
                    if not 0 <= digit < size or digit + start != value:
                        raise ValueError
                    number = number * size + digit
        except (TypeError, ValueError, OverflowError, KeyError, IndexError):
            raise ModelError(f"found {brief(element)}, outside the space {self.space}") from None
        return number

    def key(self, number: int) -> Any:
        """Return the element of an index as an integer, or as a tuple of its integers."""
        values = []
        for size, start in reversed(self._digits):
            number, digit = divmod(number, size)
            values.append(digit + start)
        return values[0] if self.space.shape == () else tuple(values[::-1])

    def element(self, number: int) -> Any:
        """Return the element of an index, as the environment shows it; arrays cannot be written to."""
        if number not in self._elements:
            self._elements[number] = _build(self.space, iter(np.ravel(self.key(number)).tolist()))
        return self._elements[number]

    def name(self, number: int) -> str:
        """Return the name of the element of an index."""
        return _name(self.element(number))

    def names(self) -> tuple[str, ...] | None:
        """Return a name for each index; None where the elements are the indices themselves."""
        is_plain = self.space.shape == () and self._digits[0][1] == 0
        return None if is_plain else tuple(map(self.name, range(self.size)))


def magnitude(size: int) -> str:
    """Write a size of any number of digits."""
    return f"{size:,}" if size < 10**12 else f"about 10^{int(math.log10(size))}"


def _leaves(space: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, tuple[Any, ...], list[Any] | None]]:
    """Yield the parts of a space, where they are, and the size and start of their integers; None if not finite."""
    from gymnasium import spaces

    if isinstance(space, spaces.Tuple | spaces.Dict):
        for key, part in enumerate(space.spaces) if isinstance(space, spaces.Tuple) else space.spaces.items():
            yield from _leaves(part, (*path, key))
    elif isinstance(space, spaces.Discrete):
        yield space, path, [(int(space.n), int(space.start))]
    elif isinstance(space, spaces.MultiDiscrete):
        yield space, path, list(zip(space.nvec.ravel().tolist(), space.start.ravel().tolist(), strict=True))
    else:
        yield space, path, [(2, 0)] * math.prod(space.shape) if isinstance(space, spaces.MultiBinary) else None


def _build(space: Any, values: Iterator[int]) -> Any:
    """Return the element that consists of some integers."""
    if hasattr(space, "spaces"):
        if isinstance(space.spaces, tuple):
            return tuple(_build(part, values) for part in space.spaces)
        return {key: _build(part, values) for key, part in space.spaces.items()}
    if space.shape == ():
        return next(values)
    array = np.array([next(values) for _ in range(math.prod(space.shape))], dtype=space.dtype).reshape(space.shape)
    array.setflags(write=False)
    return array


def space_as_data(space: Any) -> dict[str, Any]:
    """Return a finite space as plain data."""
    from gymnasium import spaces

    if isinstance(space, spaces.Tuple):
        return {"tuple": [space_as_data(part) for part in space.spaces]}
    if isinstance(space, spaces.Dict):
        return {"dict": {key: space_as_data(part) for key, part in space.spaces.items()}}
    if isinstance(space, spaces.Discrete):
        return {"discrete": [int(space.n), int(space.start)]}
    if isinstance(space, spaces.MultiDiscrete):
        return {"multi_discrete": [space.nvec.tolist(), space.start.tolist()]}
    return {"multi_binary": list(space.shape)}


def space_from_data(data: Any) -> spaces.Space[Any]:
    """Return the space that ``space_as_data`` wrote."""
    from gymnasium import spaces

    ((kind, parts),) = data.items()
    if kind == "tuple":
        return spaces.Tuple([space_from_data(part) for part in parts])
    if kind == "dict":
        return spaces.Dict({str(key): space_from_data(part) for key, part in parts.items()})
    if kind == "discrete":
        return spaces.Discrete(parts[0], start=parts[1])
    if kind == "multi_discrete":
        return spaces.MultiDiscrete(np.array(parts[0]), start=np.array(parts[1]))
    if kind == "multi_binary":
        return spaces.MultiBinary(parts)
    raise ModelError(f"unknown space {kind!r}")


def _name(element: Any) -> str:
    """Write an element as ``3``, ``[2 0]``, ``(3, [2 0])`` or ``floor=3 doors=[2 0]``."""
    if isinstance(element, tuple):
        return f"({', '.join(map(_name, element))})"
    if isinstance(element, dict):
        return " ".join(f"{key}={_name(part)}" for key, part in element.items())
    return f"[{' '.join(map(str, element.ravel()))}]" if isinstance(element, np.ndarray) else str(element)


class EncodedIndex:
    """The indices of what a user's function returns: integers as they are, other values in order of appearance.

    A function that returns both is refused, since the indices of one kind would be taken for those of the other.
    ``size`` is the limit of its values.
    """

    def __init__(
        self, encode: Callable[[Any], Hashable], size: int, codes: Mapping[Hashable, int] | None = None
    ) -> None:
        self.encode, self.size = encode, size
        self._indices: dict[Hashable, int] = dict(codes or {})
        self._is_integer: bool | None = False if codes else None  # None: unknown before the first element

    def for_run(self) -> EncodedIndex:
        """Return an empty index for a run, which thus depends on its seed alone."""
        return EncodedIndex(self.encode, self.size)

    @property
    def codes(self) -> dict[Hashable, int] | None:
        """The index of each value so far; None where the function returns integers, or has not been called."""
        return dict(self._indices) or None

    @property
    def has_cells(self) -> bool:
        """Whether the function is one of praemia's own, which a file can hold."""
        return hasattr(self.encode, "as_data")

    def number(self, element: Any) -> int:
        """Return the index of an element; a ModelError if the function does not give it one."""
        code: Any = self.encode(element)
        if type(code) is int and self._is_integer and 0 <= code < self.size:  # as fast as can be
            return code
        is_integer = isinstance(code, Integral) and not isinstance(code, bool)
        if self._is_integer is None:
            self._is_integer = is_integer
        before, limit = "something else" if is_integer else "integers", "give a larger num_observations="
        try:
            is_new = not is_integer and code not in self._indices
        except TypeError:
            remedy = "return an integer, a text or a tuple, such as tuple(array.tolist())"
            found = f"{brief(code)}, a {type(code).__name__}, which is not hashable"
            raise ModelError(f"encode returned {found}; {remedy}") from None
        if is_integer is not self._is_integer:
            problem = f"and {before} before; return integers always or never"
        elif is_integer and not 0 <= code < self.size:
            problem = f"expected an integer from 0 to {self.size - 1}, or always a tuple or a text; {limit}"
        elif is_new and len(self._indices) == self.size:
            problem = f"after {self.size} different values; {limit}, or encode into fewer values"
        else:
            return int(code) if is_integer else self._indices.setdefault(code, len(self._indices))
        raise ModelError(f"encode returned {brief(code)}, {problem}")

    def element(self, number: int) -> Any:
        """Refuse to return the element of an index: the function has no inverse."""
        raise ModelError("observations are encoded, so labels are known only for steps taken")

    def name(self, number: int) -> str:
        """Return the name of an index."""
        return (self.names() or {number: str(number)})[number]

    def names(self) -> tuple[str, ...] | None:
        """Return a name for each index; None where the function returns integers without names."""
        names: tuple[str, ...] | None = getattr(self.encode, "names", None)
        if names is not None or not self._indices:
            return names
        codes = [str(code) for code in self._indices]
        texts = codes if len(set(codes)) == len(codes) else [f"{code} #{i}" for i, code in enumerate(codes)]
        return (*texts, *(f"unseen #{i}" for i in range(len(codes), self.size)))


Index: TypeAlias = FiniteIndex | EncodedIndex
