"""EULER's backward pass: upper and lower values side by side.

    Q̄ = min(cap, p̂Ȳ + κ·bonus(Ȳ)),   V̲ = max(0, p̂Y̲ − κ·bonus(Y̲))  at the action taken,
    κ·bonus(Y) = factor·(√Var_p̂(Y) + √(p̂(Ȳ − Y̲)²)) + flat.

A pair never visited has Q̄ = cap and lower value 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from praemia.kernels.compiling import compiled, inlined
from praemia.kernels.counts import ROWS, Counts, fill_edges
from praemia.kernels.lanes import load, store, zeros
from praemia.kernels.linear import PassArrays, Scratch, begin_step, kept_value, moments, value_unmet
from praemia.kernels.records import LANES, Actions, Floats, Ints, Unsigned, Whole
from praemia.kernels.ties import take_best


@inlined
def gap_of(
    zero: Any,
    start: Ints,
    weights: Floats,
    rows: Unsigned,
    totals: Floats,
    pair: Any,
    upper: Floats,
    lower: Floats,
    width: int,
    lane: Whole,
) -> Any:
    """Return √(p̂(Ȳ − Y̲)²), how far upper and lower values of what follows lie apart."""
    apart, e, last = zero, np.uint64(start[pair]), np.uint64(start[pair + np.uint64(1)])
    while e < last:
        at = np.int64(rows[e]) * width + lane
        off = load(zero, upper, at) - load(zero, lower, at)
        apart = apart + weights[e] * off * off
        e += np.uint64(1)
    return np.sqrt(apart * (1.0 / totals[pair]))


@compiled
def plan_euler(
    task: PassArrays,
    counts: Counts,
    scratch: Scratch,
    lower: Floats,
    lowest: Floats,
    factor: Floats,
    flat: Floats,
    caps: Floats,
    policy: Actions,
    stream: Ints,
) -> None:
    """Fill policy[H, O, M] for the observations met. ``lower`` are tables like those of the scratch, for V̲."""
    zero, actions, num_rows = zeros(4), policy.reshape(-1), counts.totals[ROWS]
    start, weights, rows, totals = scratch.edges
    fill_edges(counts, scratch.edges)
    horizon, size, num_machine_states = policy.shape
    width, num_actions = task.is_done.shape[0], counts.visits.shape[0] // size
    upper, options = scratch.tables, scratch.options
    for h in range(horizon - 1, -1, -1):
        above, below = upper[(h + 1) % 2], lower[(h + 1) % 2]
        begin_step(zero, task, above, size, counts.rows, num_rows, h)
        begin_step(zero, task, below, size, counts.rows, num_rows, h)
        for o in range(size):
            if not counts.is_met[o]:
                continue
            for lane in range(0, width, LANES):
                for a in range(num_actions):
                    pair, value, low = np.uint64(o * num_actions + a), zero + caps[h], zero
                    if totals[pair] > 0.0:
                        gap = gap_of(zero, start, weights, rows, totals, pair, above, below, width, lane)
                        mean, deviation = moments(zero, start, weights, rows, totals, pair, above, width, lane)
                        value = np.minimum(value, mean + (factor[pair] * (deviation + gap) + flat[pair]))
                        mean, deviation = moments(zero, start, weights, rows, totals, pair, below, width, lane)
                        low = np.maximum(low, mean - (factor[pair] * (deviation + gap) + flat[pair]))
                    store(options, a * LANES, value)
                    store(lowest, a * LANES, low)
                place, count, at = (
                    (h * size + o) * num_machine_states + lane,
                    num_machine_states - lane,
                    o * width + lane,
                )
                best, here = take_best(zero, options, num_actions, actions, place, count, stream), lower[h % 2]
                store(upper[h % 2], at, kept_value(zero, task, h, lane, best))
                for k in range(LANES if count > LANES else count):
                    here[at + k] = lowest[np.int64(actions[place + k]) * LANES + k]
                store(here, at, kept_value(zero, task, h, lane, load(zero, here, at)))
    value_unmet(upper[0], counts.is_met, caps[0], width)
