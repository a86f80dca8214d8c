"""Every vector instruction against its definition on NumPy arrays, bit for bit, for each number of lanes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import njit

from praemia.kernels.lanes import any_lane, gather, load, num_lanes, select, store, store_integers, zeros

RNG = np.random.default_rng(0)
NUMBERS = RNG.normal(size=64)
OTHERS = np.where(RNG.random(64) < 0.3, NUMBERS, RNG.normal(size=64))  # some are equal
PLACES = RNG.integers(0, 32, size=64).astype(np.uint32)


def kernel(count: int, compiled: bool) -> Any:
    """Return a function that uses everything there is and writes down what it gets, compiled or plain."""

    def use(numbers: Any, others: Any, places: Any, out: Any, actions: Any, at: int, used: int) -> int:
        zero = zeros(count)
        x, y = load(zero, numbers, at), load(zero, others, at)
        store(out, 0, x + y)
        store(out, count, x - y)
        store(out, 2 * count, x * y)
        store(out, 3 * count, 2.5 * x)
        store(out, 4 * count, x + 1.25)
        store(out, 5 * count, 0.5 - x)
        store(out, 6 * count, select(x > y, x, y))
        store(out, 7 * count, select(x == y, 1.0, zero))
        store(out, 8 * count, select(x > 0.0, x, -1.0))
        store(out, 9 * count, np.sqrt(x * x + 3.0))
        store(out, 10 * count, gather(zero, numbers, 7, places, at))
        store(out, 11 * count, np.minimum(x, y))
        store(out, 12 * count, np.maximum(x, y))
        store(out, 13 * count, np.minimum(x, 0.25))
        store(out, 14 * count, zero + float(num_lanes(zero)))
        store_integers(actions, at, select(x > y, 5.0, 3.0), used)
        return 2 * int(any_lane(x > y, used)) + int(any_lane(x == y, used))

    return njit(use) if compiled else use


@pytest.mark.parametrize("count", [1, 4, 8, 16])
def test_compiled_and_plain_lanes_are_the_same_numbers(count: int) -> None:
    both = [kernel(count, compiled=True), kernel(count, compiled=False)]
    flags = set()
    for at in range(40):
        for used in range(1, count + 3):
            results = []
            for use in both:
                out, actions = np.zeros(15 * count), np.full(64, 9, dtype=np.int8)
                flag = use(NUMBERS, OTHERS, PLACES, out, actions, at, used)
                results.append((flag, out.tobytes(), actions.tobytes()))
            assert results[0] == results[1]
            flags.add(results[0][0])
            assert set(np.frombuffer(results[0][1])[-count:]) == {count}
    assert flags == {0, 1, 2, 3} if count == 4 else len(flags) >= 2


def test_lanes_beyond_those_that_exist_are_not_written() -> None:
    actions = np.full(8, 9, dtype=np.int16)
    kernel(4, compiled=True)(NUMBERS, OTHERS, PLACES, np.zeros(60), actions, 1, 2)
    assert list(actions[[0, 3, 4, 5, 6, 7]]) == [9] * 6
    assert set(actions[1:3]) <= {3, 5}
