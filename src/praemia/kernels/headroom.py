"""Optimistic value iteration whose bonus is measured against what can still be earned (``praemia.learners.headroom``).

At step h, for the pair (o, a) in machine state m, with Y(o') = φ + W_{h+1}(m, o, a, o') and T = the largest Y over
every o' that the pair's labels allow:

    Q = min{T, p̂Y + max(d·√Var_p̂(Y), r·T) + g·(T − p̂Y)},    Q = T for a pair never visited,

where d, r and g are numbers per pair (they hold the constants and the counts).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from praemia.kernels.arrays import Actions, Floats, Ints, MachineArrays, SmallInts
from praemia.kernels.observe import SeenArrays
from praemia.kernels.rows import fill_extra_rows
from praemia.kernels.ties import next_tie


class Outlook(NamedTuple):
    """Which (label, next observation) can follow which pair, as far as the labelling alone tells.

    The pairs that allow the same labels form a group. Label l can lead to targets[indptr[l] : indptr[l + 1]].
    """

    groups: SmallInts  # [O·A]
    group_indptr: Ints  # [G + 1]
    group_labels: SmallInts
    indptr: Ints  # [L + 1]
    targets: SmallInts


@njit(cache=True)
def fill_tops(outlook: Outlook, machine: MachineArrays, table: Floats, by_label: Floats, tops: Floats) -> None:
    """Fill tops[G, M], the largest ν̄ + V that can follow a pair of each group; table[o] holds V_{h+1}."""
    num_labels, num_states = by_label.shape
    for label in range(num_labels):
        for m in range(num_states):
            best = 0.0
            row = label * num_states + m
            for i in range(outlook.indptr[label], outlook.indptr[label + 1]):
                z, total = outlook.targets[i], 0.0
                for j in range(machine.indptr[row], machine.indptr[row + 1]):
                    total += machine.probs[j] * (machine.rewards[j] + table[z, machine.targets[j]])
                best = max(best, total)
            by_label[label, m] = best
    for group in range(tops.shape[0]):
        for m in range(num_states):
            best = 0.0
            for i in range(outlook.group_indptr[group], outlook.group_indptr[group + 1]):
                best = max(best, by_label[outlook.group_labels[i], m])
            tops[group, m] = best


@njit(cache=True)
def plan_headroom(
    seen: SeenArrays,
    phi: Floats,
    transitions: MachineArrays,
    outlook: Outlook,
    machine: MachineArrays,
    deviation: Floats,
    floor: Floats,
    headroom: Floats,
    policy: Actions,
    num_actions: int,
    seed: int,
) -> Floats:
    """Make a plan: fill policy[H, O, M]; return V_0[O, M].

    phi[L, M] and transitions (rewards 0) are the machine on the labels of ``seen``; machine is the same, with rewards,
    on the labels of ``outlook``. Means and variances are taken about the first successor: equal ones have variance 0
    exactly. deviation, floor, headroom: d, r and g of each slot.
    """
    horizon, num_obs, num_states = policy.shape
    indptr, rows, labels, counts, slots = seen.indptr, seen.rows, seen.labels, seen.counts, seen.slots
    tables = np.zeros((2, num_obs + seen.row_labels.shape[0], num_states))
    by_label = np.zeros((outlook.indptr.shape[0] - 1, num_states))
    tops = np.zeros((outlook.group_indptr.shape[0] - 1, num_states))
    base, best = np.empty(num_states), np.empty(num_states)
    mean, square = np.empty(num_states), np.empty(num_states)
    equals, tie = np.zeros(num_states, dtype=np.int64), seed
    for h in range(horizon - 1, -1, -1):
        after, here = tables[(h + 1) % 2], tables[h % 2]
        fill_extra_rows(after, num_obs, seen.row_labels, seen.row_targets, transitions)
        fill_tops(outlook, machine, after, by_label, tops)
        for o in range(num_obs):
            for m in range(num_states):
                best[m] = -1.0
            for a in range(num_actions):
                pair = o * num_actions + a
                v, group = slots[pair], outlook.groups[pair]
                if v >= 0:
                    first = indptr[v]
                    row, label, inverse = rows[first], labels[first], 1.0 / seen.visits[v]
                    for m in range(num_states):
                        base[m] = phi[label, m] + after[row, m]
                        mean[m] = 0.0
                        square[m] = 0.0
                    for e in range(first + 1, indptr[v + 1]):
                        row, label, count = rows[e], labels[e], counts[e]
                        for m in range(num_states):
                            off = phi[label, m] + after[row, m] - base[m]
                            mean[m] += count * off
                            square[m] += count * off * off
                for m in range(num_states):
                    value = tops[group, m]
                    if v >= 0:
                        off = mean[m] * inverse
                        spread = math.sqrt(max(0.0, square[m] * inverse - off * off))
                        short = value - base[m] - off
                        bonus = max(deviation[v] * spread, floor[v] * value) + headroom[v] * short
                        value = min(value, base[m] + off + bonus)
                    if value > best[m]:
                        best[m] = value
                        policy[h, o, m] = a
                        equals[m] = 1
                    elif value == best[m]:
                        equals[m] += 1
                        tie = next_tie(tie)
                        if tie % equals[m] == 0:
                            policy[h, o, m] = a
            for m in range(num_states):
                here[o, m] = best[m]
    return tables[0, :num_obs].copy()
