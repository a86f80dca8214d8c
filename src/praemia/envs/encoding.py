"""Observations of any kind as numbers, by a function of the user's; and the cells of a Box as such a function."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from numbers import Integral
from reprlib import repr as brief
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from praemia.envs.spaces import MAX_SIZE, Numbering, kind_of, magnitude
from praemia.errors import ModelError, ParameterError, require_whole

if TYPE_CHECKING:
    from gymnasium import spaces


class EncodedNumbering(Numbering):
    """What a function of the user's returns: whole numbers as they are, other things numbered as they appear.

    A function that returns both is refused, since the numbers of one kind would be taken for those of the other.

    Parameters
    ----------
    encode : the function; size : the limit of its values.
    """

    def __init__(self, encode: Callable[[Any], Hashable], size: int) -> None:
        self.encode, self.size = encode, size
        self._seen: dict[Hashable, int] = {}
        self._is_whole: bool | None = None  # unknown before the first element

    def forget(self) -> None:
        """Begin to number anew."""
        self._seen.clear()
        self._is_whole = None

    def number(self, element: Any) -> int:
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
            number = self._seen.setdefault(code, len(self._seen))
        except TypeError:
            raise ModelError(
                f"encode returned {brief(code)}, a {type(code).__name__}, which is not hashable and so has no number; "
                "return a whole number, a text or a tuple, such as tuple(array.tolist())"
            ) from None
        if number >= self.size:
            del self._seen[code]
            raise ModelError(
                f"encode returned more than {self.size} different values, the last one {brief(code)}; "
                "give a larger num_observations=, or encode into fewer values"
            )
        return number

    def names(self) -> tuple[str, ...] | None:
        named = getattr(self.encode, "names", None)
        if named is not None or not self._seen:
            return named
        codes = [str(code) for code in self._seen]
        listed = codes if len(set(codes)) == len(codes) else [f"{code} #{i}" for i, code in enumerate(codes)]
        return (*listed, *(f"unseen #{i}" for i in range(len(codes), self.size)))


class Cells:
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
            raise ModelError(f"{brief(element)} has a number that is nan, which is not in any cell")
        number = 0
        for value, inner in zip(values, self.edges, strict=True):
            number = number * (len(inner) + 1) + int(np.searchsorted(inner, value, side="right"))
        return number

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The cells by the places of their parts, such as ``2,0``."""
        return tuple(",".join(map(str, place)) for place in np.ndindex(self.shape))


def cells(space: spaces.Box, bins: int | Sequence[int | Sequence[float]]) -> Cells:
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
    if kind_of(space) != "Box":
        raise ModelError(f"the space is {space}; expected a Box, whose numbers are cut into cells")
    lows, highs = space.low.ravel(), space.high.ravel()
    if not isinstance(bins, Integral | Sequence | np.ndarray) or isinstance(bins, str):
        raise ParameterError(f"bins={bins!r}; expected a whole number, or an entry for each number of the space")
    each: list[Any] = [bins] * len(lows) if isinstance(bins, Integral) else list(bins)
    if len(each) != len(lows):
        raise ParameterError(f"bins has {len(each)} entries; expected one number, or one entry for each of {len(lows)}")
    bounds = zip(lows.tolist(), highs.tolist(), strict=True)
    numbering = Cells([_edges(i, part, *ends) for i, (part, ends) in enumerate(zip(each, bounds, strict=True))])
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
