"""A parameter that counts something is a whole number: what is played is what is recorded."""

from __future__ import annotations

import pytest

import praemia
from praemia import PraemiaError


@pytest.mark.parametrize("number", [2.7, 1.5])
def test_a_number_of_samples_is_whole(number: float) -> None:
    with pytest.raises(PraemiaError, match="num_samples"):
        praemia.OPSRL(num_samples=number)  # type: ignore[arg-type]


@pytest.mark.parametrize("number", [1, 3])
def test_a_whole_number_of_samples_is_recorded_as_it_is_played(number: int) -> None:
    run = praemia.simulate(praemia.envs.riverswim(size=3), praemia.OPSRL(num_samples=number), num_episodes=5)
    assert run.parameters["num_samples"] == number
