"""Fill the continuation rows of a table as kernels do, for tests that look at them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from praemia.kernels import exact
from praemia.kernels.compiling import INTERNAL, specialised
from praemia.kernels.exact import lanes_of
from praemia.kernels.numbers import flat
from praemia.kernels.records import LayerArrays
from praemia.kernels.references import by_reference

KERNELS = {
    lanes: specialised(exact.fill, f"fill_{lanes}", {"MOST_LANES": lanes}, keep=False, **INTERNAL)
    for lanes in (4, 8, 16)
}
FILL_4, FILL_8, FILL_16 = KERNELS[4], KERNELS[8], KERNELS[16]


@njit
def _fill(table: Any, size: int, extra_rows: Any, layers: Any, last: int) -> None:
    first, width = np.int64(0), table.shape[1]
    if width >= 16:
        FILL_16(flat(table), width, size, extra_rows, layers, first, last)
    elif width >= 8:
        FILL_8(flat(table), width, size, extra_rows, layers, first, last)
    else:
        FILL_4(flat(table), width, size, extra_rows, layers, first, last)


def fill(table: NDArray[np.float64], size: int, extra_rows: Any, layers: LayerArrays) -> None:
    """Fill the extra rows after ``size`` observations and the exits, as exact planning does for this width."""
    assert lanes_of(table.shape[1]) in KERNELS
    _fill(table, size, extra_rows, by_reference(layers), len(extra_rows))
