"""Tasks as Gymnasium environments, such as ``gymnasium.make("praemia/Warehouse-v0", size=4)``.

Importing praemia registers every built-in family. A process that imported only Gymnasium names this module as well:
``gymnasium.make("praemia.envs.gymnasium_env:praemia/Warehouse-v0", size=4)``.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from praemia._support.arithmetic import draw
from praemia.envs.machine_wrapper import MachineView, beside
from praemia.envs.registry import make, register
from praemia.errors import ModelError, ParameterError, SizeError, require_whole
from praemia.pictures.renderers import render_image
from praemia.pictures.task_picture import frame_scene, task_picture
from praemia.pictures.text_map import page_text
from praemia.tasks.task import Task, require_task


class TaskEnv(gymnasium.Env[Any, Any]):
    """Play a task through Gymnasium's interface.

    Observations are ``{"observation": o, "machine_state": m}``. Rewards are sampled from the machine's reward
    distributions. An episode is truncated after the task's horizon and terminated where the task ends it, with
    ``until_done`` also where the machine is done; further steps change nothing and have reward 0. ``info`` holds the
    ``label`` of the transition, a sorted tuple of propositions. Randomness comes from ``reset(seed=…)`` alone.

    Parameters
    ----------
    task : the task.
    render_mode : None; "ansi" for a picture in text; "rgb_array" for one in pixels, which needs the extra ``plot``.

    Examples
    --------
    >>> import praemia
    >>> env = praemia.envs.TaskEnv(praemia.envs.warehouse(size=4))
    >>> state, info = env.reset(seed=0)
    >>> int(state["observation"]), int(state["machine_state"])
    (0, 0)
    >>> state, reward, terminated, truncated, info = env.step(4)  # stay
    >>> int(state["observation"]), reward
    (0, 0.0)
    """

    # Gymnasium declares it as an instance variable, so it cannot be a ClassVar here.
    metadata: dict[str, Any] = {"render_modes": ["ansi", "rgb_array"], "render_fps": 4}  # noqa: RUF012

    def __init__(self, task: Task, *, render_mode: str | None = None) -> None:
        require_task(task, "a TaskEnv")
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ParameterError(
                f"render_mode={render_mode!r}; expected 'ansi', 'rgb_array' or None: for others, wrap an environment "
                "with 'rgb_array' in gymnasium.wrappers.HumanRendering or RenderCollection, as gymnasium.make does"
            )
        self.task, self.render_mode = task, render_mode
        self.action_space = spaces.Discrete(task.num_actions)
        inner = spaces.Discrete(task.num_observations)
        self.machine_view = MachineView([task.machine], inner, until_done=task.until_done)  # for counterfactual steps
        self.observation_space = self.machine_view.space
        self._labels = tuple(tuple(sorted(label)) for label in task.mdp.label_sets)
        self._start(int(np.argmax(task.mdp.start_probs)))

    @property
    def discount(self) -> float:
        """The task's discount, for learners: rewards are not discounted, and no episode ends because of it."""
        return self.task.discount

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode: the observation from the start distribution, the machine in its initial state."""
        super().reset(seed=None if seed is None else require_whole("seed", seed, 0))
        self._start(self._draw(self.task.mdp.start_probs))
        return self._state(), {"label": ()}

    def _start(self, observation: int) -> None:
        self._observation, self._machine_state = observation, self.task.table.initial
        self._step, self._is_over = 0, False

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play one step: o' from p, its label, the machine's move from τ, the reward from ν."""
        if not self.action_space.contains(action):
            raise ModelError(f"action {action!r}; expected 0 … {self.task.num_actions - 1}")
        label, reward = ((), 0.0) if self._is_over else self._play_on(int(action))
        self._step += 1
        truncated = self._step >= self.task.max_steps
        env_step = {"reward": 0.0, "terminated": self._is_over, "truncated": truncated}
        is_done = self._is_over or self._machine_state in self.task.done_states
        return self._state(), reward, is_done, truncated, {"label": label, "environment": env_step}

    def _play_on(self, action: int) -> tuple[tuple[str, ...], float]:
        """Sample a step; return its label and reward."""
        mdp, table = self.task.mdp, self.task.table
        row = self._observation * mdp.num_actions + action
        edge = mdp.indptr[row] + self._draw(mdp.probs[mdp.indptr[row] : mdp.indptr[row + 1]])
        label = int(mdp.labels[edge])
        self._machine_state, reward = table.draw(label, self._machine_state, self.np_random)
        self._observation, self._is_over = int(mdp.successors[edge]), bool(mdp.ends[edge])
        return self._labels[label], reward

    def render(self) -> Any:
        """Return the current state as text (the picture, unless it would be too large, and a line) or as pixels."""
        if self.render_mode is None:
            return None
        if self.render_mode == "rgb_array":
            return np.asarray(render_image(frame_scene(task_picture(self.task), self._observation)))
        machine_state = self.task.machine.states[self._machine_state]
        name = self.task.mdp.observation_name(self._observation)
        status = f"step {self._step} of {self.task.max_steps}: observation {name}, machine state {machine_state}\n"
        try:
            return f"{page_text(task_picture(self.task), self.task.name, self._observation)}\n{status}"
        except SizeError:
            return status

    def _state(self) -> dict[str, Any]:
        return beside(np.int64(self._observation), np.int64(self._machine_state))

    def _draw(self, probs: NDArray[np.float64]) -> int:
        """Sample an index by its probability."""
        return draw(np.cumsum(probs), self.np_random)


def make_env(family: str, *, until_done: bool | None = None, render_mode: str | None = None, **params: Any) -> TaskEnv:
    """Make the environment of a built-in family; parameters are those of ``praemia.envs.make``.

    ``until_done`` says whether episodes end when the machine is done; by default that is up to the task.
    """
    task = make(family, **params)
    return TaskEnv(task if until_done is None else task.with_until_done(until_done), render_mode=render_mode)


make_env.metadata = TaskEnv.metadata  # type: ignore[attr-defined]  # gymnasium.make wraps for other render modes
register()
