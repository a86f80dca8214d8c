"""Check a policy in one pass, and find where it goes, step by step from the start."""

from __future__ import annotations

from praemia.kernels.arrays import Actions, Floats, MachineArrays, ModelArrays
from praemia.kernels.compiling import compiled


@compiled()
def first_bad_row(weights: Floats, tolerance: float) -> int:
    """Return the first row of weights[R, A] that is no distribution, −1 if there is none."""
    for i in range(weights.shape[0]):
        total, least = 0.0, 0.0
        for a in range(weights.shape[1]):
            total += weights[i, a]
            least = min(least, weights[i, a])
        # Written so that NaN fails.
        if not (abs(total - 1.0) <= tolerance and least >= 0.0):
            return i
    return -1


@compiled()
def summed_up(weights: Floats) -> Floats:
    """Return the running sums of each row of weights[H, O, M, A]: to draw actions from."""
    sums = weights.copy()
    rows = sums.reshape((-1, weights.shape[3]))
    for i in range(rows.shape[0]):
        for a in range(1, rows.shape[1]):
            rows[i, a] += rows[i, a - 1]
    return sums


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
