"""A machine around any Gymnasium environment: agents see its state, so that its rewards are Markov for them."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs

from praemia.envs.black_box import require_env
from praemia.envs.step_labels import LabelsOfSteps, RecordTo, StepLabeller, TraceRecorder
from praemia.errors import ModelError, ParameterError, require_whole
from praemia.machines.labels import Label
from praemia.machines.machine import RewardMachine
from praemia.tasks.base import MAX_HORIZON, require_machine
from praemia.tasks.machine_table import MachineSampler

MACHINE_STATE, OBSERVATION = "machine_state", "observation"
STREAM = 1  # tells the machine's random numbers from the environment's, which come from the same seed


class MachineView(NamedTuple):
    """How an environment plays its machine: what is needed to compute a step in another machine state.

    Attributes
    ----------
    machine : the machine.
    space : the Dict of observations; its entry ``machine_state`` is the index of the machine's state.
    done_states : the machine states in which episodes end.
    add_reward : whether the environment's own reward is added to the machine's.
    """

    machine: RewardMachine
    space: spaces.Space[Any]
    done_states: frozenset[int]
    add_reward: bool


def with_machine_state(inner: spaces.Space[Any], num_states: int) -> spaces.Dict:
    """Return the space of observations beside a machine state; those that are dictionaries keep their entries."""
    parts = dict(inner.items()) if isinstance(inner, spaces.Dict) else {OBSERVATION: inner}
    if MACHINE_STATE in parts:
        raise ModelError(
            f"the environment's observations already have an entry {MACHINE_STATE!r}; rename it with "
            "gymnasium.wrappers.TransformObservation"
        )
    return spaces.Dict({**parts, MACHINE_STATE: spaces.Discrete(num_states)})


class MachineWrapper(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Play a machine along with an environment of any spaces; its rewards are the rewards.

    An observation is ``{"observation": …, "machine_state": m}``; an environment whose observations are dictionaries
    keeps its own entries. ``gymnasium.wrappers.FlattenObservation`` makes one vector of it, and
    ``gymnasium.wrappers.TimeAwareObservation`` shows the step. ``info`` holds the ``label`` of the step, a sorted
    tuple, the ``machine_state`` by name, and in ``environment`` the step without the machine: the ``reward``,
    ``terminated`` and ``truncated``. The environment samples the random numbers that it would sample alone; the machine
    has its own, from the same seed. Once an episode has ended the machine stays, and its reward is 0.

    Parameters
    ----------
    env : the environment.
    labels : the labels of steps, in any of the forms that ``BlackBox`` takes.
    machine : the machine.
    horizon : truncate episodes after so many steps; None: leave that to the environment.
    add_reward : add the environment's reward to the machine's, instead of dropping it.
    until_done : terminate an episode once no further reward, positive or negative, is possible.
    record : a file or a list; the labels and rewards of every episode are added to it.

    Examples
    --------
    >>> import gymnasium
    >>> import praemia
    >>> def labels(o, a, o_next, info):
    ...     return "right" if o_next[0] > 0.5 else "left" if o_next[0] < -0.5 else ()
    >>> there_and_back = praemia.RewardMachine.from_ltlf("F(right & F left)")
    >>> env = praemia.MachineWrapper(gymnasium.make("CartPole-v1"), labels, there_and_back)
    >>> observation, info = env.reset(seed=0)
    >>> observation["observation"].shape, info["machine_state"] == there_and_back.initial
    ((4,), True)
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        labels: LabelsOfSteps,
        machine: RewardMachine,
        horizon: int | None = None,
        *,
        add_reward: bool = False,
        until_done: bool = False,
        record: RecordTo = None,
    ) -> None:
        require_env(env)
        require_machine(machine)
        require_whole("horizon", 1 if horizon is None else horizon, 1, MAX_HORIZON, ModelError)
        if add_reward and until_done:
            raise ParameterError("until_done with add_reward: the environment's further rewards are not known")
        options: dict[str, Any] = {"add_reward": add_reward, "until_done": until_done, "record": record}
        arguments = {"labels": labels, "machine": machine, "horizon": horizon, **options}
        RecordConstructorArgs.__init__(self, _disable_deepcopy=True, **arguments)
        gymnasium.Wrapper.__init__(self, env)
        self.machine, self.horizon, self.add_reward = machine, horizon, add_reward
        self.label = StepLabeller(labels, machine, env)
        self.observation_space = with_machine_state(env.observation_space, machine.num_states)
        self.done_states = machine.settled_states if until_done else frozenset()
        self.sampler = MachineSampler(machine)
        self._recorder = TraceRecorder(record)
        self._rng = np.random.default_rng()
        self._start(None)

    @property
    def machine_state(self) -> int:
        """The index of the machine state."""
        return self._machine_state

    @property
    def machine_view(self) -> MachineView:
        """How this environment plays its machine, for counterfactual steps."""
        return MachineView(self.machine, self.observation_space, self.done_states, self.add_reward)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode of the environment, with the machine in its initial state."""
        self._recorder.end_episode()
        if seed is not None:
            self._rng = np.random.default_rng((seed, STREAM))
        observation, info = self.env.reset(seed=seed, options=options)
        self._start(observation)
        return self._agent_state(observation), self._with_machine(info, frozenset())

    def _start(self, observation: Any) -> None:
        self._last_observation = deepcopy(observation)  # the environment may overwrite its own
        self._machine_state = self.machine.index[self.machine.initial]
        self._step, self._is_over = 0, False

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play a step of the environment; its label moves the machine, which determines the reward."""
        observation, env_reward, terminated, truncated, info = self.env.step(action)
        label, reward = frozenset[str](), 0.0
        if not self._is_over:
            label = self.label(self._last_observation, action, observation, info)
            self._machine_state, reward = self.sampler.step(self._machine_state, label, self._rng)
        reward += float(env_reward) if self.add_reward else 0.0
        self._last_observation = deepcopy(observation)
        self._step += 1
        truncated = bool(truncated) or self._step == self.horizon
        env_step = {"reward": float(env_reward), "terminated": bool(terminated), "truncated": truncated}
        terminated = bool(terminated) or self._machine_state in self.done_states
        if not self._is_over:
            self._recorder.add(label, reward)
        self._is_over |= terminated or truncated
        if self._is_over:
            self._recorder.end_episode()
        info = self._with_machine(info, label) | {"environment": env_step}
        return self._agent_state(observation), reward, terminated, truncated, info

    def close(self) -> None:
        """Close the environment; the steps of an unfinished episode are recorded."""
        self._recorder.end_episode()
        super().close()

    def _agent_state(self, observation: Any) -> dict[str, Any]:
        parts = observation if isinstance(self.env.observation_space, spaces.Dict) else {OBSERVATION: observation}
        return {**parts, MACHINE_STATE: np.int64(self._machine_state)}

    def _with_machine(self, info: dict[str, Any], label: Label) -> dict[str, Any]:
        return {**info, "label": tuple(sorted(label)), "machine_state": self.machine.states[self._machine_state]}
