"""Theorem 2's and Theorem 3's episode counts, from the formulas."""

from __future__ import annotations

import math

import pytest

from praemia.errors import ParameterError
from praemia.theory import exploration_budget, policy_search_episodes


def test_theorem_two_counts_episodes() -> None:
    found = exploration_budget(5, 2, 10, largest_reward=3.0, accuracy=0.1, failure_prob=0.05, constant=2.0)
    iota = math.log(5 * 2 * 10 * 3.0 / (0.05 * 0.1))
    assert found.collecting == pytest.approx(2 * 5**5 * 2**3 * 10**2 * 9 * iota / 0.01)
    assert found.searching == pytest.approx(2 * 5**4 * 2 * 10**4 * 3 * iota**3 / 0.1)
    assert found.total == found.collecting + found.searching


def test_theorem_three_counts_search_episodes() -> None:
    iota = math.log(5 * 2 * 10 / (0.05 * 0.2))
    assert policy_search_episodes(5, 2, 10, 0.2) == pytest.approx(5**2 * 2 * 10**4 * iota**3 / 0.2)


@pytest.mark.parametrize(
    "change", [{"accuracy": 0.0}, {"largest_reward": -1.0}, {"failure_prob": 1.0}, {"constant": 0.0}]
)
def test_numbers_out_of_range_are_refused(change: dict[str, float]) -> None:
    with pytest.raises(ParameterError):
        exploration_budget(
            **({"num_observations": 5, "num_actions": 2, "horizon": 3, "largest_reward": 1.0, "accuracy": 0.1} | change)
        )
