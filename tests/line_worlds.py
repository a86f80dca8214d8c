"""Small environments for the tests of deep learners."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

import praemia


class Line(gymnasium.Env[Any, Any]):
    """A point on [−1, 1]; an action pushes it. The environment pays the distance moved, and ends beyond ``ends_at``."""

    observation_space = spaces.Box(-1.0, 1.0, (1,), np.float32)

    def __init__(self, ends_at: float = 2.0, actions: spaces.Space[Any] | None = None) -> None:
        self.ends_at = ends_at
        self.action_space = actions or spaces.Box(-1.0, 1.0, (1,), np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self._at = np.zeros(1, np.float32)
        return self._at.copy(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        push = 0.5 * np.asarray(action, np.float32) if isinstance(self.action_space, spaces.Box) else 0.4 * (action - 1)
        before = self._at.copy()
        self._at = np.clip(before + push, -1.0, 1.0).astype(np.float32).reshape(1)
        moved = float(np.abs(self._at - before)[0])
        return self._at.copy(), moved, bool(self._at[0] > self.ends_at), False, {}


def side(o: Any, a: Any, o_next: Any, info: dict[str, Any]) -> set[str]:
    """Label a step by where it leads: to the right, to the left, or to neither."""
    return {"right"} if o_next[0] > 0.3 else {"left"} if o_next[0] < -0.3 else set()


def there_and_back() -> praemia.RewardMachine:
    """Go right, which is noticed with probability 0.7, then left, which pays 1 or 2 and may have to be done again."""
    return (
        praemia.MachineBuilder("out", propositions=("left", "right"))
        .edge("out", "right", "back", probability=0.7, reward=0.25)
        .edge("out", "right", "out", probability=0.3)
        .edge("back", "left", "home", probability=0.6, reward=praemia.Reward((1.0, 2.0), (0.5, 0.5)))
        .edge("back", "left", "out", probability=0.4, reward=-1)
        .build()
    )


def line(
    *, ends_at: float = 2.0, horizon: int | None = 8, actions: Any = None, flat: bool = False, **options: Any
) -> Any:
    """Make the line with the machine, as one vector if ``flat``; options are those of the wrapper."""
    env = praemia.MachineWrapper(Line(ends_at, actions), side, there_and_back(), horizon, **options)
    return gymnasium.wrappers.FlattenObservation(env) if flat else env
