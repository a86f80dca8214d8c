"""Drawing from running sums, against NumPy's search in a sorted array."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from praemia.kernels.play import draw


@given(
    weights=st.lists(st.integers(0, 5), min_size=1, max_size=40).filter(any),
    before=st.integers(0, 3),
    uniform=st.floats(0.0, 1.0, exclude_max=True),
    at_a_sum=st.booleans(),
)
def test_a_draw_is_the_first_place_whose_running_sum_exceeds_the_number(
    weights: list[int], before: int, uniform: float, at_a_sum: bool
) -> None:
    sums = np.cumsum(weights) / sum(weights)
    if at_a_sum:
        uniform = float(sums[int(uniform * len(sums))])
    expected = min(int(np.searchsorted(sums, uniform, side="right")), len(sums) - 1)
    rows = np.concatenate((np.zeros(before), sums, np.ones(3)))
    assert draw(rows, before, before + len(sums), uniform) == before + expected
