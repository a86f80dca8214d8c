"""Optimistic value iteration whose bonus is measured against what can still be earned (``praemia.learners.headroom``).

At step h, for the pair (o, a) in machine state m, with Y(o') = φ + W_{h+1}(m, o, a, o') and T = the largest Y over
every o' that the pair's labels allow:

    Q = min{T, p̂Y + max(d·√Var_p̂(Y), r·T) + g·(T − p̂Y)},    Q = T for a pair never visited,

where d, r and g are numbers per pair (they hold the constants and the counts).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from praemia.kernels.arrays import LANES, Actions, Floats, Ints, LayerArrays, SmallInts
from praemia.kernels.compiling import compiled
from praemia.kernels.moments import moments
from praemia.kernels.observe import SeenArrays
from praemia.kernels.rows import continuation, copied, fill_extra_rows, padded_width
from praemia.kernels.simd import load, select, store, zeros
from praemia.kernels.ties import take_best


class Outlook(NamedTuple):
    """Which (label, next observation) can follow which pair, as far as the labelling alone tells.

    The pairs that allow the same labels form a group. Label l can lead to targets[indptr[l] : indptr[l + 1]].
    """

    groups: SmallInts  # [O·A]
    group_indptr: Ints  # [G + 1]
    group_labels: SmallInts
    indptr: Ints  # [L + 1]
    targets: SmallInts


@compiled()
def fill_tops(outlook: Outlook, layers: LayerArrays, worth: Floats, width: int, by_label: Floats, tops: Floats) -> None:
    """Fill tops (flat [G·W]), the largest φ + W that can follow a pair of each group; worth[o · W + m] is V_{h+1}."""
    zero = zeros(4)
    for lane in range(0, width, LANES):
        for label in range(outlook.indptr.shape[0] - 1):
            best = zero
            for i in range(outlook.indptr[label], outlook.indptr[label + 1]):
                start = int(outlook.targets[i]) * width
                value = continuation(zero, layers, label, worth, start, lane, width)
                best = select(value > best, value, best)
            store(by_label, label * width + lane, best)
        for group in range(outlook.group_indptr.shape[0] - 1):
            best = zero
            for i in range(outlook.group_indptr[group], outlook.group_indptr[group + 1]):
                value = load(zero, by_label, int(outlook.group_labels[i]) * width + lane)
                best = select(value > best, value, best)
            store(tops, group * width + lane, best)


@compiled()
def plan_headroom(
    seen: SeenArrays,
    phi: Floats,
    transitions: LayerArrays,
    outlook: Outlook,
    layers: LayerArrays,
    deviation: Floats,
    floor: Floats,
    headroom: Floats,
    policy: Actions,
    num_actions: int,
    seed: int,
) -> Floats:
    """Make a plan: fill policy[H, O, M]; return V_0[O, M].

    phi (flat [L·W]) and transitions (τ alone) are the machine on the labels of ``seen``; layers is the same, with what
    it pays, on the labels of ``outlook``. deviation, floor, headroom: d, r and g of each slot.
    """
    horizon, num_obs, num_states = policy.shape
    width, actions = padded_width(num_states), policy.reshape(-1)
    tables = np.zeros((2, num_obs + seen.row_labels.shape[0], width))
    by_label = np.zeros((outlook.indptr.shape[0] - 1) * width)
    tops = np.zeros((outlook.group_indptr.shape[0] - 1) * width)
    values, tie, zero = np.empty(num_actions * LANES), seed, zeros(4)
    for h in range(horizon - 1, -1, -1):
        after = tables[(h + 1) % 2]
        worth, best = after.reshape(-1), tables[h % 2].reshape(-1)
        fill_extra_rows(after, num_obs, seen.row_labels, seen.row_targets, transitions)
        fill_tops(outlook, layers, worth, width, by_label, tops)
        for o in range(num_obs):
            for lane in range(0, width, LANES):
                for a in range(num_actions):
                    pair = o * num_actions + a
                    v = int(seen.slots[pair])
                    value = load(zero, tops, int(outlook.groups[pair]) * width + lane)
                    if v >= 0:
                        mean, spread = moments(zero, seen, v, phi, worth, width, lane)
                        doubt, least = deviation[v] * spread, floor[v] * value
                        bonus = select(least > doubt, least, doubt) + headroom[v] * (value - mean)
                        new = mean + bonus
                        value = select(value > new, new, value)
                    store(values, a * LANES, value)
                place = (h * num_obs + o) * num_states + lane
                tie = take_best(values, num_actions, best, o * width + lane, actions, place, num_states - lane, tie)
    return copied(tables[0], num_obs, num_states)
