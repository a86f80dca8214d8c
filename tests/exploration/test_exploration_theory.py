"""Theorem 3's episode counts, from the formula."""

from __future__ import annotations

import math

import pytest

from praemia.errors import ParameterError
from praemia.theory import policy_search_episodes


def test_theorem_three_counts_search_episodes() -> None:
    iota = math.log(5 * 2 * 10 / (0.05 * 0.2))
    assert policy_search_episodes(5, 2, 10, 0.2) == pytest.approx(5**2 * 2 * 10**4 * iota**3 / 0.2)


@pytest.mark.parametrize("change", [{"significance": 0.0}, {"failure_prob": 1.0}, {"constant": 0.0}])
def test_numbers_out_of_range_are_refused(change: dict[str, float]) -> None:
    with pytest.raises(ParameterError):
        policy_search_episodes(5, 2, 3, **({"significance": 0.1} | change))
