"""The potential of a machine: its optimal value, whatever the environment, for shaping of rewards.

    Φ(q) = max over labels σ of Σ τ(q'|q, σ)·(ν̄(q, σ, q') + γΦ(q'))

is computed by policy iteration, whose values are those of a policy: exact, however near γ is to 1. Some sweeps of value
iteration before each solve save solves. Without a discount no cycle has rewards, and the first policy stays wherever
it can stay for ever, with the value 0: later ones leave only for a higher value (Puterman, 1994, section 7.2).
"""

from __future__ import annotations

from numbers import Real
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csc_array, eye_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import spsolve

from praemia.errors import ModelError, ParameterError
from praemia.machines.machine import RewardMachine

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

SWEEPS = 1_000  # of value iteration before each solve, at most
NOISE = 1e-13  # of the largest value: what is not higher by more is no improvement


class Choices(NamedTuple):
    """What each state can do, up to equal outcomes, in the order of the states: arrays over edges, choices and states.

    ``choice``, ``source``, ``target``, ``probs`` and ``rewards`` are [E], the ``owner`` of each choice is [C], and
    the ``first`` choice of each state is [M].
    """

    choice: Ints
    source: Ints
    target: Ints
    probs: Floats
    rewards: Floats
    owner: Ints
    first: Ints


def potential(machine: RewardMachine, discount: float) -> Floats:
    """Return Φ of each state, float64[M]."""
    if not isinstance(discount, Real) or isinstance(discount, bool) or not 0.0 <= discount <= 1.0:
        raise ParameterError(f"discount={discount!r}; expected a number from 0 to 1")
    choices = _choices(machine)
    policy = choices.first.copy() if discount < 1.0 else _staying(machine, choices)
    value = _value(choices, policy, float(discount))
    while True:
        better = _improved(choices, policy, value, float(discount))
        if np.array_equal(better, policy):
            return value
        policy, before, value = better, value, _value(choices, better, float(discount))
        if not value.sum() > before.sum():  # no more than noise
            return before


def _choices(machine: RewardMachine) -> Choices:
    owned = [(m, outs) for m, state in enumerate(machine.states) for outs in machine.possible_outcomes(state)]
    edges = [(i, m, machine.index[out.target], out) for i, (m, outs) in enumerate(owned) for out in outs]
    choice, source, target = (np.array(column) for column in list(zip(*edges, strict=True))[:3])
    probs, rewards = np.array([(out.probability, out.reward.mean) for *_, out in edges]).T
    owner = np.array([m for m, _ in owned])
    return Choices(choice, source, target, probs, rewards, owner, np.searchsorted(owner, np.arange(machine.num_states)))


def _value(choices: Choices, policy: Ints, discount: float) -> Floats:
    """Return the value of a policy, which has the index of a choice for each state."""
    size, own = len(policy), policy[choices.source] == choices.choice
    source, target, probs = choices.source[own], choices.target[own], choices.probs[own]
    moves: csc_array = coo_array((probs, (source, target)), shape=(size, size)).tocsc()
    rewards = np.bincount(source, probs * choices.rewards[own], size)
    if discount == 1.0:  # where it stays for ever there is no reward
        _, component = connected_components(moves, connection="strong")
        leaves = np.bincount(component, np.bincount(source, component[source] != component[target], size)) > 0
        rewards, moves = np.where(leaves[component], rewards, 0.0), moves.multiply(leaves[component][:, None]).tocsc()
    return np.atleast_1d(spsolve((eye_array(size) - discount * moves).tocsc(), rewards))


def _improved(choices: Choices, policy: Ints, value: Floats, discount: float) -> Ints:
    """Return a policy with a higher value wherever there is one; a choice that is not higher by more stays."""
    policy = policy.copy()
    for _ in range(min(SWEEPS, len(policy))):
        gains = np.bincount(choices.choice, choices.probs * (choices.rewards + discount * value[choices.target]))
        most = np.maximum.reduceat(gains, choices.first)
        higher = most > value + NOISE * np.max(np.abs(value))
        if not higher.any():
            break
        is_best = np.flatnonzero(gains == most[choices.owner])
        best = is_best[np.searchsorted(choices.owner[is_best], np.arange(len(policy)))]
        policy, value = np.where(higher, best, policy), np.where(higher, most, value)
    return policy


def _staying(machine: RewardMachine, choices: Choices) -> Ints:
    """Return a policy that stays in a strongly connected component of the machine wherever that is possible for ever.

    Rewards within one, whose sum has no end, are refused.
    """
    size, source, target = machine.num_states, choices.source, choices.target
    graph = coo_array((np.ones(len(source)), (source, target)), shape=(size, size))
    _, component = connected_components(graph, connection="strong")
    inside = component[source] == component[target]
    on_cycle = inside & (choices.rewards != 0.0)
    if on_cycle.any():
        state = machine.states[source[on_cycle.argmax()]]
        raise ModelError(
            f"discount=1, and a cycle through the machine state {state!r} has a reward, which could be collected for "
            "ever; give a discount below 1"
        )
    stays, kept = np.zeros(size, dtype=bool), np.ones(len(choices.owner), dtype=bool)
    while stays.sum() != (now := np.logical_or.reduceat(kept, choices.first)).sum():
        stays, kept = now, np.bincount(choices.choice, ~(inside & now[target])) == 0
    first_kept = [np.argmax(part) for part in np.split(kept, choices.first[1:])]
    return np.add(choices.first, first_kept, dtype=np.int64)
