"""Where a policy goes, step by step from the start: its occupancy."""

from __future__ import annotations

from praemia.kernels.arrays import Actions, Floats, MachineArrays, ModelArrays
from praemia.kernels.compiling import compiled


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
