"""The potential of a machine: its optimal value, whatever the environment, for shaping of rewards."""

from __future__ import annotations

from numbers import Real

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from praemia.errors import ModelError, ParameterError
from praemia.machines.machine import RewardMachine

TOLERANCE = 1e-14  # of the largest value: value iteration stops at changes below


def potential(machine: RewardMachine, discount: float) -> NDArray[np.float64]:
    """Return Φ(q) = max over labels of Σ τ(q'|q, σ)·(ν̄(q, σ, q') + γΦ(q')) by value iteration: float64[M]."""
    if not isinstance(discount, Real) or isinstance(discount, bool) or not 0.0 <= discount <= 1.0:
        raise ParameterError(f"discount={discount!r}; expected a number from 0 to 1")
    # A choice is a label of a state, up to equal outcomes; choices are in the order of their states.
    choices = [(m, outs) for m, state in enumerate(machine.states) for outs in machine.possible_outcomes(state)]
    edges = [(i, m, machine.index[out.target], out) for i, (m, outs) in enumerate(choices) for out in outs]
    choice, source, target = (np.array(column) for column in list(zip(*edges, strict=True))[:3])
    probs, rewards = np.array([(out.probability, out.reward.mean) for *_, out in edges]).T
    if discount == 1.0:
        _require_no_cycle(machine, source, target, rewards)
    first = np.searchsorted([m for m, _ in choices], np.arange(machine.num_states))
    value = np.zeros(machine.num_states)
    while True:
        before = value
        # np.bincount adds in order: the same bits on every processor
        gains = np.bincount(choice, probs * (rewards + discount * value[target]), len(choices))
        value = np.maximum.reduceat(gains, first)
        if np.max(np.abs(value - before)) <= TOLERANCE * np.max(np.abs(value)):
            return value


def _require_no_cycle(
    machine: RewardMachine, source: NDArray[np.int64], target: NDArray[np.int64], rewards: NDArray[np.float64]
) -> None:
    """Refuse rewards on a cycle of the machine, whose sum has no end without a discount."""
    graph = coo_array((np.ones(len(source)), (source, target)), shape=(machine.num_states, machine.num_states))
    _, component = connected_components(graph, connection="strong")
    on_cycle = (component[source] == component[target]) & (rewards != 0.0)
    if on_cycle.any():
        state = machine.states[source[on_cycle.argmax()]]
        raise ModelError(
            f"discount=1, and a cycle through the machine state {state!r} has a reward, which could be collected for "
            "ever; give a discount below 1"
        )
