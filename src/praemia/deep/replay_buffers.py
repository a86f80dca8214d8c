"""Replay buffers of stable-baselines3 that also store what other machine states would have made of each step."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.buffers import DictReplayBuffer, ReplayBuffer

from praemia.deep.counterfactuals import Counterfactuals, ImaginedStep
from praemia.envs.machine_wrapper import MACHINE_STATE, MachineView
from praemia.errors import ParameterError


def arguments(view: MachineView, space: spaces.Space[Any], seed: int) -> dict[str, Any]:
    """Return the arguments of a learner that make it use the buffer for observations of a space."""
    kind = CounterfactualDictReplayBuffer if isinstance(space, spaces.Dict) else CounterfactualReplayBuffer
    return {"replay_buffer_class": kind, "replay_buffer_kwargs": {"view": view, "seed": seed}, "n_steps": 1}


class CounterfactualReplayBuffer(ReplayBuffer):
    """Store every step of the environment, and after it what it would have been in the other machine states.

    A row of the buffer has a place for each of the parallel environments. All of them have the same number of
    other machine states, so each of these fills one row.
    """

    def __init__(
        self,
        buffer_size: int,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        *args: Any,
        view: MachineView,
        seed: int,
        optimize_memory_usage: bool = False,
        **others: Any,
    ) -> None:
        if optimize_memory_usage:
            raise ParameterError(
                "optimize_memory_usage=True takes the next observation from the next step; counterfactual steps do not "
                "follow each other: leave it out"
            )
        require_in_view(observation_space, view)
        super().__init__(buffer_size, observation_space, action_space, *args, **others)
        self.counterfactuals = Counterfactuals(view, seed)

    def add(
        self,
        obs: Any,
        next_obs: Any,
        action: NDArray[Any],
        reward: NDArray[Any],
        done: NDArray[Any],
        infos: list[dict[str, Any]],
    ) -> None:
        """Store a step of each environment, and what it would have been in the other machine states."""
        imagined = [
            self.counterfactuals.of(one(obs, number), one(next_obs, number), info) for number, info in enumerate(infos)
        ]
        super().add(
            obs, next_obs, action, reward, done, infos
        )  # changes shapes within dictionaries, so it comes second
        for steps in zip(*imagined, strict=True):
            self._add_imagined(steps, action)

    def _add_imagined(self, steps: tuple[ImaginedStep, ...], action: NDArray[Any]) -> None:
        """Fill a row: an imagined step of each environment."""
        super().add(
            stacked([step.state for step in steps]),
            stacked([step.next_state for step in steps]),
            action,
            np.array([step.reward for step in steps]),
            np.array([step.terminated or step.truncated for step in steps]),
            [{"TimeLimit.truncated": step.truncated and not step.terminated} for step in steps],
        )


class CounterfactualDictReplayBuffer(CounterfactualReplayBuffer, DictReplayBuffer):
    """The same for observations that are dictionaries."""


def one(observations: Any, number: int) -> Any:
    """Return one of the observations of parallel environments."""
    if isinstance(observations, dict):
        return {key: values[number] for key, values in observations.items()}
    return observations[number]


def stacked(observations: list[Any]) -> Any:
    """Return observations, one of each environment, as stable-baselines3 stores them."""
    if isinstance(observations[0], dict):
        return {key: np.stack([observation[key] for observation in observations]) for key in observations[0]}
    return np.stack(observations)


def require_in_view(space: spaces.Space[Any], view: MachineView) -> None:
    """Check that a learner sees the machine's state where the environment shows it."""
    seen: Any = space
    if isinstance(space, spaces.Dict):
        seen, expected = space.get(MACHINE_STATE), view.space[MACHINE_STATE]
    else:
        expected = spaces.flatten_space(view.space)
    if seen != expected:
        raise ParameterError(
            f"the learner sees {seen} where the environment shows {expected}; a wrapper changes the observations: "
            "apply it to the environment inside praemia.MachineWrapper"
        )
