"""How an environment plays its machine, or several side by side: for its own steps and for counterfactual ones.

Several machines have one disjoint union of states, so that what an agent sees stays Markov: state m of machine i has
the index m plus the sizes of the machines before i.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Hashable, Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from gymnasium import spaces

from praemia.errors import ModelError, located
from praemia.machines.labels import Label
from praemia.machines.machine import RewardMachine
from praemia.tasks.base import require_machine
from praemia.tasks.machine_table import MachineSampler

MACHINE_STATE, OBSERVATION = "machine_state", "observation"


class MachineView:
    """The machines of an environment, and what else determines its rewards and ends.

    Attributes
    ----------
    machines : the machines; ``states``, ``initials``: the names of all their states, and the index of each initial one.
    space : the Dict of observations; its entry ``machine_state`` is the index of the machine's state.
    done_states : the machine states in which episodes end.
    add_reward : whether the environment's own reward is added to the machine's.
    shaping : γ of the shaping by potentials, or None; ``potentials``: Φ of each state.
    """

    def __init__(
        self,
        machines: Sequence[RewardMachine],
        inner: spaces.Space[Any],
        *,
        until_done: bool = False,
        add_reward: bool = False,
        shaping: float | None = None,
    ) -> None:
        self.machines, self.add_reward, self.shaping = tuple(machines), add_reward, shaping
        self._firsts = [0, *accumulate(machine.num_states for machine in machines)][:-1]
        self.states = tuple(state for machine in machines for state in machine.states)
        self.initials = [i + m.index[m.initial] for i, m in zip(self._firsts, machines, strict=True)]
        self.space = with_machine_state(inner, len(self.states))
        done = zip(self._firsts, machines, strict=True) if until_done else ()
        self.done_states = frozenset(first + m for first, machine in done for m in machine.settled_states)
        with located("shaping"):
            potentials = [np.zeros(m.num_states) if shaping is None else m.potential(shaping) for m in machines]
        self.potentials = np.concatenate(potentials)
        self._samplers = [MachineSampler(machine) for machine in machines]

    def machine_of(self, state: int) -> int:
        """Return the index of the machine that has a state."""
        return bisect(self._firsts, state) - 1

    def step(
        self,
        state: int,
        label: Label,
        env_step: Mapping[str, Any],
        stage_rewards: Mapping[Hashable, float],
        rng: np.random.Generator,
    ) -> tuple[int, float, bool]:
        """Return the next state, the reward before shaping, and whether the episode terminates.

        ``env_step`` has the environment's ``reward`` and whether it ``terminated``.
        """
        i = self.machine_of(state)
        m, reward = self._samplers[i].step(state - self._firsts[i], label, rng)
        after = self._firsts[i] + m
        here, there = self.states[state], self.states[after]
        reward += stage_rewards.get((here, there), stage_rewards.get(here, 0.0)) if stage_rewards else 0.0
        reward += env_step["reward"] if self.add_reward else 0.0
        return after, reward, env_step["terminated"] or after in self.done_states

    def shaping_reward(self, state: int, after: int, terminated: bool) -> float:
        """Return γ·Φ(after) − Φ(state), with Φ = 0 where the episode terminates; 0 without shaping."""
        if self.shaping is None:
            return 0.0
        return float((0.0 if terminated else self.shaping * self.potentials[after]) - self.potentials[state])


def with_machine_state(inner: spaces.Space[Any], num_states: int) -> spaces.Dict:
    """Return the space of observations beside a machine state; those that are dictionaries keep their entries."""
    parts = dict(inner.items()) if isinstance(inner, spaces.Dict) else {OBSERVATION: inner}
    if MACHINE_STATE in parts:
        raise ModelError(
            f"the environment's observations already have an entry {MACHINE_STATE!r}; rename it with "
            "gymnasium.wrappers.TransformObservation"
        )
    return spaces.Dict({**parts, MACHINE_STATE: spaces.Discrete(num_states)})


def beside(observation: Any, machine_state: Any) -> dict[str, Any]:
    """Return an observation, or a batch of them, beside a machine state."""
    parts = observation if isinstance(observation, dict) else {OBSERVATION: observation}
    return {**parts, MACHINE_STATE: machine_state}


def as_machines(machine: object) -> tuple[RewardMachine, ...]:
    """Return one machine, or several, as a tuple of machines with the same propositions."""
    machines: tuple[Any, ...] = tuple(machine) if isinstance(machine, list | tuple) else (machine,)
    for one in machines:
        require_machine(one)
    if not machines:
        raise ModelError("machine=[]; expected a RewardMachine, or several")
    propositions = dict.fromkeys(name for one in machines for name in one.propositions)
    return machines if len(machines) == 1 else tuple(one.over(propositions) for one in machines)
