"""Indices 0 … n − 1 of what a Gymnasium environment shows or takes.

Discrete with any start, MultiDiscrete, MultiBinary, and Tuple and Dict of these are indexed like the digits of a
number: the last part changes fastest. All other observations need a function of the user's; ``praemia.envs.cells``
makes one for a Box. The index of a run belongs to it, to its policy and to its data: a file holds it as plain data.
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

from praemia.envs.box_cells import MAX_SIZE, BoxCells, magnitude
from praemia.errors import ModelError, require_whole

if TYPE_CHECKING:
    from gymnasium import spaces

NEEDS_ENCODE = (
    "this policy was learned with encode=, a function; load it with the same one: Policy.load(path, encode=f)"
)


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

    def for_run(self, codes: object = None) -> FiniteIndex:
        """Return the index itself: the space fixes it."""
        return self

    def find(self, element: Any) -> int:
        """Return the index of an element, as ``number`` does."""
        return self.number(element)

    def as_data(self) -> dict[str, Any]:
        """Return the index as plain data."""
        return {"size": self.size, "space": space_as_data(self.space)}

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
    ``size`` is the limit of its values. Without the function, as in a file, an index says which codes it has.
    """

    def __init__(
        self, encode: Callable[[Any], Hashable] | None, size: int, codes: Mapping[Hashable, int] | None = None
    ) -> None:
        self.encode, self.size = encode, size
        self._indices: dict[Hashable, int] = dict(codes or {})
        self._is_integer: bool | None = False if codes else None  # None: unknown before the first element

    def for_run(self, codes: Mapping[Hashable, int] | None = None) -> EncodedIndex:
        """Return an index for a run, empty but for the codes that it begins with: it depends on its seed alone."""
        return EncodedIndex(self.encode, self.size, codes)

    @property
    def codes(self) -> dict[Hashable, int] | None:
        """The index of each value so far; None where the function returns integers, or has not been called."""
        return dict(self._indices) or None

    @property
    def cells(self) -> BoxCells | None:
        """The cells, where the function is made of them: a file holds them."""
        return self.encode if isinstance(self.encode, BoxCells) else None

    def number(self, element: Any) -> int:
        """Return the index of an element, a new one for a new value; a ModelError if there can be none."""
        code: Any = self.encode(element)  # type: ignore[misc]  # the index of a box has it
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

    def find(self, element: Any) -> int | None:
        """Return the index of an element, None for a value that has none; the index does not change."""
        if self.encode is None:
            raise ModelError(NEEDS_ENCODE)
        code: Any = self.encode(element)
        if self._indices:
            return self._indices.get(code)
        if isinstance(code, bool) or not isinstance(code, int | np.integer) or not 0 <= code < self.size:
            raise ModelError(
                f"encode returned {brief(code)}; this policy expects an integer from 0 to {self.size - 1}: other "
                "values are known to the policy of a run alone, run.policy"
            )
        return int(code)

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

    def as_data(self) -> dict[str, Any]:
        """Return the index as plain data; a ModelError if it has values that a file cannot hold."""
        if self.cells is not None:
            return {"size": self.size, "cells": self.cells.as_data()}
        return {"size": self.size, "encode": True, "codes": [*map(_tagged, self._indices)] or None}


Index: TypeAlias = FiniteIndex | EncodedIndex


def index_as_data(index: Index | None, size: int) -> dict[str, Any]:
    """Return an index as plain data; None stands for integers, which are their own indices."""
    return {"size": size} if index is None else index.as_data()


def index_from_data(data: Any) -> Index | None:
    """Read what ``index_as_data`` returned, from a file that anybody may have written."""
    size = require_whole("the number of observations", data["size"], 1)
    index: Index | None = None
    if "space" in data:
        index = FiniteIndex(space_from_data(data["space"]))
    elif "cells" in data:
        cells = BoxCells.from_data(data["cells"])
        index = EncodedIndex(cells, cells.num_observations)
    elif data.get("encode") is True:
        codes = [_untagged(code) for code in data["codes"] or ()]
        if len(set(codes)) != len(codes):
            raise ModelError("some of its observations have the same code")
        index = EncodedIndex(None, size, {code: i for i, code in enumerate(codes)})
    if index is not None and index.size != size:
        raise ModelError(f"it has {index.size} observations, and says {size}")
    return index


def require_same(what: str, mine: Index | None, size: int, other: Index, where: str) -> None:
    """Refuse what was made where observations are indexed in another way; None stands for integers."""
    own = mine if isinstance(mine, EncodedIndex) else None
    problem = None
    if size != other.size:
        problem = f"{size} observations; {where} has {other.size}"
    elif isinstance(other, FiniteIndex):
        if mine is not None and (own is not None or mine.space != other.space):  # type: ignore[union-attr]
            problem = f"other observations than {where}, {other.space}"
    elif own is None:
        problem = f"observations without encode=; {where} has it"
    elif (own.cells or other.cells) and own.encode != other.encode:
        problem = f"other cells than {where}"
    if problem:
        raise ModelError(f"{what} has {problem}")


def _tagged(code: Any) -> Any:
    """Return a code as JSON holds it: tuples as lists, bytes as a tagged text."""
    plain = code.item() if isinstance(code, np.generic) else code
    if plain is None or isinstance(plain, bool | int | str) or (isinstance(plain, float) and math.isfinite(plain)):
        return plain
    if isinstance(plain, bytes):
        return {"bytes": plain.hex()}
    if isinstance(plain, tuple):
        return [_tagged(part) for part in plain]
    raise ModelError(
        f"encode returned {brief(code)}, a {type(code).__name__}, which a policy's file cannot hold; expected None, "
        "true or false, integers, finite numbers, texts, bytes, or tuples of these"
    )


def _untagged(data: Any) -> Hashable:
    if isinstance(data, list):
        return tuple(_untagged(part) for part in data)
    return bytes.fromhex(data["bytes"]) if isinstance(data, dict) else data
