"""The best of several actions, for some machine states at a time: a best one each, drawn uniformly among equals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import njit
from scipy.stats import chisquare

from praemia.kernels.lanes import store, zeros
from praemia.kernels.ties import new_stream, take_best


def taker(lanes: int) -> Any:
    """Return a function that takes the best actions of so many machine states at a time."""

    @njit
    def take(options: Any, num_actions: int, here: Any, policy: Any, count: int, stream: Any) -> None:
        store(here, 0, take_best(zeros(lanes), options, num_actions, policy, 0, count, stream))

    return take


@pytest.mark.parametrize(("lanes", "count"), [(1, 1), (4, 3), (4, 4), (8, 8)])
def test_a_best_action_is_taken_and_equals_are_drawn_uniformly(lanes: int, count: int) -> None:
    """χ² for each machine state, over 2,000 draws; error level 0.001 for each of the 16."""
    num_actions, draws, take = 5, 2_000, taker(lanes)
    rng = np.random.default_rng([lanes, count])
    stream = new_stream(rng)
    options = rng.integers(0, 3, size=(num_actions, lanes)) / 4  # few values, so that many are equal
    options[0, : lanes // 2] = options[-1, : lanes // 2] = 0.75
    options[:, -1] = 0.5  # the last has nothing but equals
    taken = np.full((draws, lanes + 1), 9, dtype=np.int8)
    for row in taken:
        here = np.zeros(lanes)
        take(options.ravel(), num_actions, here, row, count, stream)
        assert np.array_equal(here, options.max(axis=0))
    assert np.all(taken[:, count:] == 9), "machine states that do not exist are not written"
    for k in range(count):
        best = np.flatnonzero(options[:, k] == options[:, k].max())
        found = np.bincount(taken[:, k], minlength=num_actions)
        assert found[best].sum() == draws
        assert len(best) == 1 or chisquare(found[best]).pvalue > 0.001
