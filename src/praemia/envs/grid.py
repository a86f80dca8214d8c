"""Grids in which moves slip: what the warehouse, the rooms and the office share.

A grid has cells that can be entered and walls that cannot. A move up, right, down or left goes as meant
w.p. 0.7, to each side w.p. 0.1 and nowhere w.p. 0.1; a move into a wall or off the grid stays.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from praemia.models.memory import require_memory

MOVES = ("up", "right", "down", "left")
STAY = "stay"
_STEPS = np.array([(-1, 0), (0, 1), (1, 0), (0, -1)])
SLIPPING = (0.7, 0.1, 0.1)  # probabilities of going as meant, to each side, and nowhere
_BYTES_PER_CELL = 1_500  # 17 entries of four arrays, the copies made while they are sorted, and a name

Cell: TypeAlias = tuple[int, int]
Indices: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Grid:
    """Cells of a grid that can be entered, numbered row by row.

    Attributes
    ----------
    cells : int64[R, C], the observation of each cell, −1 for a wall.
    blocked : pairs of neighbouring cells ((r, c), (r, c)) between which there is no way.
    """

    cells: Indices
    blocked: frozenset[frozenset[Cell]] = frozenset()

    @classmethod
    def open(cls, rows: int, columns: int, walls: Iterable[Cell] = ()) -> Grid:
        """Make a grid from its size and the cells that are walls."""
        require_memory(_BYTES_PER_CELL * rows * columns, f"a grid of {rows:,} × {columns:,} cells")
        free = np.ones((rows, columns), dtype=bool)
        for cell in walls:
            free[cell] = False
        return cls(np.where(free, np.cumsum(free).reshape(free.shape) - 1, -1))

    @property
    def num_cells(self) -> int:
        return int(self.cells.max()) + 1

    def names(self) -> tuple[str, ...]:
        """Return the names of the observations, ``r,c``."""
        return tuple(f"{r},{c}" for r, c in np.argwhere(self.cells >= 0))

    def observation(self, cell: Cell) -> int:
        """Return the observation of a cell."""
        return int(self.cells[cell])

    def entries(
        self, *, stay: bool, slipping: tuple[float, float, float] = SLIPPING
    ) -> tuple[Indices, Indices, Indices, NDArray[np.float64]]:
        """Return the kernel's entries (o, a, o', p) for the four moves, and the sure *stay* if wanted."""
        forth, aside, nowhere = slipping
        places = np.argwhere(self.cells >= 0)
        here = self.cells[places[:, 0], places[:, 1]]
        reached = np.stack([self._neighbours(places, step) for step in _STEPS])
        parts = []
        for a in range(len(MOVES)):
            for turn, probability in ((0, forth), (1, aside), (-1, aside)):
                parts.append((a, reached[(a + turn) % 4], probability))
            parts.append((a, here, nowhere))
        if stay:
            parts.append((len(MOVES), here, 1.0))
        return (
            np.tile(here, len(parts)),
            np.repeat([a for a, _, _ in parts], len(here)),
            np.concatenate([targets for _, targets, _ in parts]),
            np.repeat([probability for _, _, probability in parts], len(here)),
        )

    def _neighbours(self, places: Indices, step: Indices) -> Indices:
        """Return where a step leads from each place; the place itself if there is no way."""
        moved = places + step
        inside = np.all((moved >= 0) & (moved < self.cells.shape), axis=1)
        moved = np.where(inside[:, None], moved, places)
        free = self.cells[moved[:, 0], moved[:, 1]] >= 0
        if self.blocked:
            pairs = zip(map(tuple, places.tolist()), map(tuple, moved.tolist()), strict=True)
            free &= np.array([frozenset(pair) not in self.blocked for pair in pairs])
        moved = np.where(free[:, None], moved, places)
        reached: Indices = self.cells[moved[:, 0], moved[:, 1]]
        return reached
