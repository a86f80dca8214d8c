"""Numberings: what an environment of Gymnasium shows or takes, as numbers 0 … n − 1.

Discrete with any start, MultiDiscrete, MultiBinary, and Tuple and Dict of these are numbered like the digits of a
number: the last part changes fastest. Everything else is numbered by a function of the user's; ``cells`` makes one that
cuts a Box into cells.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from numbers import Integral
from reprlib import repr as brief
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from praemia.errors import ModelError, ParameterError, require_whole

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
        self.space, self._part = space, _part_of(space)
        self._sizes = [size for size, _ in self._part.digits]
        self._starts = [start for _, start in self._part.digits]
        self.size = math.prod(self._sizes)
        self._elements: dict[int, Any] = {}

    def forget(self) -> None:
        """Keep the numbers: the space fixes them."""

    def number(self, element: Any) -> int:
        """Return the number of an element; a ModelError if it has none."""
        number = 0
        try:
            values = self._part.read(element)
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
            self._elements[number] = self._part.build(iter(self._digits(number)))
        return self._elements[number]

    def key(self, number: int) -> Hashable:
        """Return the element of a number as a whole number, or as a tuple of its parts."""
        values = self._digits(number)
        return values[0] if self._part.is_number else tuple(values)

    def name(self, number: int) -> str:
        """Return the name of a number."""
        return _name(self._part.build(iter(self._digits(number))))

    def names(self) -> tuple[str, ...] | None:
        """Return a name for each number; None where the elements are their own numbers."""
        are_numbers = self._part.is_number and self._starts == [0]
        return None if are_numbers else tuple(map(self.name, range(self.size)))

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
        self.renumberings = np.zeros(1, dtype=np.int64)

    def forget(self) -> None:
        """Begin to number anew, so that a run depends on its seed alone."""
        self.renumberings += bool(self._numbers)  # whole numbers stay as they are
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


class _Part(NamedTuple):
    """How elements of a space consist of digits: the size and the start of each, how they are read, how they build one.

    ``read`` returns too few or too many digits for what has another form.
    """

    digits: list[tuple[int, int]]
    read: Callable[[Any], list[int]]
    build: Callable[[Iterator[int]], Any]
    is_number: bool = False


def _part_of(space: Any) -> _Part:
    from gymnasium import spaces

    if isinstance(space, spaces.Discrete):
        return _Part([(int(space.n), int(space.start))], lambda element: [_whole(element)], next, is_number=True)
    if isinstance(space, spaces.MultiDiscrete):
        sizes = zip(space.nvec.ravel().tolist(), space.start.ravel().tolist(), strict=True)
        return _array_part(space, list(sizes))
    if isinstance(space, spaces.MultiBinary):
        return _array_part(space, [(2, 0)] * math.prod(space.shape))
    if isinstance(space, spaces.Tuple):
        return _joined(tuple, range(len(space.spaces)), space.spaces)
    if isinstance(space, spaces.Dict):
        keys = list(space.spaces)
        return _joined(lambda built: dict(zip(keys, built, strict=True)), keys, space.spaces.values())
    raise _NotFinite(space)


def _array_part(space: Any, digits: list[tuple[int, int]]) -> _Part:
    def read(element: Any) -> list[int]:
        array = np.asarray(element)
        return [_whole(value) for value in array.ravel().tolist()] if array.shape == space.shape else []

    def build(values: Iterator[int]) -> Any:
        array = np.array([next(values) for _ in digits], dtype=space.dtype).reshape(space.shape)
        array.setflags(write=False)
        return array

    return _Part(digits, read, build)


def _joined(form: Callable[[Iterable[Any]], Any], keys: Collection[Any], inner: Iterable[Any]) -> _Part:
    """Put the parts of a Tuple or a Dict one after another."""
    parts = dict(zip(keys, map(_part_of, inner), strict=True))

    def read(element: Any) -> list[int]:
        if len(element) != len(parts):
            return []
        return [value for key, part in parts.items() for value in part.read(element[key])]

    digits = [digit for part in parts.values() for digit in part.digits]
    return _Part(digits, read, lambda values: form(part.build(values) for part in parts.values()))


def _whole(value: Any) -> int:
    whole = int(value)
    if whole != value:
        raise ValueError
    return whole


def _name(element: Any) -> str:
    """Write an element as ``3``, ``[2 0]``, ``(3, [2 0])`` or ``floor=3 doors=[2 0]``."""
    if isinstance(element, tuple):
        return f"({', '.join(map(_name, element))})"
    if isinstance(element, dict):
        return " ".join(f"{key}={_name(part)}" for key, part in element.items())
    return f"[{' '.join(map(str, element.ravel()))}]" if isinstance(element, np.ndarray) else str(element)


class BoxCells:
    """The cells of a Box: a function from its elements to whole numbers. ``cells`` makes one."""

    def __init__(self, edges: Sequence[NDArray[np.float64]]) -> None:
        self.edges = edges
        self.shape = tuple(len(inner) + 1 for inner in edges)
        self.num_observations = math.prod(self.shape)

    def __call__(self, element: ArrayLike) -> int:
        try:
            values = np.asarray(element, dtype=np.float64).ravel()
        except (TypeError, ValueError):
            raise ModelError(f"{brief(element)} is not in any cell; expected {len(self.edges)} numbers") from None
        if len(values) != len(self.edges):
            raise ModelError(f"an element with {len(values)} numbers; expected {len(self.edges)}, as the space has")
        if np.isnan(values).any():
            raise ModelError(f"{brief(element)} contains NaN, which lies in no cell")
        number = 0
        for value, inner in zip(values, self.edges, strict=True):
            number = number * (len(inner) + 1) + int(np.searchsorted(inner, value, side="right"))
        return number

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The cells by the places of their parts, such as ``2,0``."""
        return tuple(",".join(map(str, place)) for place in np.ndindex(self.shape))


def cells(space: spaces.Box, bins: int | Sequence[int | Sequence[float]]) -> BoxCells:
    """Cut a Box into cells, to be given as ``encode=``.

    Parameters
    ----------
    space : the Box.
    bins : into how many parts each of its numbers is cut, one for all or one for each; a list of increasing numbers
        says where to cut. A number without finite bounds needs such a list. What lies outside is in the outermost cell.

    Examples
    --------
    >>> import gymnasium
    >>> import praemia
    >>> car = gymnasium.make("MountainCar-v0")  # position from −1.2 to 0.6, velocity from −0.07 to 0.07
    >>> in_cells = praemia.envs.cells(car.observation_space, [9, [0.0]])
    >>> in_cells.num_observations, in_cells([-1.2, -0.01]), in_cells([-1.2, 0.01]), in_cells([0.6, 0.01])
    (18, 0, 1, 17)
    """
    from gymnasium import spaces

    if not isinstance(space, spaces.Box):
        raise ModelError(f"the space is {space}; expected a Box, whose numbers are cut into cells")
    lows, highs = space.low.ravel(), space.high.ravel()
    if not isinstance(bins, Integral | Sequence | np.ndarray) or isinstance(bins, str):
        raise ParameterError(f"bins={bins!r}; expected a whole number, or an entry for each number of the space")
    each: list[Any] = [bins] * len(lows) if isinstance(bins, Integral) else list(bins)
    if len(each) != len(lows):
        raise ParameterError(f"bins has {len(each)} entries; expected one number, or one entry for each of {len(lows)}")
    bounds = zip(lows.tolist(), highs.tolist(), strict=True)
    numbering = BoxCells([_edges(i, part, *ends) for i, (part, ends) in enumerate(zip(each, bounds, strict=True))])
    if numbering.num_observations > MAX_SIZE:
        count = magnitude(numbering.num_observations)
        raise ParameterError(f"bins: they make {count} cells, more than {MAX_SIZE:,}; give fewer bins")
    return numbering


def _edges(place: int, bins: Any, low: float, high: float) -> NDArray[np.float64]:
    """Return where one number of a Box is cut."""
    if isinstance(bins, Integral):
        count = require_whole(f"bins[{place}]", bins, 1, MAX_SIZE)
        if count > 1 and not math.isfinite(high - low):
            raise ParameterError(
                f"bins[{place}]={bins}, and that number has no finite bounds ({low} to {high}); "
                "give a list of the numbers to cut at, such as [-1.0, 0.0, 1.0]"
            )
        return np.linspace(low, high, count + 1)[1:-1] if count > 1 else np.empty(0)
    try:
        edges = np.asarray(bins, dtype=np.float64)
    except (TypeError, ValueError):
        edges = np.array(np.nan)
    if edges.ndim != 1 or not np.all(np.isfinite(edges)) or np.any(np.diff(edges) <= 0.0):
        raise ParameterError(f"bins[{place}]={bins!r}; expected a whole number, or increasing numbers to cut at")
    return edges
