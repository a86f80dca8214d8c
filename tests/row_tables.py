"""Fill the continuation rows of a table as kernels do, for tests that look at them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from praemia.kernels.exact import fill, lanes_of
from praemia.kernels.lanes import zeros
from praemia.kernels.records import NUM_EXITS, LayerArrays


@njit
def _fill_4(*arguments: Any) -> None:
    fill(zeros(4), *arguments)


@njit
def _fill_8(*arguments: Any) -> None:
    fill(zeros(8), *arguments)


@njit
def _fill_16(*arguments: Any) -> None:
    fill(zeros(16), *arguments)


KERNELS = {4: _fill_4, 8: _fill_8, 16: _fill_16}


def fill_table(table: NDArray[np.float64], size: int, extra_rows: Any, layers: LayerArrays) -> None:
    """Fill the extra rows after ``size`` observations and the exits, as exact planning does for this width."""
    exits = table[size : size + NUM_EXITS].ravel().copy()
    KERNELS[lanes_of(table.shape[1])](table.reshape(-1), exits, size, extra_rows, layers, (0, len(extra_rows)))
