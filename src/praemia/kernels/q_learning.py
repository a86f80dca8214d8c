"""Tabular Q-learning: a plan that is due after every step and learns from it, for the machine state met or for all.

Q(o, m, a) is kept as memory.by_pair[o·A + a, m] and max_a Q as the V_0 of a plan, in memory.tables[0]. The constants
are what an end at each step is worth.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from praemia.kernels.numbers import flat
from praemia.kernels.plan_data import PlanData
from praemia.kernels.records import Actions, Whole
from praemia.kernels.switches import FOR_ALL_STATES
from praemia.kernels.ties import draw_best


def value_after(data: PlanData, target: Whole, m: Whole, end: float) -> float:
    """Return max_a Q of a successor, or what the end is worth where the episode is over."""
    if target >= data.counts.states.shape[0] or data.spec.is_done[m] > 0.0:
        return end
    return float(data.memory.tables[0, target, m])


def mean_target(data: PlanData, label: Whole, m: Whole, target: Whole, end: float) -> float:
    """Return φ(m, label) + γ·Σ_m' τ(m'|m, label)·max_a Q(target, m', a)."""
    layers, width, total = data.spec.layers, data.memory.tables.shape[2], 0.0
    for layer in range(layers.indptr[label], layers.indptr[label + 1]):
        at = layer * width + m
        if layers.probs[at] > 0.0:
            m_next = np.int64(layers.targets[at])
            if layers.common[layer] >= 0:
                m_next = np.int64(layers.common[layer])
            total += layers.probs[at] * value_after(data, target, m_next, end)
    return float(layers.paid[label * width + m] + data.fixed[0]["next_discount"] * total)


def update(data: PlanData, rng: Any, policy: Actions, o: Whole, m: Whole, a: Whole, target: float) -> None:
    """Move Q(o, m, a) towards a target; play the best action there, drawn among equals."""
    table, num_actions = data.memory.by_pair, data.counts.pairs.shape[0] // policy.shape[1]
    first, num_machine_states = o * num_actions, table.shape[1]
    table[first + a, m] += data.fixed[0]["rate"] * (target - table[first + a, m])
    best = draw_best(flat(table), first * num_machine_states + m, num_machine_states, num_actions, rng)
    data.memory.tables[0, o, m] = table[first + best, m]
    if policy[0, o, m] != best:
        for h in range(policy.shape[0]):
            policy[h, o, m] = best


def begin(data: PlanData, policy: Actions) -> None:
    """Write the value that the table starts with, and play the same actions at every step."""
    table, initial = data.memory.by_pair, data.fixed[0]["initial"]
    for pair in range(table.shape[0]):
        for m in range(table.shape[1]):
            table[pair, m] = initial
    for o in range(policy.shape[1]):
        for m in range(policy.shape[2]):
            data.memory.tables[0, o, m] = initial
            for h in range(1, policy.shape[0]):
                policy[h, o, m] = policy[0, o, m]


def learn(data: PlanData, rng: Any, policy: Actions) -> None:
    """Learn from the last step; before the first one, begin."""
    counts, taken = data.counts, data.counts.totals[0]["recent"]
    if taken == 0:
        begin(data, policy)
        return
    step, end = counts.recent[taken - 1], data.constants[taken - 1]
    o, a, target = np.int64(step["o"]), np.int64(step["a"]), np.int64(step["target"])
    if FOR_ALL_STATES:
        for m in range(policy.shape[2]):
            update(data, rng, policy, o, m, a, mean_target(data, np.int64(step["label"]), m, target, end))
    else:
        later = value_after(data, target, np.int64(step["m_next"]), end)
        update(data, rng, policy, o, np.int64(step["m"]), a, step["reward"] + data.fixed[0]["next_discount"] * later)
