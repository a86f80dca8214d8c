"""A machine around any Gymnasium environment: agents see its state, so that its rewards are Markov for them.

An ``ObservationLayout`` puts the machine's state beside an observation: as a dictionary, one vector or one number.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs

from praemia.envs.black_box import RecordTo, StepLabels, TraceRecorder, require_parts, step_label
from praemia.errors import ModelError, ParameterError
from praemia.machines.labels import Label
from praemia.machines.machine import RewardMachine
from praemia.tasks.machine_table import MachineSampler

MACHINE_STATE, STEP, OBSERVATION = "machine_state", "step", "observation"


class ObservationLayout(ABC):
    """How an observation, a machine state and a step are put together: the state that an agent sees.

    Attributes
    ----------
    space : the space of these states.
    num_states : M; horizon : the horizon if agents see the step, else None.
    """

    space: spaces.Space[Any]

    def __init__(self, inner: spaces.Space[Any], num_states: int, horizon: int | None) -> None:
        self.inner, self.num_states, self.horizon = inner, num_states, horizon

    @abstractmethod
    def join(self, observation: Any, m: int, step: int) -> Any:
        """Return the state that an agent sees."""

    @abstractmethod
    def machine_state(self, state: Any) -> int:
        """Return the machine state in what an agent sees."""

    @abstractmethod
    def with_machine_state(self, state: Any, m: int) -> Any:
        """Return what an agent would see in another machine state."""


class DictLayout(ObservationLayout):
    """A dictionary: the environment's own entries, or ``observation``; ``machine_state``; and ``step``."""

    def __init__(self, inner: spaces.Space[Any], num_states: int, horizon: int | None) -> None:
        super().__init__(inner, num_states, horizon)
        self.nested = not isinstance(inner, spaces.Dict)
        parts = {OBSERVATION: inner} if self.nested else dict(inner.items())  # type: ignore[attr-defined]
        added: dict[str, spaces.Space[Any]] = {MACHINE_STATE: spaces.Discrete(num_states)}
        if horizon is not None:
            added[STEP] = spaces.Discrete(horizon + 1)
        for name in added.keys() & parts.keys():
            raise ModelError(
                f"the environment's observations already have an entry {name!r}; rename it with "
                "gymnasium.wrappers.TransformObservation"
            )
        self.space = spaces.Dict(parts | added)

    def join(self, observation: Any, m: int, step: int) -> dict[str, Any]:
        state = {OBSERVATION: observation} if self.nested else dict(observation)
        state[MACHINE_STATE] = np.int64(m)
        return state if self.horizon is None else {**state, STEP: np.int64(step)}

    def machine_state(self, state: Any) -> int:
        return int(state[MACHINE_STATE])

    def with_machine_state(self, state: Any, m: int) -> dict[str, Any]:
        return {**state, MACHINE_STATE: np.int64(m)}


class VectorLayout(ObservationLayout):
    """A vector: the environment's own, then the machine state one-hot, then the part of the horizon that has passed.

    A vector of whole numbers becomes float32, as learners want it.
    """

    def __init__(self, inner: spaces.Box, num_states: int, horizon: int | None) -> None:
        super().__init__(inner, num_states, horizon)
        added = num_states + (horizon is not None)
        dtype = inner.dtype.type if np.issubdtype(inner.dtype, np.floating) else np.float32
        low = np.concatenate((inner.low.astype(dtype), np.zeros(added, dtype)))
        high = np.concatenate((inner.high.astype(dtype), np.ones(added, dtype)))
        self.space = spaces.Box(low, high, dtype=dtype)
        self.first = len(inner.low)  # the place of machine state 0

    def join(self, observation: Any, m: int, step: int) -> Any:
        state = np.zeros(self.space.shape or (), self.space.dtype)
        state[: self.first] = observation
        state[self.first + m] = 1
        if self.horizon is not None:
            state[-1] = step / self.horizon
        return state

    def machine_state(self, state: Any) -> int:
        return int(np.argmax(state[self.first : self.first + self.num_states]))

    def with_machine_state(self, state: Any, m: int) -> Any:
        other = np.array(state)
        other[self.first : self.first + self.num_states] = 0
        other[self.first + m] = 1
        return other


class NumberLayout(ObservationLayout):
    """A number: (step · M + machine state) · n + the place of the observation in Discrete(n)."""

    def __init__(self, inner: spaces.Discrete, num_states: int, horizon: int | None) -> None:
        super().__init__(inner, num_states, horizon)
        self.size, self.start = int(inner.n), int(inner.start)
        self.space = spaces.Discrete(self.size * num_states * (1 if horizon is None else horizon + 1))

    def join(self, observation: Any, m: int, step: int) -> Any:
        outer = m if self.horizon is None else step * self.num_states + m
        return np.int64(outer * self.size + int(observation) - self.start)

    def machine_state(self, state: Any) -> int:
        return int(state) // self.size % self.num_states

    def with_machine_state(self, state: Any, m: int) -> Any:
        outer, place = divmod(int(state), self.size)
        return np.int64((outer // self.num_states * self.num_states + m) * self.size + place)


def layout_of(inner: spaces.Space[Any], num_states: int, horizon: int | None, *, flat: bool) -> ObservationLayout:
    """Return a dictionary or, if ``flat``, a vector for a Box of one dimension and a number for Discrete."""
    if not flat:
        return DictLayout(inner, num_states, horizon)
    if isinstance(inner, spaces.Discrete):
        return NumberLayout(inner, num_states, horizon)
    if isinstance(inner, spaces.Box) and len(inner.shape) == 1 and np.issubdtype(inner.dtype, np.number):
        return VectorLayout(inner, num_states, horizon)
    raise ModelError(
        f"flat=True, and the observation space is {inner}; expected Discrete(n) or a Box with one dimension: "
        "apply gymnasium.wrappers.FlattenObservation first, or leave flat out to have a dictionary"
    )


@dataclass(frozen=True)
class MachineView:
    """How an environment plays its machine: all that is needed to say what a step would be in another machine state.

    Attributes
    ----------
    machine : the machine.
    layout : where an observation holds the machine's state.
    done_states : the machine states in which episodes end.
    add_reward : whether the environment's own reward is added to the machine's.
    """

    machine: RewardMachine
    layout: ObservationLayout
    done_states: frozenset[int]
    add_reward: bool


STREAM = 1  # tells the machine's random numbers from the environment's, which come from the same seed


class MachineWrapper(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Play a machine along with an environment of any spaces, and pay what the machine pays.

    An observation is ``{"observation": …, "machine_state": m}``; an environment whose observations are dictionaries
    keeps its own entries. ``info`` holds the ``label`` of the step, a sorted tuple, the ``machine_state`` by name,
    and in ``environment`` the step without the machine: the ``reward``, ``terminated`` and ``truncated``.
    The environment draws the random numbers that it would draw alone; the machine has its own, from the same seed.
    Once an episode has ended the machine halts: it stays and pays nothing.

    Parameters
    ----------
    env : the environment.
    labels : a function (observation, action, next observation, info) → propositions, in the environment's own terms.
    machine : the machine.
    horizon : truncate episodes after so many steps; None: leave that to the environment.
    flat : show one vector (a Box of one dimension, then 1 in the place of the machine state) or one number (Discrete).
    show_step : show the step too; it needs a horizon. Optimal policies for a finite horizon depend on it.
    add_reward : add the environment's reward to the machine's, instead of dropping it.
    until_done : terminate an episode once no further reward, positive or negative, is possible.
    record : a file or a list; the labels and rewards of every episode are added to it.

    Examples
    --------
    >>> import gymnasium
    >>> import praemia
    >>> def labels(o, a, o_next, info):
    ...     return {"right"} if o_next[0] > 0.5 else {"left"} if o_next[0] < -0.5 else set()
    >>> there_and_back = praemia.RewardMachine.from_ltlf("F(right & F left)")
    >>> env = praemia.MachineWrapper(gymnasium.make("CartPole-v1"), labels, there_and_back, flat=True)
    >>> observation, info = env.reset(seed=0)
    >>> observation.shape, info["machine_state"] == there_and_back.initial  # 4 of CartPole's, 3 machine states
    ((7,), True)
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        labels: StepLabels,
        machine: RewardMachine,
        horizon: int | None = None,
        *,
        flat: bool = False,
        show_step: bool = False,
        add_reward: bool = False,
        until_done: bool = False,
        record: RecordTo = None,
    ) -> None:
        require_parts(env, labels, machine, 1 if horizon is None else horizon)
        if show_step and horizon is None:
            raise ParameterError("show_step=True without a horizon; give horizon=, the number of steps of an episode")
        if add_reward and until_done:
            raise ParameterError("until_done with add_reward: what the environment may still pay is not known")
        options = {"flat": flat, "show_step": show_step, "add_reward": add_reward, "until_done": until_done}
        arguments = {"labels": labels, "machine": machine, "horizon": horizon, **options, "record": record}
        RecordConstructorArgs.__init__(self, _disable_deepcopy=True, **arguments)
        gymnasium.Wrapper.__init__(self, env)
        self.labels, self.machine, self.horizon, self.add_reward = labels, machine, horizon, add_reward
        self.layout = layout_of(env.observation_space, machine.num_states, horizon if show_step else None, flat=flat)
        self.observation_space = self.layout.space
        self.done_states = machine.settled_states if until_done else frozenset()
        self.sampler = MachineSampler(machine)
        self._recorder = TraceRecorder(record)
        self._rng = np.random.default_rng()
        self._machine_state = machine.index[machine.initial]
        self._last_observation: Any = None
        self._step, self._is_over = 0, False

    @property
    def machine_state(self) -> int:
        """The number of the machine state."""
        return self._machine_state

    @property
    def machine_view(self) -> MachineView:
        """How this environment plays its machine, for counterfactual steps."""
        return MachineView(self.machine, self.layout, self.done_states, self.add_reward)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode of the environment, with the machine in its initial state."""
        self._recorder.end_episode()
        if seed is not None:
            self._rng = np.random.default_rng((seed, STREAM))
        observation, info = self.env.reset(seed=seed, options=options)
        self._last_observation = deepcopy(observation)  # the environment may overwrite its own
        self._machine_state = self.machine.index[self.machine.initial]
        self._step, self._is_over = 0, False
        return self._agent_state(observation), self._with_machine(info, frozenset())

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play a step of the environment; its label moves the machine, which pays."""
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

    def label(self, o: Any, a: Any, o_next: Any, info: dict[str, Any]) -> Label:
        """Return the label of a step, checked against the machine's propositions."""
        return step_label(self.labels, self.machine, (o, a, o_next), info)

    def close(self) -> None:
        """Close the environment; what was played of an episode is recorded."""
        self._recorder.end_episode()
        super().close()

    def _agent_state(self, observation: Any) -> Any:
        return self.layout.join(observation, self._machine_state, min(self._step, self.horizon or self._step))

    def _with_machine(self, info: dict[str, Any], label: Label) -> dict[str, Any]:
        return {**info, "label": tuple(sorted(label)), "machine_state": self.machine.states[self._machine_state]}
