"""Cells of a Box: a function from its elements to integers, for observations that are not finite."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from numbers import Integral
from reprlib import repr as brief
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from praemia.envs.indexing import MAX_SIZE, magnitude
from praemia.errors import ModelError, ParameterError, require_whole

if TYPE_CHECKING:
    from gymnasium import spaces


class BoxCells:
    """The cells between the ``edges`` of each number of a Box; ``cells`` makes them."""

    def __init__(self, edges: Sequence[NDArray[np.float64]]) -> None:
        self.edges = edges
        self.shape = tuple(len(inner) + 1 for inner in edges)
        self.num_observations = math.prod(self.shape)

    def __call__(self, element: ArrayLike) -> int:
        try:
            values = np.asarray(element, dtype=np.float64).ravel()
        except (TypeError, ValueError):
            values = np.empty(0)
        if len(values) != len(self.edges) or np.isnan(values).any():
            raise ModelError(f"{brief(element)} is in no cell; expected {len(self.edges)} numbers that are not NaN")
        index = 0
        for value, inner in zip(values, self.edges, strict=True):
            index = index * (len(inner) + 1) + int(np.searchsorted(inner, value, side="right"))
        return index

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The cells by the indices of their parts, such as ``2,0``."""
        return tuple(",".join(map(str, place)) for place in np.ndindex(self.shape))


def cells(space: spaces.Box, bins: int | Sequence[int | Sequence[float]]) -> BoxCells:
    """Divide a Box into cells, to be given as ``encode=``.

    Parameters
    ----------
    space : the Box.
    bins : into how many parts each of its numbers is divided, one for all or one for each; a list of increasing numbers
        says where to divide. A number without finite bounds needs such a list. What lies outside is in the outermost
        cell.

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
    made = BoxCells([_edges(i, part, *ends) for i, (part, ends) in enumerate(zip(each, bounds, strict=True))])
    if made.num_observations > MAX_SIZE:
        count = magnitude(made.num_observations)
        raise ParameterError(f"bins: they make {count} cells, more than {MAX_SIZE:,}; give fewer bins")
    return made


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
    if edges.ndim != 1 or not np.all(np.isfinite(edges)) or np.any(np.diff(edges) <= 0.0):
        raise ParameterError(f"bins[{place}]={bins!r}; expected an integer, or increasing numbers to divide at")
    return edges
