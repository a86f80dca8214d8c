"""Tabular Q-learning: a plan that is due after every step and learns from it, for the machine state met or for all."""

from __future__ import annotations

import numpy as np

from praemia.kernels.bundles import Bundle
from praemia.kernels.compiling import inlined
from praemia.kernels.counts import RECENT, Counts, copy
from praemia.kernels.records import Actions, Floats, Ints, LayerArrays, Whole
from praemia.kernels.ties import sample_best


class QMemory(Bundle):
    """The table Q(o, m, a), and what it is updated with."""

    table: Floats  # [O·A, M]
    values: Floats  # [O, W], max_a Q
    layers: LayerArrays  # τ and φ, for updates of every machine state
    ends: Floats  # [H], the value of an end at each step
    is_done: Floats  # [W]
    rate: float
    discount: float
    initial: float
    for_all_states: bool


@inlined
def value_after(memory: QMemory, target: Whole, m: Whole, end: float) -> float:
    """Return max_a Q of a successor, or the value of the end where the episode is over."""
    if target >= memory.values.shape[0] or memory.is_done[m] > 0.0:
        return end
    return float(memory.values[target, m])


@inlined
def mean_target(memory: QMemory, label: Whole, m: Whole, target: Whole, end: float) -> float:
    """Return φ(m, label) + γ·Σ_m' τ(m'|m, label)·max_a Q(target, m', a)."""
    layers, width, total = memory.layers, memory.values.shape[1], 0.0
    for layer in range(layers.indptr[label], layers.indptr[label + 1]):
        at = layer * width + m
        if layers.probs[at] > 0.0:
            m_next = np.int64(layers.targets[at])
            if layers.common[layer] >= 0:
                m_next = np.int64(layers.common[layer])
            total += layers.probs[at] * value_after(memory, target, m_next, end)
    return float(layers.paid[label * width + m] + memory.discount * total)


@inlined
def update(memory: QMemory, stream: Ints, policy: Actions, o: Whole, m: Whole, a: Whole, target: float) -> None:
    """Move Q(o, m, a) towards a target; play the best action there, sampled among equals."""
    table, num_actions = memory.table, memory.table.shape[0] // policy.shape[1]
    first, num_machine_states = o * num_actions, table.shape[1]
    table[first + a, m] += memory.rate * (target - table[first + a, m])
    flat, start = table.reshape(-1), first * num_machine_states + m
    best = sample_best(flat, start, num_machine_states, num_actions, stream, -1, 0.0)
    memory.values[o, m] = table[first + best, m]
    if policy[0, o, m] != best:
        for h in range(policy.shape[0]):
            policy[h, o, m] = best


@inlined
def learn(memory: QMemory, counts: Counts, stream: Ints, policy: Actions) -> int:
    """Learn from the last step; before the first one, fill the table and play the same actions at every step."""
    taken = counts.totals[RECENT]
    if taken == 0:
        memory.table[:] = memory.initial
        memory.values[:] = memory.initial
        for h in range(1, policy.shape[0]):
            copy(policy[0].reshape(-1), policy[h].reshape(-1))
        return 1
    step, end = counts.recent[taken - 1], memory.ends[taken - 1]
    o, a, target, label = np.int64(step[0]), np.int64(step[1]), np.int64(step[2]), np.int64(step[3])
    if memory.for_all_states:
        for m in range(policy.shape[2]):
            update(memory, stream, policy, o, m, a, mean_target(memory, label, m, target, end))
    else:
        later = value_after(memory, target, np.int64(step[5]), end)
        reward = counts.recent_rewards[taken - 1] + memory.discount * later
        update(memory, stream, policy, o, np.int64(step[4]), a, reward)
    return 16
