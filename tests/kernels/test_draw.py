"""Drawing from running sums, against NumPy's search in a sorted array."""

from __future__ import annotations

import numpy as np
import pytest

from praemia.kernels.play import draw


@pytest.mark.parametrize("size", [*range(1, 20), 40, 200])
def test_a_draw_is_the_first_place_whose_running_sum_exceeds_the_number(size: int) -> None:
    """For numbers at every sum and between any two; some things have no probability at all."""
    rng = np.random.default_rng(size)
    weights = rng.integers(0, 4, size=size)
    weights[-1] = 1
    sums = np.cumsum(weights) / weights.sum()
    row = np.concatenate((np.zeros(3), sums, np.ones(3)))
    for uniform in (0.0, *sums[:-1], *(sums - 0.5 / weights.sum())):
        expected = np.searchsorted(sums, uniform, side="right")
        assert draw(row, 3, 3 + size, uniform) == 3 + expected
