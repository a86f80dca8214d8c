"""Where deep learners are compared: a task's observations as vectors, and a point that moves in a square."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.wrappers import FlattenObservation
from numpy.typing import NDArray

import praemia

HORIZON = 40


class Cells(gymnasium.Env[Any, Any]):
    """The environment of a task without its machine; an observation is a vector with 1 in its own place."""

    def __init__(self, task: praemia.Task) -> None:
        self.task = task
        self.observation_space = spaces.Box(0.0, 1.0, (task.num_observations,), np.float32)
        self.action_space = spaces.Discrete(task.num_actions)
        self._o = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        start = self.task.mdp.start_probs
        self._o = int(self.np_random.choice(len(start), p=start))
        return one_hot(self._o, self.task.num_observations), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        mdp = self.task.mdp
        row = self._o * mdp.num_actions + int(action)
        first, last = mdp.indptr[row : row + 2]
        edge = first + int(self.np_random.choice(last - first, p=mdp.probs[first:last]))
        self._o = int(mdp.successors[edge])
        return one_hot(self._o, self.task.num_observations), 0.0, False, False, {}


def one_hot(place: int, size: int) -> NDArray[np.float32]:
    vector = np.zeros(size, dtype=np.float32)
    vector[place] = 1.0
    return vector


def cell_labels(task: praemia.Task) -> Any:
    """Return the labelling function of a square grid like the warehouse: item and delivery by the cell reached."""
    size = round(task.num_observations**0.5)
    names = {size - 1: "item", size * size - 1: "delivery"}
    return lambda o, a, o_next, info: {names[cell]} if (cell := int(np.argmax(o_next))) in names else set()


class Square(gymnasium.Env[Any, Any]):
    """A point in the square [−1, 1]²; an action pushes it by up to 0.4 along each axis, with some noise."""

    observation_space = spaces.Box(-1.0, 1.0, (2,), np.float32)
    action_space = spaces.Box(-1.0, 1.0, (2,), np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self._at = np.array([-0.6, -0.6], dtype=np.float32)
        return self._at.copy(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        push = 0.4 * np.clip(action, -1.0, 1.0) + self.np_random.normal(0.0, 0.02, 2)
        self._at = np.clip(self._at + push, -1.0, 1.0).astype(np.float32)
        return self._at.copy(), 0.0, False, False, {}


def square_labels(o: Any, a: Any, o_next: Any, info: dict[str, Any]) -> set[str]:
    """Label three corners: the item's at the lower right, the delivery point's above it, home at the upper left."""
    corners = {(True, False): {"item"}, (True, True): {"delivery"}, (False, True): {"home"}}
    if min(abs(o_next)) < 0.4:
        return set()
    return corners.get((bool(o_next[0] > 0.0), bool(o_next[1] > 0.0)), set())


def square(seed: int) -> gymnasium.Env[Any, Any]:
    """Make the square; the task is to fetch the item, to deliver it and to go home, which pays."""
    machine = (
        praemia.MachineBuilder("empty", propositions=("item", "delivery", "home"))
        .edge("empty", "item", "loaded", probability=0.8)
        .edge("empty", "item", "empty", probability=0.2)
        .edge("loaded", "delivery", "delivered", probability=0.9)
        .edge("loaded", "delivery", "loaded", probability=0.1)
        .edge("delivered", "home", "done", reward=1)
        .build()
    )
    env = FlattenObservation(praemia.MachineWrapper(Square(), square_labels, machine, HORIZON, until_done=True))
    env.reset(seed=seed)
    return env


def cells(task: praemia.Task) -> gymnasium.Env[Any, Any]:
    """Make a task's environment for learners that want vectors."""
    env = praemia.MachineWrapper(Cells(task), cell_labels(task), task.machine, task.horizon, until_done=True)
    return FlattenObservation(env)
