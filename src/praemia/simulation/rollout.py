"""Play one episode of a task by a policy, and note every step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from praemia.arithmetic import ordered_sum
from praemia.displayed import Displayed
from praemia.envs.gymnasium_env import TaskEnv
from praemia.errors import ModelError, require_whole
from praemia.machines.labels import format_label
from praemia.planning.acting import Policy
from praemia.planning.policy import PolicyLike, policy_for, validate_policy
from praemia.tasks.model import step_weights
from praemia.tasks.task import Task
from praemia.text_tables import plural


class Step(NamedTuple):
    """One step: where the agent was, what it did, what happened, and where that led; numbers as in a policy's array."""

    step: int
    observation: int
    machine_state: int
    action: int
    label: tuple[str, ...]
    reward: float
    next_observation: int
    next_machine_state: int


@dataclass(frozen=True)
class Episode(Displayed):
    """An episode, step by step; ``print`` shows it as a table, with names."""

    task: Task
    seed: int
    steps: tuple[Step, ...]

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def total_reward(self) -> float:
        """The return: the sum of all rewards, discounted if the task has a discount."""
        weights = step_weights(len(self.steps), self.task.discount)
        return float(ordered_sum([step.reward for step in self.steps] * weights))

    def __str__(self) -> str:
        rows = self.rows()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([*lines, f"return {self.total_reward:g}"])

    def __repr__(self) -> str:
        length = plural(len(self), "step")
        return f"Episode({self.task.name}, seed {self.seed}: {length}, return {self.total_reward:g})"

    def rows(self) -> list[tuple[str, ...]]:
        """Return the episode as a table of texts, the names of its columns first."""
        return [("step", "observation", "action", "label", "reward", "machine state"), *map(self._row, self.steps)]

    def _row(self, step: Step) -> tuple[str, ...]:
        mdp, states = self.task.mdp, self.task.machine.states
        move = "" if step.next_machine_state == step.machine_state else f" → {states[step.next_machine_state]}"
        return (
            str(step.step),
            mdp.observation_name(step.observation),
            mdp.action_name(step.action),
            format_label(set(step.label)) if step.label else "",
            f"{step.reward:g}",
            states[step.machine_state] + move,
        )


def rollout(task: Task, policy: PolicyLike, seed: int = 0) -> Episode:
    """Play one episode of a task by a policy: an array [H, M, O] or [H, M, O, A], a ``Policy``, ``Plan`` or ``Run``.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.warehouse(size=2)
    >>> episode = praemia.rollout(task, praemia.solve(task).policy, seed=1)
    >>> len(episode), episode.steps[0].observation
    (6, 0)
    >>> episode.total_reward
    1.0
    """
    if not isinstance(task, Task):
        raise ModelError(f"task={task!r}; expected a Task, such as envs.make('warehouse-4') or load_task(path)")
    seed = require_whole("seed", seed, 0)
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
