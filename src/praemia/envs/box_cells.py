"""Cells of a Box: a function from its elements to integers, for observations that are not finite."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from numbers import Integral
from reprlib import repr as brief
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from praemia.errors import ModelError, ParameterError, require_whole

if TYPE_CHECKING:
    from gymnasium import spaces

MAX_SIZE = 10_000_000  # of a space, or of the cells of a Box


class BoxCells:
    """The cells between the ``edges`` of each number of a Box; ``cells`` makes them.

    Attributes
    ----------
    edges : for each number, where it is divided. bounds : its lowest and its highest. shape : how many parts each has.
    axes : a name for each number; units : a unit for each. Both may be None.
    """

    def __init__(
        self,
        edges: Sequence[NDArray[np.float64]],
        bounds: Sequence[tuple[float, float]],
        axes: tuple[str, ...] | None = None,
        units: tuple[str, ...] | None = None,
    ) -> None:
        self.edges, self.bounds, self.axes, self.units = edges, bounds, axes, units
        self.shape = tuple(len(inner) + 1 for inner in edges)
        self.num_observations = math.prod(self.shape)
        self._divided = [(inner.tolist(), len(inner) + 1) for inner in edges]

    def __call__(self, element: ArrayLike) -> int:
        try:
            values = np.asarray(element, dtype=np.float64).ravel().tolist()
        except (TypeError, ValueError):
            values = []
        index = 0
        if len(values) == len(self._divided):
            for value, (inner, count) in zip(values, self._divided, strict=True):
                if value != value:
                    break
                index = index * count + bisect_right(inner, value)
            else:
                return index
        raise ModelError(f"{brief(element)} is in no cell; expected {len(self.edges)} numbers that are not NaN")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BoxCells) and self._divided == other._divided

    __hash__ = object.__hash__

    def as_data(self) -> dict[str, Any]:
        """Return the cells as plain data."""
        bounds = [[None if math.isinf(end) else end for end in ends] for ends in self.bounds]
        return {
            "edges": [inner for inner, _ in self._divided],
            "bounds": bounds,
            "axes": self.axes,
            "units": self.units,
        }

    @classmethod
    def from_data(cls, data: Any) -> BoxCells:
        """Return the cells that ``as_data`` wrote."""
        infinite = -math.inf, math.inf
        bounds = [
            (infinite[0] if low is None else float(low), infinite[1] if high is None else float(high))
            for low, high in data["bounds"]
        ]
        edges = [_edges(i, inner, *ends) for i, (inner, ends) in enumerate(zip(data["edges"], bounds, strict=True))]
        return cls(edges, bounds, *(_texts(name, data[name], len(edges)) for name in ("axes", "units")))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The cells by the indices of their parts, such as ``2,0``."""
        return tuple(",".join(map(str, place)) for place in np.ndindex(self.shape))

    def nearest(self, cell: int, among: NDArray[np.int64]) -> int:
        """Return the nearest of some cells: by the sum of the index differences, ties to the lowest index."""
        here, there = (np.stack(np.unravel_index(part, self.shape), axis=-1) for part in (cell, among))
        return int(among[np.abs(there - here).sum(axis=1).argmin()])


def cells(
    space: spaces.Box,
    bins: int | Sequence[int | Sequence[float]],
    *,
    names: Sequence[str] | None = None,
    units: Sequence[str] | None = None,
) -> BoxCells:
    """Divide a Box into cells, to be given as ``encode=``.

    Parameters
    ----------
    space : the Box.
    bins : the number of bins of each variable, one for all or one for each; or a list of increasing bin edges, which an
        unbounded variable needs. Values outside are in the outermost bin.
    names, units : a name and a unit for each variable, for pictures.

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
        raise ModelError(f"the space is {space}; expected a Box, whose numbers are divided into cells")
    bounds = list(zip(space.low.ravel().tolist(), space.high.ravel().tolist(), strict=True))
    if not isinstance(bins, Integral | Sequence | np.ndarray) or isinstance(bins, str):
        raise ParameterError(f"bins={bins!r}; expected an integer, or an entry for each number of the space")
    each: list[Any] = [bins] * len(bounds) if isinstance(bins, Integral) else list(bins)
    if len(each) != len(bounds):
        raise ParameterError(
            f"bins has {len(each)} entries; expected one number, or an entry for each of {len(bounds)}"
        )
    edges = [_edges(i, part, *ends) for i, (part, ends) in enumerate(zip(each, bounds, strict=True))]
    made = BoxCells(edges, bounds, _texts("names", names, len(bounds)), _texts("units", units, len(bounds)))
    if made.num_observations > MAX_SIZE:
        count = magnitude(made.num_observations)
        raise ParameterError(f"bins: they make {count} cells, more than {MAX_SIZE:,}; give fewer bins")
    return made


def _texts(what: str, texts: Any, count: int) -> tuple[str, ...] | None:
    """Check a text for each number of a Box."""
    if texts is None:
        return None
    if isinstance(texts, str) or len(texts) != count or not all(isinstance(text, str) for text in texts):
        raise ParameterError(f"{what}={texts!r}; expected a text for each of {count} numbers")
    return tuple(texts)


def _edges(place: int, bins: Any, low: float, high: float) -> NDArray[np.float64]:
    """Return where one number of a Box is divided."""
    if isinstance(bins, Integral):
        count = require_whole(f"bins[{place}]", bins, 1, MAX_SIZE)
        if count > 1 and not math.isfinite(high - low):
            raise ParameterError(
                f"bins[{place}]={bins}, and that number has no finite bounds ({low} to {high}); "
                "give a list of the numbers to divide at, such as [-1.0, 0.0, 1.0]"
            )
        return np.linspace(low, high, count + 1)[1:-1] if count > 1 else np.empty(0)
    try:
        edges = np.asarray(bins, dtype=np.float64)
    except (TypeError, ValueError):
        edges = np.array(np.nan)
    if edges.ndim != 1 or not np.all(np.isfinite(edges)) or np.any(edges[1:] <= edges[:-1]):
        raise ParameterError(f"bins[{place}]={bins!r}; expected an integer, or increasing numbers to divide at")
    return edges


def magnitude(size: int) -> str:
    """Write a size of any number of digits."""
    return f"{size:,}" if size < 10**12 else f"about 10^{int(math.log10(size))}"
