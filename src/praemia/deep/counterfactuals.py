"""What a step would have been in every other machine state."""

from __future__ import annotations

from functools import cached_property
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from praemia.envs.machine_wrapper import MACHINE_STATE, MachineView
from praemia.errors import ParameterError


def view_of(env: Any) -> MachineView:
    """Return how an environment, or every one of a vector environment, shows its machine."""
    get_attr = getattr(env, "get_attr", None)  # a vector environment of stable-baselines3
    try:
        views = get_attr("machine_view") if get_attr is not None else [env.get_wrapper_attr("machine_view")]
    except AttributeError:
        raise ParameterError(
            f"{env} shows no machine; expected a praemia.MachineWrapper or a praemia.envs.TaskEnv, or a vector "
            "environment of these"
        ) from None
    for what in ("machines", "done_states", "add_reward", "shaping"):
        if any(getattr(view, what) != getattr(views[0], what) for view in views):
            raise ParameterError(f"the environments have different {what}; counterfactual experience needs equal ones")
    view: MachineView = views[0]
    return view


class ImaginedStep(NamedTuple):
    """A step as it would have been: observations as an agent would have seen them, the reward, and whether it ended."""

    state: Any
    next_state: Any
    reward: float
    terminated: bool
    truncated: bool


class Counterfactuals:
    """Sample what a step would have been in each other machine state.

    States in which episodes end are left out, except initial ones: no step starts there. All steps have the same number
    of others.
    """

    def __init__(self, view: MachineView, seed: int = 0) -> None:
        self.view = view
        self._rng = np.random.default_rng(seed)
        self._sources = [m for m in range(len(view.states)) if m not in view.done_states or m in view.initials]

    def of(self, state: Any, next_state: Any, info: dict[str, Any]) -> list[ImaginedStep]:
        """Return the step from ``state`` to ``next_state``, with its ``info``, in all other machine states."""
        env_step, label, stages = info["environment"], frozenset(info["label"]), info.get("stage_rewards", {})
        truncated = env_step["truncated"] or info.get("TimeLimit.truncated", False)  # by a wrapper further out
        own, steps = self._machine_state(state), []
        for m in self._sources:
            if m == own:
                continue
            m_next, reward, shaping, terminated = self.view.step(m, label, env_step, stages, self._rng)
            states = self._with_machine_state(state, m), self._with_machine_state(next_state, m_next)
            steps.append(ImaginedStep(*states, reward + shaping, terminated, truncated))
        return steps

    def _machine_state(self, state: Any) -> int:
        """Return the machine state in an observation: a dictionary, or the vector that it was flattened to."""
        return int(state[MACHINE_STATE] if isinstance(state, dict) else np.argmax(state[self._one_hot]))

    def _with_machine_state(self, state: Any, m: int) -> Any:
        """Return the observation in another machine state."""
        if isinstance(state, dict):
            return {**state, MACHINE_STATE: np.int64(m)}
        other = np.array(state)
        other[self._one_hot] = np.arange(len(self.view.states)) == m
        return other

    @cached_property
    def _one_hot(self) -> slice:
        """Where ``gymnasium.spaces.flatten`` puts the machine state: the entries of a Dict in their order."""
        parts = self.view.space.spaces
        before = takewhile(lambda name: name != MACHINE_STATE, parts)
        first = sum(spaces.flatdim(parts[name]) for name in before)
        return slice(first, first + len(self.view.states))
