"""Where a policy goes, step by step from the start: its occupancy, and its value from there.

Both follow the states that are reached and no others. From one start, in few steps, these are few.
"""

from __future__ import annotations

import numpy as np

from praemia.kernels.arrays import Actions, Floats, MachineArrays, ModelArrays
from praemia.kernels.compiling import compiled


@compiled()
def value_from(
    model: ModelArrays, machine: MachineArrays, num_actions: int, policy: Actions, starts: Floats, initial: int
) -> float:
    """Return what policy[H, O, M] (or [H, O, M, A], action probabilities) earns, from starts[O] in machine state m."""
    horizon, num_obs, num_states = policy.shape[0], policy.shape[1], policy.shape[2]
    mass = np.zeros((2, num_obs, num_states))
    reached = np.empty((2, num_obs * num_states, 2), dtype=np.int64)
    count, value = 0, 0.0
    for o in range(num_obs):
        if starts[o] > 0.0:
            mass[0, o, initial] = starts[o]
            reached[0, count, 0], reached[0, count, 1] = o, initial
            count += 1
    for h in range(horizon):
        here, there = mass[h % 2], mass[(h + 1) % 2]
        places, new_places, new_count = reached[h % 2], reached[(h + 1) % 2], 0
        for i in range(count):
            o, m = places[i, 0], places[i, 1]
            first = int(policy[h, o, m]) if policy.ndim == 3 else 0
            for a in range(first, first + 1 if policy.ndim == 3 else num_actions):
                taken = here[o, m] if policy.ndim == 3 else here[o, m] * policy[h, o, m, a]
                for e in range(model.indptr[o * num_actions + a], model.indptr[o * num_actions + a + 1]):
                    z, row = int(model.successors[e]), int(model.labels[e]) * num_states + m
                    for j in range(machine.indptr[row], machine.indptr[row + 1]):
                        moved, m_next = taken * model.probs[e] * machine.probs[j], machine.targets[j]
                        value += moved * machine.rewards[j]
                        if moved > 0.0 and there[z, m_next] == 0.0:
                            new_places[new_count, 0], new_places[new_count, 1] = z, m_next
                            new_count += 1
                        there[z, m_next] += moved
            here[o, m] = 0.0
        count = new_count
    return value


@compiled(nogil=True)
def occupancy(model: ModelArrays, machine: MachineArrays, num_actions: int, policy: Actions, states: Floats) -> None:
    """Fill states[h, o, m] = P(o_h = o, m_h = m) for h = 1 … H, from states[0], under policy[H, O, M]."""
    horizon, num_observations, num_states = policy.shape
    states[1:] = 0.0
    for h in range(horizon):
        for o in range(num_observations):
            for m in range(num_states):
                if states[h, o, m] > 0.0:
                    _spread(
                        model,
                        machine,
                        o * num_actions + int(policy[h, o, m]),
                        m,
                        states[h, o, m],
                        states[h + 1],
                    )


@compiled(nogil=True)
def occupancy_randomised(
    model: ModelArrays, machine: MachineArrays, num_actions: int, policy: Floats, states: Floats
) -> None:
    """Fill states as ``occupancy`` does, under a policy[H, O, M, A] of action probabilities."""
    horizon, num_observations, num_states, _ = policy.shape
    states[1:] = 0.0
    for h in range(horizon):
        for o in range(num_observations):
            for m in range(num_states):
                for a in range(num_actions):
                    mass = states[h, o, m] * policy[h, o, m, a]
                    if mass > 0.0:
                        _spread(model, machine, o * num_actions + a, m, mass, states[h + 1])


@compiled(nogil=True)
def _spread(model: ModelArrays, machine: MachineArrays, pair: int, m: int, mass: float, onto: Floats) -> None:
    """Add the mass of (pair, m) to where it goes in one step, onto[O, M]."""
    num_states = onto.shape[1]
    for e in range(model.indptr[pair], model.indptr[pair + 1]):
        first = model.labels[e] * num_states + m
        for j in range(machine.indptr[first], machine.indptr[first + 1]):
            onto[model.successors[e], machine.targets[j]] += mass * model.probs[e] * machine.probs[j]
