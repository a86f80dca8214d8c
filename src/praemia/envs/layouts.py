"""The machine's state beside an environment's observation: as a dictionary, one vector or one number."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from praemia.errors import ModelError
from praemia.machines.machine import RewardMachine

MACHINE_STATE, STEP, OBSERVATION = "machine_state", "step", "observation"


class Layout(ABC):
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


class DictLayout(Layout):
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


class VectorLayout(Layout):
    """A vector: the environment's own, then 1 in the place of the machine state, then the part of the horizon gone.

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


class NumberLayout(Layout):
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


def layout_of(inner: spaces.Space[Any], num_states: int, horizon: int | None, *, flat: bool) -> Layout:
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
    """How an environment plays its machine: what one needs to know to tell of a step in another machine state.

    Attributes
    ----------
    machine : the machine.
    layout : where an observation holds the machine's state.
    settled : the machine states in which episodes end.
    add_reward : whether the environment's own reward is added to the machine's.
    """

    machine: RewardMachine
    layout: Layout
    settled: frozenset[int]
    add_reward: bool
