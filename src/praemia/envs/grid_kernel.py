"""How an agent moves on a grid: cells, walls, one-way cells, and moves that slip.

A move up, right, down or left goes as meant, to the right of that, to the left of it, or nowhere, each with its
probability. A move into a wall, off the grid or against a one-way cell stays where it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from praemia.limits import require_memory

MOVES = ("up", "right", "down", "left")
STAY = "stay"
SLIP = (0.7, 0.1, 0.1, 0.1)  # as meant, to the right of it, to the left, nowhere
ANY_WAY = -1
_STEPS = np.array([(-1, 0), (0, 1), (1, 0), (0, -1)])
_TURNS = (0, 1, -1)  # quarter turns from the direction meant, in the order of a slip
_BYTES_PER_CELL = 1_500  # 17 entries of four arrays, the copies made while they are sorted, and a name

Cell: TypeAlias = tuple[int, int]
Indices: TypeAlias = NDArray[np.int64]
Slip: TypeAlias = tuple[float, float, float, float]


@dataclass(frozen=True, eq=False)
class Grid:
    """Cells of a grid that can be entered, numbered row by row.

    Attributes
    ----------
    cells : int64[R, C], the observation of each cell, −1 for a wall.
    blocked : pairs of neighbouring cells ((r, c), (r, c)) that a thin wall separates.
    exits : int64[R, C], the number of the only move that leaves a cell, ``ANY_WAY`` elsewhere; None without such cells.
    """

    cells: Indices
    blocked: frozenset[frozenset[Cell]] = frozenset()
    exits: Indices | None = None

    @classmethod
    def open(cls, rows: int, columns: int, walls: Iterable[Cell] = ()) -> Grid:
        """Make a grid from its size and the cells that are walls."""
        require_cells(rows, columns)
        free = np.ones((rows, columns), dtype=bool)
        for cell in walls:
            free[cell] = False
        return cls(number_cells(free))

    @property
    def num_cells(self) -> int:
        return int(self.cells.max()) + 1

    def names(self) -> tuple[str, ...]:
        """Return the names of the observations, ``r,c``."""
        return tuple(f"{r},{c}" for r, c in np.argwhere(self.cells >= 0))

    def observation(self, cell: Cell) -> int:
        """Return the observation of a cell."""
        return int(self.cells[cell])

    def entries(self, *, stay: bool, slip: Slip = SLIP) -> tuple[Indices, Indices, Indices, NDArray[np.float64]]:
        """Return the kernel's entries (o, a, o', p) for the four moves, and the sure *stay* if wanted."""
        places = np.argwhere(self.cells >= 0)
        here = self.cells[places[:, 0], places[:, 1]]
        reached = np.stack([self._reached(places, move) for move in range(len(MOVES))])
        parts = []
        for a in range(len(MOVES)):
            for turn, probability in zip(_TURNS, slip[:3], strict=True):
                parts.append((a, reached[(a + turn) % 4], probability))
            parts.append((a, here, slip[3]))
        if stay:
            parts.append((len(MOVES), here, 1.0))
        return (
            np.tile(here, len(parts)),
            np.repeat([a for a, _, _ in parts], len(here)),
            np.concatenate([targets for _, targets, _ in parts]),
            np.repeat([probability for _, _, probability in parts], len(here)),
        )

    def _reached(self, places: Indices, move: int) -> Indices:
        """Return the observation that a move leads to from each place [N, 2]; the place's own if there is no way."""
        moved = places + _STEPS[move]
        inside = np.all((moved >= 0) & (moved < self.cells.shape), axis=1)
        moved = np.where(inside[:, None], moved, places)
        free = self.cells[moved[:, 0], moved[:, 1]] >= 0
        if self.blocked:
            pairs = zip(map(tuple, places.tolist()), map(tuple, moved.tolist()), strict=True)
            free &= np.array([frozenset(pair) not in self.blocked for pair in pairs])
        if self.exits is not None:
            exits = self.exits[places[:, 0], places[:, 1]]
            free &= (exits == ANY_WAY) | (exits == move)
        moved = np.where(free[:, None], moved, places)
        reached: Indices = self.cells[moved[:, 0], moved[:, 1]]
        return reached


def require_cells(rows: int, columns: int) -> None:
    """Raise a SizeError for a grid that would not fit in memory."""
    require_memory(_BYTES_PER_CELL * rows * columns, f"a grid of {rows:,} × {columns:,} cells")


def number_cells(free: NDArray[np.bool_]) -> Indices:
    """Number the free cells [R, C] row by row; a wall is −1."""
    return np.where(free, np.cumsum(free).reshape(free.shape) - 1, -1)
