"""Tasks as black boxes, the same labelled MDP played through Gymnasium, and a black box in which nothing happens."""

from __future__ import annotations

from typing import Any

import gymnasium
from gymnasium.spaces import Discrete
from oracles import label_of
from places import Places

from praemia import BlackBox
from praemia.tasks.task import Task


class Hidden(gymnasium.Env):
    """The labelled MDP of a task as a plain environment; it never ends."""

    def __init__(self, task: Task) -> None:
        self.probs, self.start = task.mdp.to_dense(), task.mdp.start_probs
        self.observation_space = Discrete(task.num_observations)
        self.action_space = Discrete(task.num_actions)
        self.moves: list[tuple[int, int, int]] = []

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.here = int(self.np_random.choice(len(self.start), p=self.start))
        return self.here, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        before, self.here = self.here, int(self.np_random.choice(len(self.start), p=self.probs[self.here, action]))
        self.moves.append((before, int(action), self.here))
        return self.here, 0.0, False, False, {}


class Still(Places):
    """An environment in which nothing moves."""

    def __init__(self, num_observations: int = 2, num_actions: int = 2) -> None:
        super().__init__(num_observations, lambda place, action, rng: 0, num_actions)


def hide(task: Task) -> BlackBox:
    """Return a task as a black box."""
    rules = task.mdp.labelling.rules
    return BlackBox(Hidden(task), lambda o, a, z, info: label_of(rules, o, a, z), task.machine, task.horizon)
