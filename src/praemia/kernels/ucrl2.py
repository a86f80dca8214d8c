"""Optimistic kernels in confidence sets around p̂ (Bourel et al. 2023, episodic): one backward pass.

At each (h, o, a, m) the kernel p̃ in the set that maximises Σ p̃(o')·(φ + W)(m, o') is found greedily. Which o' is
good depends on m, and on (o, a) only through the label, so for each (h, m) the continuation rows are sorted once, and
a pair walks through them from the best on, skipping the rows that are not its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from praemia.kernels.arrays import Actions, Floats, Ints, LayerArrays, SmallInts, Unsigned
from praemia.kernels.compiling import compiled
from praemia.kernels.rows import copied, fill_extra_rows, padded_width
from praemia.kernels.ties import draw_best


class DenseRows(NamedTuple):
    """The continuation row of every (o, a, o'), and what the rows are."""

    own: Unsigned  # [O, A, O]
    targets: SmallInts  # [R]
    extra_labels: SmallInts  # [R − O]


@compiled()
def best_in_l1_ball(
    p_hat: Floats, own_rows: Unsigned, radius: float, order: Ints, row_targets: SmallInts, worth: Floats
) -> float:
    """Return the largest Σ p̃·worth within an L1 distance of p̂.

    Half the radius is added to the best o' (at most to 1) and taken from the worst ones.
    """
    total, surplus = 0.0, 0.0
    for z in range(p_hat.shape[0]):
        total += p_hat[z] * worth[own_rows[z]]
    for k in range(order.shape[0]):
        row = order[k]
        if own_rows[row_targets[row]] == row:
            surplus = min(0.5 * radius, 1.0 - p_hat[row_targets[row]])
            total += surplus * worth[row]
            break
    best = row_targets[row]
    for k in range(order.shape[0] - 1, -1, -1):
        if surplus <= 0.0:
            break
        row = order[k]
        z = row_targets[row]
        if own_rows[z] == row and z != best:
            taken = min(surplus, p_hat[z])
            total -= taken * worth[row]
            surplus -= taken
    return total


@compiled()
def best_in_intervals(
    lower: Floats, upper: Floats, own_rows: Unsigned, order: Ints, row_targets: SmallInts, worth: Floats
) -> float:
    """Return the largest Σ p̃·worth with lower ≤ p̃ ≤ upper: fill from the lower ends upward, the best o' first."""
    total, room = 0.0, 1.0
    for z in range(lower.shape[0]):
        total += lower[z] * worth[own_rows[z]]
        room -= lower[z]
    for k in range(order.shape[0]):
        if room <= 0.0:
            break
        row = order[k]
        z = row_targets[row]
        if own_rows[z] == row:
            added = min(room, upper[z] - lower[z])
            total += added * worth[row]
            room -= added
    return total


@compiled()
def plan_ucrl2(
    visits: Ints,
    p_hat: Floats,
    radius: Floats,
    lower: Floats,
    upper: Floats,
    rows: DenseRows,
    layers: LayerArrays,
    policy: Actions,
    seed: int,
) -> Floats:
    """Make a plan: fill policy[H, O, M]; return V_0[O, M].

    visits[O, A]; p_hat[O, A, O]; radius[O, A] of L1 balls, or empty, and then the intervals lower, upper[O, A, O].
    A pair never visited may go anywhere: it is worth its best o'.
    """
    horizon, num_obs, num_states = policy.shape
    num_actions = visits.shape[1]
    row_targets = rows.targets
    num_rows = row_targets.shape[0]
    tables = np.zeros((2, num_rows, padded_width(num_states)))
    order = np.empty((num_states, num_rows), dtype=np.int64)
    worth = np.empty((num_states, num_rows))
    everything = np.full(num_obs, 1.0)
    nothing = np.zeros(num_obs)
    values, tie = np.empty(num_actions), seed
    for h in range(horizon - 1, -1, -1):
        after, here = tables[(h + 1) % 2], tables[h % 2]
        fill_extra_rows(after, num_obs, rows.extra_labels, row_targets[num_obs:], layers)
        for m in range(num_states):
            worth[m] = after[:, m]
            # A stable sort: ties must not depend on whether the kernel is compiled.
            order[m] = np.argsort(-worth[m], kind="mergesort")
        for o in range(num_obs):
            for m in range(num_states):
                for a in range(num_actions):
                    own = rows.own[o, a]
                    if visits[o, a] == 0:
                        values[a] = best_in_intervals(nothing, everything, own, order[m], row_targets, worth[m])
                    elif radius.shape[0] > 0:
                        values[a] = best_in_l1_ball(p_hat[o, a], own, radius[o, a], order[m], row_targets, worth[m])
                    else:
                        values[a] = best_in_intervals(lower[o, a], upper[o, a], own, order[m], row_targets, worth[m])
                choice, tie = draw_best(values, 0, 1, num_actions, tie)
                policy[h, o, m], here[o, m] = choice, values[choice]
    return copied(tables[0], num_obs, num_states)
