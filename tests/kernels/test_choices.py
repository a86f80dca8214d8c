"""Choices: a sample from running sums or probabilities, and the best of several actions, with what breaks ties."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from numba import njit
from scipy.stats import chisquare

from praemia.kernels.headroom import take_in_order
from praemia.kernels.lanes import store, zeros
from praemia.kernels.play import MOVE, Chance, sample, sample_action
from praemia.kernels.ties import new_stream, take_best


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


@cache
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


@cache
def taker_in_order(lanes: int) -> Any:
    """Return a function that takes actions of so many machine states at a time."""

    @njit
    def take(options: Any, num_actions: int, policy: Any, count: int, stream: Any, found: Any, keeps: bool) -> None:
        best, low, soon = take_in_order(zeros(lanes), options, num_actions, policy, 0, count, stream, keeps)
        store(found, 0, best)
        store(found, lanes, low)
        store(found, 2 * lanes, soon)

    return take


def taken(upper: list[float], lower: list[float], soon: list[float], old: int = 0) -> tuple[int, Any]:
    """Return the action taken in the last of four machine states, all alike, and the U, L and E that are stored."""
    options = np.repeat(np.array([*upper, *lower, *soon]), 4)
    policy, found = np.full(4, old, dtype=np.int8), np.zeros(12)
    taker_in_order(4)(options, len(upper), policy, 4, new_stream(np.random.default_rng(0)), found, True)
    return int(policy[3]), found[3::4].tolist()


TINY = 1e-9
CASES = {
    "the largest value alone": (([3, 2, 2], [0, 2, 2], [0.0, 1, 1]), 0),
    "certain before soon": (([2, 2, 2], [0, 2, 1], [1, 0.1, 0.5]), 1),
    "nothing certain": (([2, 2, 2], [0, 1, 1.5], [1, 0.1, 0.5]), 0),
    "nothing to earn": (([0, 0, 0], [0, 0, 0], [0.2, 0.1, 0.5]), 2),
    "equal up to rounding": (([1, 1 - 1e-12, 1], [0, 1 - 1e-12, 0.2], [1, 0.5, 0.3]), 1),
    "tiny values": (([TINY, 0.9 * TINY, TINY], [0, 0.9 * TINY, TINY], [1, 1, 0.0]), 2),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_taken(case: str) -> None:
    values, asked = CASES[case]
    action, (upper, lower, soon) = taken(*(list(map(float, of)) for of in values))
    assert action == asked
    assert upper == max(values[0])
    equal = [low for low, value in zip(values[1], values[0], strict=True) if value >= max(values[0]) * (1 - 1e-9)]
    assert lower == max(equal)
    assert soon == values[2][action]


def test_a_repair_keeps_the_old_action_where_it_is_as_good_as_any() -> None:
    assert [taken([1.0, 1.0, 0.0], [0.0] * 3, [0.5] * 3, old)[0] for old in (0, 1)] == [0, 1]
    assert taken([1.0, 1.0, 0.0], [0.0] * 3, [0.5, 0.5 - 1e-9, 1.0], 1)[0] == 1


def test_else_one_is_drawn_uniformly() -> None:
    """χ² over 4,000 draws, at the level 0.001."""
    take, stream = taker_in_order(4), new_stream(np.random.default_rng(3))
    counts = np.zeros(4)
    for _ in range(1_000):
        options = np.repeat(np.array([0.0, 1, 1, 1] + [0.0] * 4 + [1.0, 0.5, 0.5, 0.5]), 4)
        policy = np.ones(4, dtype=np.int8)
        take(options, 4, policy, 4, stream, np.zeros(12), False)
        counts += np.bincount(policy, minlength=4)
    assert counts[0] == 0
    assert chisquare(counts[1:]).pvalue > 0.001
