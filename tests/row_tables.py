"""Fill the continuation rows of a table as kernels do, for tests that look at them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from praemia.kernels.exact import fill, lanes_of
from praemia.kernels.lanes import zeros
from praemia.kernels.records import NUM_EXITS, LayerArrays


def _kernel(lanes: int) -> Any:
    return njit(lambda *arguments: fill(zeros(lanes), *arguments))


KERNELS = {lanes: _kernel(lanes) for lanes in (4, 8, 16)}


def fill_table(table: NDArray[np.float64], size: int, extra_rows: Any, layers: LayerArrays) -> None:
    """Fill the extra rows after ``size`` observations and the exits, as exact planning does for this width."""
    exits = table[size : size + NUM_EXITS].ravel().copy()
    KERNELS[lanes_of(table.shape[1])](table.reshape(-1), exits, size, extra_rows, layers, (0, len(extra_rows)))
