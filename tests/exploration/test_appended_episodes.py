"""An episode that is appended to data has whole numbers; anything else is refused, not rounded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import praemia
from praemia import PraemiaError


@pytest.mark.parametrize(
    ("observations", "actions"), [([0.7, 1.2], [0]), ([0, 1], [0.5]), ([0, float("nan")], [0]), (["0", "1"], [0])]
)
def test_an_appended_episode_has_whole_numbers(observations: list[Any], actions: list[Any]) -> None:
    data = praemia.explore(praemia.envs.riverswim(size=4), episodes=20, method="uncertainty")
    with pytest.raises(PraemiaError, match=r"expected a whole number|numbers run from nan|expected numbers"):
        data.append(observations, actions)


def test_an_appended_episode_may_be_of_numpys_whole_numbers() -> None:
    data = praemia.explore(praemia.envs.riverswim(size=4), episodes=20, method="uncertainty")
    assert data.append(np.array([0, 1, 1], dtype=np.int8), np.array([1, 0])).num_episodes == 21
