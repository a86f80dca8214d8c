"""Breaking ties: what is taken among actions of the same value, and what is stored of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import njit
from scipy.stats import chisquare

from praemia.kernels.headroom import take_in_order
from praemia.kernels.lanes import store, zeros
from praemia.kernels.ties import new_stream


def taker(lanes: int) -> Any:
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
    taker(4)(options, len(upper), policy, 4, new_stream(np.random.default_rng(0)), found, True)
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
    take, stream = taker(4), new_stream(np.random.default_rng(3))
    counts = np.zeros(4)
    for _ in range(1_000):
        options = np.repeat(np.array([0.0, 1, 1, 1] + [0.0] * 4 + [1.0, 0.5, 0.5, 0.5]), 4)
        policy = np.ones(4, dtype=np.int8)
        take(options, 4, policy, 4, stream, np.zeros(12), False)
        counts += np.bincount(policy, minlength=4)
    assert counts[0] == 0
    assert chisquare(counts[1:]).pvalue > 0.001
