"""Play one episode by a policy, in a task or a black box, and note every step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from reprlib import repr as brief
from typing import Any

import numpy as np

from praemia._support.arithmetic import ordered_sum
from praemia._support.text_tables import Table, plural
from praemia.envs.black_box import BlackBox
from praemia.envs.gymnasium_env import TaskEnv
from praemia.errors import ModelError, ParameterError, require, require_whole, visible
from praemia.files.atomic_io import write_whole
from praemia.machines.labels import format_label
from praemia.planning.sampled import Step, chooser, episode_seed, play
from praemia.policies.agents import Agent
from praemia.policies.arrays import PolicyLike, policy_for, validate_policy
from praemia.policies.policy import Policy
from praemia.tasks.model import step_weights
from praemia.tasks.task import Task

WIDEST, COLOURS, RENDER_FPS = 480, 128, 30  # pixels; of an image; frames a second


@dataclass(frozen=True)
class Episode:
    """An episode, step by step; ``print`` shows it as a table, with names.

    Attributes
    ----------
    steps : in a task, indices; in a black box observations and actions are in the environment's own terms.
    images : in a black box that renders pixels, what it looked like, before the first step and after each.
    """

    task: Task | BlackBox
    seed: int
    steps: tuple[Step, ...]
    images: tuple[Any, ...] = field(default=(), repr=False)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def total_reward(self) -> float:
        """The return: the sum of all rewards, discounted if the task has a discount."""
        weights = step_weights(len(self.steps), self.task.discount)
        return float(ordered_sum([step.reward for step in self.steps] * weights))

    def __str__(self) -> str:
        header = ("step", "observation", "action", "label", "reward", "machine state")
        return f"{Table(header, [*map(self._row, self.steps)])}return {self.total_reward:g}"

    def __repr__(self) -> str:
        length = plural(len(self), "step")
        return visible(f"Episode({self.task.name}, seed {self.seed}: {length}, return {self.total_reward:g})")

    def _row(self, step: Any) -> tuple[str, ...]:
        task, states = self.task, self.task.machine.states
        move = "" if step.next_machine_state == step.machine_state else f" → {states[step.next_machine_state]}"
        if isinstance(task, Task):
            place, action = task.mdp.observation_name(step.observation), task.mdp.action_name(step.action)
        else:
            place, action = _written(step.observation), _written(step.action)
        label = format_label(set(step.label)) if step.label else ""
        return (str(step.step), place, action, label, f"{step.reward:g}", states[step.machine_state] + move)

    def save(self, path: str | Path, on_progress: Callable[[int, int], None] | None = None) -> None:
        """Write the episode as text, .txt, or as a picture that moves, .gif: on a task's map, or as a box renders."""
        from praemia.pictures.episodes import save_gif, save_images

        suffix = Path(path).suffix.lower()
        if suffix not in (".gif", ".txt"):
            raise ParameterError(f"cannot write {str(path)!r}; expected a file .gif or .txt")
        if suffix == ".txt":
            write_whole(Path(path), f"{self}\n".encode())
        elif isinstance(self.task, Task):
            save_gif(self, path, on_progress)
        elif not self.images:
            raise ModelError(f'{self.task.name!r} renders no pixels; make the environment with render_mode="rgb_array"')
        else:
            save_images(self.images, path, self.task.env.metadata.get("render_fps", RENDER_FPS))


def _written(element: Any) -> str:
    """Write an observation or an action in a few letters."""
    if isinstance(element, np.ndarray) and element.dtype.kind == "f":
        return "[" + " ".join(f"{value:.3g}" for value in element.ravel()[:6]) + (" …]" if element.size > 6 else "]")
    return brief(element)


def rollout(task: Task | BlackBox, policy: PolicyLike | Agent, seed: int = 0, *, unseen: Any = "random") -> Episode:
    """Play one episode with a policy.

    Parameters
    ----------
    task : a task, or a black box.
    policy : an array [H, M, O] or [H, M, O, A], a ``Policy``, ``Plan`` or ``Run``; in a black box also an agent, as for
        ``evaluate``.
    seed : an integer; the same seed gives the same episode.
    unseen : in a black box, what a ``Policy`` does with an observation that it never met (``Policy.act``).

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.warehouse(size=2)
    >>> episode = praemia.rollout(task, praemia.solve(task).policy, seed=2)
    >>> len(episode), episode.steps[0].observation
    (6, 0)
    >>> episode.total_reward
    1.0
    """
    seed = require_whole("seed", seed, 0)
    if isinstance(task, BlackBox):
        return _in_box(task, policy, seed, unseen)
    if not isinstance(task, Task):
        raise ModelError(f"task={task!r}; expected a Task, such as envs.make('warehouse-4'), or a BlackBox")
    validate_policy(task.model, policy)
    player = Policy(policy_for(task.model, policy))
    env, random = TaskEnv(task), np.random.default_rng([seed, 1])
    state, _ = env.reset(seed=seed)
    steps = []
    for h in range(task.max_steps):
        o, m = int(state["observation"]), int(state["machine_state"])
        action = player.act(o, m, h, random)
        state, reward, is_over, _, info = env.step(action)
        after = int(state["observation"]), int(state["machine_state"])
        steps.append(Step(h, o, m, action, info["label"], reward, *after))
        if is_over:
            break
    return Episode(task, seed, tuple(steps))


def _in_box(box: BlackBox, policy: Any, seed: int, unseen: Any) -> Episode:
    """Play an episode in a black box, and keep what it looks like, if it renders pixels."""
    choose, images = chooser(box, policy, deterministic=False, unseen=unseen), list[Any]()
    renders = box.env.render_mode == "rgb_array"

    def watched(*situation: Any) -> Any:
        if renders:
            images.append(_picture(box))
        return choose(*situation)

    steps = tuple(play(box, watched, episode_seed(seed, 0)))
    if renders:
        images.append(_picture(box))
    return Episode(box, seed, steps, tuple(images))


def _picture(box: BlackBox) -> Any:
    """Return what the environment renders, as an image of few colours."""
    try:
        return small_image(box.env.render())
    except Exception as error:  # whatever the user's code may raise
        box.fail(error, " to render")


def small_image(pixels: Any) -> Any:
    """Return what an environment renders as an image of few colours, at most ``WIDEST`` pixels wide."""
    require("PIL")
    from PIL import Image

    image = Image.fromarray(np.asarray(pixels))
    image.thumbnail((WIDEST, WIDEST))
    return image.quantize(COLOURS)
