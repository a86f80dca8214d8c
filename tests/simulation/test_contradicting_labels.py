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


def outcome(play: Callable[[], Any]) -> tuple[Any, list[str]]:
    """Return what came of playing, the result or the error, and what was said about labels."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            result = play()
        except praemia.PraemiaError as error:
            return error, [str(error)]
    return result, [str(warning.message) for warning in said]


@pytest.mark.parametrize("name", ["headroom", "q-learning"])
def test_a_run_says_that_labels_contradict_each_other(name: str) -> None:
    box = fickle_box()
    _, said = outcome(lambda: praemia.simulate(box, praemia.learners.make(name), num_episodes=EPISODES))
    assert any("label" in text for text in said)


def test_exploration_notices_at_once() -> None:
    box = fickle_box()
    _, said = outcome(lambda: praemia.explore(box, num_episodes=EPISODES))
    assert any("label" in text for text in said)
    assert box.env.unwrapped.episodes <= EPISODES // 10


def test_what_was_explored_before_the_contradiction_is_kept() -> None:
    result, _ = outcome(lambda: praemia.explore(fickle_box(), num_episodes=EPISODES))
    held = [result, *vars(result).values()] if isinstance(result, Exception) else [result]
    assert any(isinstance(part, praemia.Dataset) and part.num_episodes >= 1 for part in held)
