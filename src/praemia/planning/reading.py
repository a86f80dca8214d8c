"""How a policy reads what an environment shows: an index for each observation, as data that a file can hold.

The indices belong to the policy. An observation that it does not know has no index, whatever another run called it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import cached_property
from reprlib import repr as brief
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from praemia.envs.box_cells import BoxCells
from praemia.envs.indexing import FiniteIndex, Index, space_as_data, space_from_data
from praemia.errors import ModelError, ParameterError, require_whole
from praemia.files.arrays import DamageError

NEEDS_ENCODE = (
    "this policy was learned with encode=, a function; load it with the same one: Policy.load(path, encode=f)"
)


@dataclass(frozen=True, eq=False)
class Observations:
    """The observations of a policy.

    Attributes
    ----------
    size : O. space : the indices of a finite space; None for integers, and where ``encode`` returns the index.
    encode : the user's function, or cells. codes : the index of each of its values; None where it returns integers.
    met : bool[O], those met while learning; None: all.
    """

    size: int
    space: FiniteIndex | None = None
    encode: Callable[[Any], Hashable] | None = None
    codes: dict[Hashable, int] | None = None
    met: NDArray[np.bool_] | None = None
    needs_encode: bool = False

    @classmethod
    def of(cls, index: Index, met: ArrayLike | None = None) -> Observations:
        """Return the observations of a black box as a run has indexed them."""
        seen = None if met is None else np.asarray(met, dtype=bool)
        if isinstance(index, FiniteIndex):
            return cls(index.size, space=index, met=seen)
        return cls(index.size, encode=index.encode, codes=index.codes, met=seen, needs_encode=not index.has_cells)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "encode": self.cells}  # as in a file: no function of the user's

    @property
    def cells(self) -> BoxCells | None:
        """The cells, where there are any."""
        return self.encode if isinstance(self.encode, BoxCells) else None

    def number(self, observation: Any) -> int | None:
        """Return the index of an observation, None for one never met; a ModelError for what cannot be one."""
        place = self._place(observation)
        if place is None or self.met is None or self.met[place]:
            return place
        return None if self.cells is None else self._nearest(place)

    def _place(self, observation: Any) -> int | None:
        if self.space is not None:
            return self.space.number(observation)
        if self.encode is None:
            if self.needs_encode:
                raise ModelError(NEEDS_ENCODE)
            return require_whole("observation", observation, 0, self.size - 1)
        code: Any = self.encode(observation)
        if self.codes is not None:
            return self.codes.get(code)
        if isinstance(code, bool) or not isinstance(code, int | np.integer) or not 0 <= code < self.size:
            raise ModelError(
                f"encode returned {brief(code)}; this policy expects an integer from 0 to {self.size - 1}: other "
                "values are known to the policy of a run alone, run.policy"
            )
        return int(code)

    @cached_property
    def _met_cells(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The cells that were met, and where each lies."""
        assert self.met is not None
        assert self.cells is not None
        numbers = np.flatnonzero(self.met)
        return numbers, np.stack(np.unravel_index(numbers, self.cells.shape), axis=1)

    def _nearest(self, place: int) -> int | None:
        """Return the nearest cell that was met: by the sum of the index differences, ties to the lowest index."""
        assert self.cells is not None
        numbers, places = self._met_cells
        if not len(numbers):
            return None
        here = np.array(np.unravel_index(place, self.cells.shape))
        return int(numbers[np.abs(places - here).sum(axis=1).argmin()])

    def require_same(self, index: Index, where: str, what: str = "this policy") -> None:
        """Refuse what was made where observations are indexed in another way."""
        problem = None
        if self.size != index.size:
            problem = f"{self.size} observations; {where} has {index.size}"
        elif isinstance(index, FiniteIndex):
            if self.encode is not None or (self.space is not None and self.space.space != index.space):
                problem = f"other observations than {where}, {index.space}"
        elif self.cells is not None or isinstance(index.encode, BoxCells):
            if self.encode != index.encode:
                problem = f"other cells than {where}"
        elif self.encode is None and not self.needs_encode:
            problem = f"observations without encode=; {where} has it"
        if problem:
            raise ModelError(f"{what} has {problem}")

    def as_data(self) -> dict[str, Any]:
        """Return the observations as plain data, but for ``met``."""
        data: dict[str, Any] = {"size": self.size}
        if self.space is not None:
            data["space"] = space_as_data(self.space.space)
        elif self.cells is not None:
            data["cells"] = self.cells.as_data()
        elif self.needs_encode:
            data["encode"] = True
            data["codes"] = None if self.codes is None else [_tagged(code) for code in self.codes]
        return data

    @classmethod
    def from_data(cls, data: Any, met: NDArray[np.bool_] | None, encode: Any = None) -> Observations:
        """Read what ``as_data`` returned, from a file that anybody may have written."""
        size = require_whole("the number of observations", data["size"], 1)
        if met is not None and met.shape != (size,):
            raise DamageError(f"it says of {len(met)} observations whether they were met, and has {size}")
        made = cls(size, met=met)
        if "space" in data:
            made = replace(made, space=FiniteIndex(space_from_data(data["space"])))
        elif "cells" in data:
            made = replace(made, encode=BoxCells.from_data(data["cells"]))
        elif data.get("encode") is True:
            codes = data["codes"]
            index = None if codes is None else {_untagged(code): i for i, code in enumerate(codes)}
            made = replace(made, codes=index, needs_encode=True)
        found = made.space.size if made.space else made.cells.num_observations if made.cells else size
        if found != size or (made.codes is not None and len(made.codes) != len(data["codes"])):
            raise DamageError(f"it has {found} observations, and says {size}")
        return made if encode is None else made.with_encode(encode)

    def with_encode(self, encode: object) -> Observations:
        """Return the observations read with a function of the user's."""
        if not self.needs_encode:
            raise ParameterError("encode= for a policy that needs none: it knows how its observations are indexed")
        if not callable(encode):
            raise ParameterError(f"encode={encode!r}; expected the function from observations that it was learned with")
        return replace(self, encode=encode)


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
