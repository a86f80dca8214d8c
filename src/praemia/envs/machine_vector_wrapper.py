"""A machine around a vector environment: all environments take their steps in the machine at once."""

from __future__ import annotations

from contextlib import suppress
from itertools import compress
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import VectorEnv, VectorWrapper
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array, iterate

from praemia.envs.machine_wrapper import STREAM, beside, with_machine_state
from praemia.envs.step_labels import LabelsOfSteps, StepLabeller, copied
from praemia.errors import ModelError, SizeError
from praemia.labels import Predicates
from praemia.machines.labels import Label
from praemia.machines.machine import RewardMachine
from praemia.tasks.base import require_machine
from praemia.tasks.machine_table import MachineSampler


class MachineVectorWrapper(VectorWrapper):
    """Run a machine alongside each environment of a vector environment, and return its rewards.

    It is equivalent to a vector environment of ``MachineWrapper``, in each of Gymnasium's autoreset modes, but steps
    all machines at once (``machine.to_arrays``). ``info["label"]`` is the label of the step just taken; a step that
    only resets an environment (in the mode NEXT_STEP) has no label and the reward 0. In the mode SAME_STEP
    ``info["machine_state"]`` is that of the new episode, and ``final_info`` has that of the old one.

    Parameters
    ----------
    envs : the vector environment.
    labels : the labels of steps, in any of the forms that ``BlackBox`` takes. Predicates are computed for all
        environments at once, a function is called for each.
    machine : the machine.

    Examples
    --------
    >>> import gymnasium
    >>> import praemia
    >>> texts = {"left": "observation[0] < 0", "flag": "observation[0] >= 0.5"}
    >>> labels = praemia.labels.predicates(texts)
    >>> machine = praemia.RewardMachine.from_ltlf("F(left & F flag)")
    >>> envs = praemia.MachineVectorWrapper(gymnasium.make_vec("MountainCar-v0", num_envs=3), labels, machine)
    >>> observations, info = envs.reset(seed=0)
    >>> observations["observation"].shape, observations["machine_state"].tolist()
    ((3, 2), [0, 0, 0])
    """

    def __init__(self, envs: VectorEnv[Any, Any, Any], labels: LabelsOfSteps, machine: RewardMachine) -> None:
        if not isinstance(envs, VectorEnv):
            raise ModelError(
                f"envs={envs!r}; expected a vector environment, such as gymnasium.make_vec('CartPole-v1', 4)"
            )
        require_machine(machine)
        super().__init__(envs)
        self.machine, self._labels = machine, labels
        self._label = StepLabeller(labels, machine, envs.single_observation_space, envs.single_action_space)
        self._arrays, self._sampler = None, MachineSampler(machine)
        if all(reward.is_constant for reward in machine.rewards):  # arrays have the means of others
            with suppress(SizeError):
                self._arrays = machine.to_arrays(sorted(machine.reads))
        self.single_observation_space = with_machine_state(envs.single_observation_space, machine.num_states)
        self.observation_space = batch_space(self.single_observation_space, envs.num_envs)
        self._mode = getattr(envs.metadata.get("autoreset_mode"), "name", "NEXT_STEP")
        self._rng = np.random.default_rng()
        self._initial = machine.index[machine.initial]
        self._states = np.full(envs.num_envs, self._initial)
        self._resets = np.zeros(envs.num_envs, dtype=bool)  # whether the next step only resets
        self._codes: dict[Label, int] = {}
        self._last: Any = None

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode in all environments, or in those of ``options["reset_mask"]``."""
        mask = np.array((options or {}).get("reset_mask", np.ones(self.num_envs, dtype=bool)))
        observations, info = self.env.reset(seed=seed, options=options)  # which may remove the mask from options
        if seed is not None:
            seeds = [seed] if isinstance(seed, int) else [0 if one is None else one for one in seed]
            self._rng = np.random.default_rng((*seeds, STREAM))
        self._states[mask], self._resets[mask] = self._initial, False
        self._last = copied(observations)
        shown = beside(observations, self._states.astype(np.int64))
        return shown, self._with_machine(info, [frozenset()] * self.num_envs, mask)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Play a step of each environment; labels move the machines, which determine the rewards."""
        if self._last is None:
            raise ResetNeeded("a step before the first reset; call reset first")
        observations, env_rewards, terminated, truncated, info = self.env.step(actions)
        done, live = np.asarray(terminated) | np.asarray(truncated), ~self._resets
        ends_now = done if self._mode == "SAME_STEP" else np.zeros_like(done)
        labels = self._labels_of(actions, observations, info, live, ends_now)
        states, rewards = self._move(labels)
        self._states, rewards = np.where(live, states, self._initial), np.where(live, rewards, 0.0)
        environment = {"reward": env_rewards, "terminated": terminated, "truncated": truncated}
        info = {**info, **_masked({"environment": _masked(environment, live & ~ends_now)}, live & ~ends_now)}
        if ends_now.any():
            final = np.empty(self.num_envs, dtype=object)
            for i in np.flatnonzero(ends_now):
                final[i] = beside(info["final_obs"][i], np.int64(self._states[i]))
            info["final_obs"] = final
            own = _masked({"environment": _masked(environment, ends_now)}, ends_now)
            info["final_info"] = self._with_machine({**info.get("final_info", {}), **own}, labels, ends_now)
            self._states = np.where(done, self._initial, self._states)
        self._resets = done if self._mode == "NEXT_STEP" else np.zeros_like(done)
        self._last = copied(observations)
        shown = beside(observations, self._states.astype(np.int64))
        everyone = np.ones(self.num_envs, dtype=bool)
        return shown, rewards, terminated, truncated, self._with_machine(info, labels, everyone)

    def _move(self, labels: list[Label]) -> tuple[Any, Any]:
        """Return the next machine states and the rewards of a step with these labels."""
        if self._arrays is not None:
            names = self._arrays.propositions
            for label in {*labels} - self._codes.keys():
                self._codes[label] = sum(1 << i for i, name in enumerate(names) if name in label)
            return self._arrays.step(self._states, [self._codes[label] for label in labels], self._rng)
        pairs = zip(self._states.tolist(), labels, strict=True)
        states, rewards = zip(*(self._sampler.step(m, label, self._rng) for m, label in pairs), strict=True)
        return np.array(states), np.array(rewards)

    def _labels_of(
        self, actions: Any, observations: Any, info: dict[str, Any], live: Any, ends_now: Any
    ) -> list[Label]:
        """Return the label of each environment's step; none where the step only resets."""
        space, ended = self.env.single_observation_space, np.flatnonzero(ends_now).tolist()
        if ended:  # their observations are those after the reset
            parts = list(iterate(self.env.observation_space, observations))
            for i in ended:
                parts[i] = info["final_obs"][i]
            room: Any = create_empty_array(space, self.num_envs)
            observations = concatenate(space, parts, room)
        if isinstance(self._labels, Predicates):
            held = self._labels.batch(self._last, actions, observations, self.num_envs) & live[:, None]
            return [frozenset(compress(self._labels.texts, row)) for row in held.tolist()]
        before, after = (iterate(self.env.observation_space, batch) for batch in (self._last, observations))
        labels = [frozenset[str]()] * self.num_envs
        for i, step in enumerate(zip(before, iterate(self.env.action_space, actions), after, strict=True)):
            if live[i]:
                labels[i] = self._label(*step, _info_of(info["final_info"] if i in ended else info, i, self.num_envs))
        return labels

    def _with_machine(self, info: dict[str, Any], labels: list[Label], mask: Any) -> dict[str, Any]:
        texts = np.empty(self.num_envs, dtype=object)
        texts[:] = [tuple(sorted(label)) for label in labels]
        own = {"label": texts, "machine_state": np.array(self.machine.states, dtype=object)[self._states]}
        return {**info, **_masked(own, mask)}


def _masked(info: dict[str, Any], mask: Any) -> dict[str, Any]:
    """Add to each key of an ``info`` what ``_key`` says in Gymnasium: which environments have it."""
    return {**info, **{f"_{key}": mask.copy() for key in info}}


def _info_of(info: Any, i: int, size: int) -> Any:
    """Return what one environment has of the ``info`` of all, in which ``_key`` says who has a key.

    What is no list or array over all environments is the same for each.
    """
    if isinstance(info, dict):
        names = [key for key in info if not (key.startswith("_") and key[1:] in info)]
        return {key: _info_of(info[key], i, size) for key in names if info.get(f"_{key}", [True] * size)[i]}
    shape = info.shape if isinstance(info, np.ndarray) else (len(info),) if isinstance(info, list | tuple) else ()
    return info[i] if shape[:1] == (size,) else info
