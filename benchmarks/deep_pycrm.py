"""The warehouse with a machine without chance, as PyCRM (package pyrewardmachines) wants it."""

from __future__ import annotations

from enum import Enum, auto
from typing import Any

import numpy as np
from deep_worlds import Cells, cell_labels
from gymnasium import spaces
from pycrm.agents.sb3.dqn import CounterfactualDQN
from pycrm.automaton import RewardMachine
from pycrm.crossproduct import CrossProduct
from pycrm.label import LabellingFunction

import praemia

__all__ = ["CounterfactualDQN", "Warehouse"]


class Events(Enum):
    ITEM = auto()
    DELIVERY = auto()


class Labels(LabellingFunction[Any, Any]):
    def __init__(self, task: praemia.Task) -> None:
        super().__init__()
        self.labels = cell_labels(task)

    def __call__(self, obs: Any, action: Any, next_obs: Any) -> set[Enum]:
        return {Events[name.upper()] for name in self.labels(obs, action, next_obs, {})}


class FetchAndDeliver(RewardMachine):
    u_0 = 0

    def __init__(self) -> None:
        super().__init__(env_prop_enum=Events)

    def _get_state_transition_function(self) -> dict[int, dict[str, int]]:
        return {0: {"ITEM": 1, "not ITEM": 0}, 1: {"DELIVERY": -1, "not DELIVERY": 1}}

    def _get_reward_transition_function(self) -> dict[int, dict[str, float]]:
        return {0: {"ITEM": 0, "not ITEM": 0}, 1: {"DELIVERY": 1, "not DELIVERY": 0}}


class Warehouse(CrossProduct[Any, Any, Any, Any]):
    """The vector of the cell, then that of the machine state, then a counter that is always 0."""

    def __init__(self, task: praemia.Task, seed: int) -> None:
        ground = Cells(task)
        ground.reset(seed=seed)  # resets of the product pass no seed on
        super().__init__(ground, FetchAndDeliver(), Labels(task), max_steps=task.horizon)
        self.observation_space = spaces.Box(0.0, 1.0, (task.num_observations + 4,), np.float32)
        self.action_space = ground.action_space

    def observation(self, o: int, m: int) -> Any:
        """Return what is shown in an observation and a machine state."""
        return self._get_obs(np.eye(self.ground_env.observation_space.shape[0], dtype=np.float32)[o], m, (0,))
