"""A machine whose chances and rewards are learned: what the counts say of it, written into the layers of a plan.

With n = N(m, σ) visits of a machine state under a label, plans use

    τ̂ = N(m, σ, ·)/n,   φ̂ = the mean reward,   W(m, o') = φ̂ + β_h + Σ_m' τ̂(m')·V_{h+1}(o', m'),
    β_h = R·min{1, c_a/√n + c_b/n},

R the most that the step and what follows can be wrong by: what can still be earned, or 1 where only the reward is
open because a single machine state can follow. Where n = 0, W is R, or 1 + V of that state. ``sample_machine`` draws a
machine from its posterior instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from praemia.kernels.plan_data import PlanData
from praemia.kernels.records import SMALLEST, SmallInts
from praemia.kernels.switches import VARIANCE_OF_W


def only_target(possible: SmallInts, row: int, num_machine_states: int) -> int:
    """Return the one machine state that can follow, or −1 where several can."""
    count, only = 0, -1
    for target in range(num_machine_states):
        if possible[row * num_machine_states + target] > 0:
            count += 1
            only = target
    return only if count == 1 else -1


def estimate_machine(data: PlanData) -> None:
    """Write τ̂ into the layers and φ̂ beside them."""
    machine, layers, width = data.counts.machine, data.spec.layers, data.memory.tables.shape[2]
    num_machine_states = layers.indptr[1]
    for row in range(machine.visits.shape[0]):
        label, m = divmod(row, num_machine_states)
        visits, only = machine.visits[row], only_target(data.spec.possible, row, num_machine_states)
        for target in range(num_machine_states):
            share = 1.0 if target == only else 0.0
            if visits > 0.0:
                share = machine.moves[row * num_machine_states + target] / visits
            layers.probs[(label * num_machine_states + target) * width + m] = share
        data.spec.paid[label * width + m] = machine.rewards[row] / max(1.0, visits)


def add_machine_bonus(data: PlanData, step: int) -> None:
    """Write φ̂ + β_h, or β_h alone where φ̂ is added elsewhere, into the layers."""
    machine, layers, width = data.counts.machine, data.spec.layers, data.memory.tables.shape[2]
    num_machine_states = layers.indptr[1]
    per_root, per_visit = data.fixed[0]["machine_root"], data.fixed[0]["machine_visit"]
    for row in range(machine.visits.shape[0]):
        label, m = divmod(row, num_machine_states)
        visits, at = machine.visits[row], label * width + m
        most = data.spec.steps[step]["cap"] if only_target(data.spec.possible, row, num_machine_states) < 0 else 1.0
        bonus = most
        if visits > 0.0:
            bonus = most * min(1.0, per_root / np.sqrt(visits) + per_visit / visits)
        layers.paid[at] = bonus if VARIANCE_OF_W else data.spec.paid[at] + bonus


def sample_machine(data: PlanData, rng: Any) -> None:
    """Draw τ from Dirichlet(α/k + N(m, σ, ·)) over the k states that can follow, and φ from a Beta law.

    Rewards in [0, 1] count as parts of a success: φ ~ Beta(α/2 + Σr, α/2 + n − Σr).
    """
    machine, layers, width = data.counts.machine, data.spec.layers, data.memory.tables.shape[2]
    num_machine_states, prior = layers.indptr[1], data.fixed[0]["machine_prior"]
    for row in range(machine.visits.shape[0]):
        label, m = divmod(row, num_machine_states)
        num_possible, total = 0, 0.0
        for target in range(num_machine_states):
            num_possible += data.spec.possible[row * num_machine_states + target]
        for target in range(num_machine_states):
            at, weight = (label * num_machine_states + target) * width + m, 0.0
            if data.spec.possible[row * num_machine_states + target] > 0:
                seen = machine.moves[row * num_machine_states + target]
                weight = max(SMALLEST, rng.standard_gamma(prior / num_possible + seen))
            layers.probs[at] = weight
            total += weight
        for target in range(num_machine_states):
            layers.probs[(label * num_machine_states + target) * width + m] /= total
        earned = machine.rewards[row]
        gain = max(SMALLEST, rng.standard_gamma(0.5 * prior + max(0.0, earned)))
        loss = max(SMALLEST, rng.standard_gamma(0.5 * prior + max(0.0, machine.visits[row] - earned)))
        layers.paid[label * width + m] = gain / (gain + loss)
