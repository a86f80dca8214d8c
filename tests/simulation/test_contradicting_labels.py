"""Labels from ``info`` that contradict each other are noticed when they do, and what was played is not lost."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from places import Places

import praemia

EPISODES, HORIZON = 400, 4


@pytest.mark.parametrize(
    "play",
    [
        lambda box: praemia.simulate(box, "headroom", EPISODES),
        lambda box: praemia.simulate(box, "q-learning", EPISODES),
        lambda box: praemia.explore(box, num_episodes=EPISODES),
    ],
    ids=["headroom", "q-learning", "explore"],
)
def test_labels_that_contradict_each_other_are_warned_of_when_they_do(play: Callable[[Any], Any]) -> None:
    """``info`` calls every third step good, whatever was done."""
    steps = count()
    env = Places(2, lambda place, action, rng: (0, False, {"good": next(steps) % 3 == 0}))
    machine = praemia.MachineBuilder("q").edge("q", "good", "q", reward=1.0).build()
    box = praemia.BlackBox(env, lambda o, a, z, info: {"good"} if info.get("good") else set(), machine, HORIZON)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".*was labelled", praemia.errors.PraemiaWarning)
        with pytest.raises(praemia.errors.PraemiaWarning, match=r"was labelled .* labels must be a function"):
            play(box)
    assert next(steps) <= EPISODES * HORIZON // 4
