"""Fill the continuation rows of a table as kernels do, for tests that look at them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from praemia.kernels.lanes import zeros
from praemia.kernels.records import LayerArrays
from praemia.kernels.rows import fill_rows


@njit
def _fill(table: Any, width: int, size: int, extra_rows: Any, layers: Any) -> None:
    rows = (0, extra_rows.shape[0])
    wide = width // 16 * 16
    fill_rows(zeros(16), table, width, size, extra_rows, layers, layers.paid, rows, (0, wide))
    fill_rows(zeros(4), table, width, size, extra_rows, layers, layers.paid, rows, (wide, width))


def fill(table: NDArray[np.float64], size: int, extra_rows: Any, layers: LayerArrays) -> None:
    """Fill the extra rows after ``size`` observations and the exits, sixteen machine states at a time, then four."""
    _fill(table.reshape(-1), table.shape[1], size, extra_rows, layers)
