"""Tasks as Gymnasium environments.

Importing this module registers every built-in family: ``gymnasium.make("praemia/Warehouse-v0", size=4)``.
Gymnasium has no plug-ins that register themselves, so a process that imported only Gymnasium names the
module as well: ``gymnasium.make("praemia.envs.gymnasium_env:praemia/Warehouse-v0", size=4)``.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from praemia.arithmetic import draw
from praemia.envs.machine_wrapper import MachineView, layout_of
from praemia.envs.registry import FAMILIES, make
from praemia.errors import ModelError, ParameterError, SizeError, require_whole
from praemia.kernels.records import pay
from praemia.pictures.renderers import render_image
from praemia.pictures.task_picture import frame_scene, task_picture
from praemia.pictures.text_map import page_text
from praemia.tasks.task import Task


class TaskEnv(gymnasium.Env[Any, Any]):
    """Play a task through Gymnasium's interface.

    Observations are ``{"observation": o, "machine_state": m}``, or with ``flat=True`` the number m · O + o of the
    product state. Rewards are drawn from the machine's reward laws. An episode is truncated after the task's horizon
    and terminated where the task ends it, with ``until_done`` also where the machine is done; steps after an end of the
    task go nowhere and pay nothing. ``info`` holds the ``label`` of the transition, a sorted tuple of propositions.
    Randomness comes from ``reset(seed=…)`` alone.

    Parameters
    ----------
    task : the task.
    flat : whether observations are one number.
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

    def __init__(self, task: Task, *, flat: bool = False, render_mode: str | None = None) -> None:
        if not isinstance(task, Task):
            raise ModelError(f"task={task!r}; expected a Task, such as envs.make('warehouse-4') or load_task(path)")
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ParameterError(f"render_mode={render_mode!r}; expected 'ansi', 'rgb_array' or None")
        self.task = task
        self.flat = flat
        self.render_mode = render_mode
        self.action_space = spaces.Discrete(task.num_actions)
        self.layout = layout_of(spaces.Discrete(task.num_observations), task.num_machine_states, None, flat=flat)
        self.observation_space = self.layout.space
        self._labels = tuple(tuple(sorted(label)) for label in task.mdp.label_sets)
        self._observation = int(np.argmax(task.mdp.start_probs))
        self._machine_state = task.table.initial
        self._step, self._is_over = 0, False

    @property
    def discount(self) -> float:
        """The task's discount, for learners: rewards are not discounted, and no episode ends because of it."""
        return self.task.discount

    @property
    def machine_view(self) -> MachineView:
        """How this environment plays its machine, for counterfactual steps."""
        return MachineView(self.task.machine, self.layout, self.task.done_states, add_reward=False)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode: the observation from the start distribution, the machine in its initial state."""
        super().reset(seed=None if seed is None else require_whole("seed", seed, 0))
        self._observation = self._draw(self.task.mdp.start_probs)
        self._machine_state = self.task.table.initial
        self._step, self._is_over = 0, False
        return self._state(), {"label": ()}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play one step: o' from p, its label, the machine's move from τ, the reward from ν."""
        if not self.action_space.contains(action):
            raise ModelError(f"action {action!r}; expected 0 … {self.task.num_actions - 1}")
        label: tuple[str, ...] = ()
        reward = 0.0
        if not self._is_over:
            label, reward = self._play_on(int(action))
        self._step += 1
        truncated = self._step >= self.task.max_steps
        env_step = {"reward": 0.0, "terminated": self._is_over, "truncated": truncated}
        is_done = self._is_over or self._machine_state in self.task.done_states
        return self._state(), reward, is_done, truncated, {"label": label, "environment": env_step}

    def _play_on(self, action: int) -> tuple[tuple[str, ...], float]:
        """Draw a step; return its label and reward."""
        mdp, table = self.task.mdp, self.task.table
        row = self._observation * mdp.num_actions + action
        edge = mdp.indptr[row] + self._draw(mdp.probs[mdp.indptr[row] : mdp.indptr[row + 1]])
        label = int(mdp.labels[edge])
        row = label * table.num_states + self._machine_state
        move = table.indptr[row] + self._draw(table.probs[table.indptr[row] : table.indptr[row + 1]])
        law = table.laws[table.law_indptr[move] : table.law_indptr[move + 1]]
        piece = law[draw(law["sum"], self.np_random)]
        self._observation = int(mdp.successors[edge])
        self._machine_state, self._is_over = int(table.targets[move]), bool(mdp.ends[edge])
        return self._labels[label], float(pay(piece, self.np_random))

    def render(self) -> Any:
        """Return where things stand as text (the picture, unless it would be too large, and a line) or as pixels."""
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

    def state_of(self, observation: int, machine_state: int) -> Any:
        """Return what is shown for an observation and a machine state."""
        return self.layout.join(np.int64(observation), machine_state, self._step)

    def _state(self) -> Any:
        return self.state_of(self._observation, self._machine_state)

    def _draw(self, probs: NDArray[np.float64]) -> int:
        """Draw a number by its probability."""
        return draw(np.cumsum(probs), self.np_random)


def make_env(
    family: str, *, flat: bool = False, until_done: bool | None = None, render_mode: str | None = None, **params: Any
) -> TaskEnv:
    """Make the environment of a built-in name; parameters are those of ``praemia.envs.make``.

    ``until_done`` says whether episodes end when the machine is done; by default they do where the task says so.
    """
    task = make(family, **params)
    return TaskEnv(task if until_done is None else task.with_until_done(until_done), flat=flat, render_mode=render_mode)


def register() -> None:
    """Register every family under its Gymnasium id; calling it again changes nothing."""
    for family, entry in FAMILIES.items():
        if entry.gymnasium_id not in gymnasium.registry:
            gymnasium.register(entry.gymnasium_id, "praemia.envs.gymnasium_env:make_env", kwargs={"family": family})


register()
