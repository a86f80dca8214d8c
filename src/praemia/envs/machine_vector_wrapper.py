"""A machine around a vector environment: all environments take their steps in the machine at once."""

from __future__ import annotations

from copy import deepcopy
from types import SimpleNamespace
from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv, VectorWrapper
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array, iterate
from numpy.typing import NDArray

from praemia.envs.machine_wrapper import STREAM, beside, with_machine_state
from praemia.envs.step_labels import LabelsOfSteps, StepLabeller
from praemia.errors import ModelError
from praemia.labels import Predicates
from praemia.machines.labels import Label
from praemia.machines.machine import RewardMachine
from praemia.tasks.base import require_machine
from praemia.tasks.machine_table import MachineSampler


class MachineVectorWrapper(VectorWrapper):
    """Play a machine along with each environment of a vector environment; its rewards are the rewards.

    It shows what a vector environment of ``MachineWrapper`` shows, in each of Gymnasium's autoreset modes, and takes
    its steps as ``machine.to_arrays`` has them. ``info["label"]`` is the label of the step just taken; a step that only
    resets an environment (in the mode NEXT_STEP) has no label and the reward 0. In the mode SAME_STEP
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
        own = {name: getattr(envs, f"single_{name}") for name in ("observation_space", "action_space")}
        self._label = StepLabeller(labels, machine, SimpleNamespace(**own))
        self._arrays = machine.to_arrays(machine.propositions)
        # Arrays have mean rewards: those with chance in them are sampled.
        self._sampler = None if all(r.is_constant for r in machine.rewards) else MachineSampler(machine)
        self.single_observation_space = with_machine_state(envs.single_observation_space, machine.num_states)
        self.observation_space = batch_space(self.single_observation_space, envs.num_envs)
        self._mode = getattr(envs.metadata.get("autoreset_mode"), "name", "NEXT_STEP")
        self._rng = np.random.default_rng()
        self._initial = machine.index[machine.initial]
        self._states = np.full(envs.num_envs, self._initial)
        self._resets = np.zeros(envs.num_envs, dtype=bool)  # whether the next step only resets
        self._sets: dict[int, Label] = {}

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode in all environments, or in those of ``options["reset_mask"]``."""
        mask = np.array((options or {}).get("reset_mask", np.ones(self.num_envs, dtype=bool)))
        observations, info = self.env.reset(seed=seed, options=options)  # which may remove the mask from options
        if seed is not None:
            seeds = [seed] if isinstance(seed, int) else [0 if one is None else one for one in seed]
            self._rng = np.random.default_rng((*seeds, STREAM))
        self._states[mask], self._resets[mask] = self._initial, False
        self._last = deepcopy(observations)
        return self._shown(observations), self._with_machine(info, np.zeros(self.num_envs, dtype=np.int64))

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Play a step of each environment; labels move the machines, which determine the rewards."""
        observations, env_rewards, terminated, truncated, info = self.env.step(actions)
        done, live = np.asarray(terminated) | np.asarray(truncated), ~self._resets
        ends_now = done if self._mode == "SAME_STEP" else np.zeros_like(done)
        labels = self._labels_of(actions, observations, info, live, ends_now)
        states, rewards = self._move(labels)
        self._states, rewards = np.where(live, states, self._initial), np.where(live, rewards, 0.0)
        info = {**info, "environment": {"reward": env_rewards, "terminated": terminated, "truncated": truncated}}
        if ends_now.any():
            final = np.empty(self.num_envs, dtype=object)
            for i in np.flatnonzero(ends_now):
                final[i] = beside(info["final_obs"][i], np.int64(self._states[i]))
            info["final_obs"] = final
            own = self._with_machine({"environment": info["environment"]}, labels)
            info["final_info"] = {**info.get("final_info", {}), **own, **{f"_{key}": ends_now for key in own}}
            self._states = np.where(done, self._initial, self._states)
        self._resets = done if self._mode == "NEXT_STEP" else np.zeros_like(done)
        self._last = deepcopy(observations)
        return self._shown(observations), rewards, terminated, truncated, self._with_machine(info, labels)

    def _move(self, labels: NDArray[np.int64]) -> tuple[Any, Any]:
        """Return the next machine states and the rewards of a step with these labels."""
        if self._sampler is None:
            return self._arrays.step(self._states, labels, self._rng)
        pairs = zip(self._states.tolist(), labels.tolist(), strict=True)
        states, rewards = zip(*(self._sampler.step(m, self._set(bits), self._rng) for m, bits in pairs), strict=True)
        return np.array(states), np.array(rewards)

    def _labels_of(self, actions: Any, observations: Any, info: dict[str, Any], live: Any, ends_now: Any) -> Any:
        """Return the label of each environment's step as bits, int64[N]; 0 where the step only resets."""
        space, ended = self.env.single_observation_space, np.flatnonzero(ends_now).tolist()
        if ended:  # their observations are those after the reset
            parts = list(iterate(self.env.observation_space, observations))
            for i in ended:
                parts[i] = info["final_obs"][i]
            room: Any = create_empty_array(space, self.num_envs)
            observations = concatenate(space, parts, room)
        bit = {name: 1 << i for i, name in enumerate(self.machine.propositions)}
        if isinstance(self._labels, Predicates):
            weights = np.array([bit[name] for name in self._labels.texts], dtype=np.int64)
            held = self._labels.batch(self._last, actions, observations)
            return np.where(live, np.where(held, weights, 0).sum(axis=-1), 0)
        before, after = (iterate(self.env.observation_space, batch) for batch in (self._last, observations))
        labels = np.zeros(self.num_envs, dtype=np.int64)
        for i, step in enumerate(zip(before, iterate(self.env.action_space, actions), after, strict=True)):
            if live[i]:
                own = _info_of(info["final_info"] if i in ended else info, i)
                labels[i] = sum(bit[name] for name in self._label(*step, own))
        return labels

    def _set(self, bits: int) -> Label:
        """Return a label as a set."""
        if bits not in self._sets:
            names = self.machine.propositions
            self._sets[bits] = frozenset(name for i, name in enumerate(names) if bits >> i & 1)
        return self._sets[bits]

    def _shown(self, observations: Any) -> dict[str, Any]:
        return beside(observations, self._states.astype(np.int64))

    def _with_machine(self, info: dict[str, Any], labels: NDArray[np.int64]) -> dict[str, Any]:
        texts = np.empty(self.num_envs, dtype=object)
        texts[:] = [tuple(sorted(self._set(bits))) for bits in labels.tolist()]
        return {**info, "label": texts, "machine_state": np.array(self.machine.states)[self._states]}


def _info_of(info: dict[str, Any], i: int) -> dict[str, Any]:
    """Return the ``info`` of one environment; in that of all, ``_key`` says who has a key."""
    values = {key: value for key, value in info.items() if not (key.startswith("_") and key[1:] in info)}
    return {
        key: _info_of(value, i) if isinstance(value, dict) else value[i]
        for key, value in values.items()
        if f"_{key}" not in info or info[f"_{key}"][i]
    }
