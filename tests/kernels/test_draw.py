"""Drawing from running sums and from probabilities, against NumPy's search in a sorted array."""

from __future__ import annotations

import numpy as np
import pytest

from praemia.kernels.play import MOVE, Chance, sample, sample_action


@pytest.mark.parametrize("size", [*range(1, 20), 40, 200])
def test_a_draw_is_the_first_place_whose_running_sum_exceeds_the_number(size: int) -> None:
    """For numbers at every sum and between any two; some things have no probability at all."""
    rng = np.random.default_rng(size)
    weights = rng.integers(0, 4, size=size)
    weights[-1] = 1
    sums = np.cumsum(weights) / weights.sum()
    row = np.zeros(size + 6, dtype=MOVE)
    row["sum"] = np.concatenate((np.zeros(3), sums, np.ones(3)))
    for uniform in (0.0, *sums[:-1], *(sums - 0.5 / weights.sum())):
        expected = np.searchsorted(sums, uniform, side="right")
        chance = Chance(np.array([0.9, uniform]), np.array([1]))
        assert sample(row["sum"], 3, 3 + size, chance) == 3 + expected
        assert chance.used[0] == (2 if size > 1 else 1), "a single alternative takes no number"


@pytest.mark.parametrize("size", [1, 2, 5, 20])
def test_an_action_is_drawn_as_from_the_running_sums_of_its_probabilities(size: int) -> None:
    rng = np.random.default_rng(size)
    probs = rng.dirichlet(np.ones(size)) * (rng.random(size) < 0.7)
    probs[-1] += 1.0 - probs.sum()
    sums = np.cumsum(probs)
    for uniform in (0.0, *sums[:-1], *(sums - 0.5 * probs)):
        assert sample_action(probs, uniform) == np.searchsorted(sums[:-1], uniform, side="right")
