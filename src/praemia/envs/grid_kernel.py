"""How an agent moves on a grid: cells, walls, and moves that slip.

A move up, right, down or left goes as meant, to the right of that, to the left of it, or nowhere, each with its
probability. A move into a wall, off the grid or through a side that is shut stays where it is.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from praemia.limits import require_memory

MOVES = ("up", "right", "down", "left")
STAY = "stay"
SLIP = (0.7, 0.1, 0.1, 0.1)  # as meant, to the right of it, to the left, nowhere
STEPS = np.array([(-1, 0), (0, 1), (1, 0), (0, -1)])
_TURNS = (0, 1, -1)  # quarter turns from the direction meant, in the order of a slip
_BYTES_PER_CELL = 1_500  # 17 entries of four arrays, the copies made while they are sorted, and a name

Cell: TypeAlias = tuple[int, int]
Indices: TypeAlias = NDArray[np.int64]
Slip: TypeAlias = tuple[float, float, float, float]


def require_cells(rows: int, columns: int) -> None:
    """Raise a SizeError for a grid that would not fit in memory."""
    require_memory(_BYTES_PER_CELL * rows * columns, f"a grid of {rows:,} × {columns:,} cells")


def number_cells(free: NDArray[np.bool_]) -> Indices:
    """Number the free cells [R, C] row by row, int64[R, C]; a wall is −1."""
    return np.where(free, np.cumsum(free).reshape(free.shape) - 1, -1)


def reached_by_moves(cells: Indices, shut: NDArray[np.bool_] | None = None) -> Indices:
    """Return int64[4, O], the cell that each move leads to if it does not slip; the same one if there is no way.

    Parameters
    ----------
    cells : int64[R, C], the numbers of the free cells, −1 for a wall.
    shut : bool[4, R, C], whether a cell cannot be left by a move.
    """
    places = np.argwhere(cells >= 0)
    here = tuple(places.T)
    reached = np.empty((len(MOVES), len(places)), dtype=np.int64)
    for move, step in enumerate(STEPS):
        moved = places + step
        inside = np.all((moved >= 0) & (moved < cells.shape), axis=1)
        there = cells[tuple(np.where(inside[:, None], moved, places).T)]
        free = there >= 0 if shut is None else (there >= 0) & ~shut[move][here]
        reached[move] = np.where(free, there, cells[here])
    return reached


def kernel_entries(
    reached: Indices, *, stay: bool, slip: Slip = SLIP, slip_when_blocked: bool = True
) -> tuple[Indices, Indices, Indices, NDArray[np.float64]]:
    """Return the kernel's entries (o, a, o', p) of moves that lead to ``reached`` [4, O], and of a sure *stay*."""
    here = np.arange(reached.shape[1])
    parts = []
    for a in range(len(MOVES)):
        blocked = (reached[a] == here) & (not slip_when_blocked)
        for turn, probability in zip(_TURNS, slip[:3], strict=True):
            parts.append((a, np.where(blocked, here, reached[(a + turn) % 4]), probability))
        parts.append((a, here, slip[3]))
    if stay:
        parts.append((len(MOVES), here, 1.0))
    return (
        np.tile(here, len(parts)),
        np.repeat([a for a, _, _ in parts], len(here)),
        np.concatenate([targets for _, targets, _ in parts]),
        np.repeat([probability for _, _, probability in parts], len(here)),
    )
