"""Labels from ``info`` that contradict each other are noticed when they do, and what was played is not lost."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import gymnasium
import pytest

import praemia

EPISODES, HORIZON = 400, 4


class Fickle(gymnasium.Env[int, int]):
    """Two places to change between; ``info`` calls every other step good, whatever was done."""

    observation_space = gymnasium.spaces.Discrete(2)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self) -> None:
        self.episodes = self.steps = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.episodes += 1
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        return 0, 0.0, False, False, {"good": self.steps % 3 == 0}


def fickle_box() -> praemia.BlackBox:
    machine = praemia.MachineBuilder("q").edge("q", "good", "q", reward=1.0).build()
    return praemia.BlackBox(Fickle(), lambda o, a, z, info: {"good"} if info.get("good") else set(), machine, HORIZON)


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
    box = fickle_box()
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "q|.*was labelled", praemia.errors.PraemiaWarning)
        with pytest.raises(praemia.errors.PraemiaWarning, match=r"was labelled .* labels must be a function"):
            play(box)
    assert box.env.unwrapped.episodes <= EPISODES // 10
