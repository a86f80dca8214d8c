"""Environments of a few places to go to, for black boxes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium


class Places(gymnasium.Env[int, int]):
    """Places from 0 on, where an episode begins.

    ``move(place, action, rng)`` returns the next place; or this, whether the episode ends there, and ``info``.
    """

    def __init__(self, size: int, move: Callable[[int, int, Any], Any], num_actions: int = 2) -> None:
        self.observation_space = gymnasium.spaces.Discrete(size)
        self.action_space = gymnasium.spaces.Discrete(num_actions)
        self.move = move

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.place = 0
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        found = self.move(self.place, int(action), self.np_random)
        self.place, is_over, info = found if isinstance(found, tuple) else (found, False, {})
        return self.place, 0.0, is_over, False, info
