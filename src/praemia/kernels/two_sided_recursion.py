"""The recursion with upper values, for which the plan is greedy, and lower values of the same plan.

    Q̄_h = min{cap, upper},   V̄_h = max_a Q̄_h,   V̲_h = max{floor, lower} at the action taken,

where the learner's pair_bounds(…) returns (upper, lower) of a visited pair; one never visited has (cap, floor).
Everything else is as in ``praemia.kernels.recursion``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from praemia.kernels.arrays import Actions
from praemia.kernels.continuation_rows import fill_rows
from praemia.kernels.counts import NUM_MET, NUM_ROWS
from praemia.kernels.recursion import Place, PlanData, clear_last, take_best
from praemia.kernels.simd import store, zeros

# Replaced when a learner's plan is compiled.
LANES = 4
prepare_pair: Any = None
pair_bounds: Any = None


def plan(data: PlanData, policy: Actions) -> None:
    """Make a plan: update policy[H, S, M] for the states that were met; V̄_0 is left in memory.tables[0]."""
    counts, spec, memory = data.counts, data.spec, data.memory
    horizon, num_states, num_machine_states = policy.shape
    num_actions, width, num_met = spec.sizes[0], memory.tables.shape[2], counts.sizes[NUM_MET]
    actions, options, zero = policy.reshape(-1), memory.options, zeros(LANES)
    labels, targets, rows = counts.row_labels, counts.row_targets, (0, counts.sizes[NUM_ROWS])
    for i in range(num_met):
        first = np.int64(counts.met[i]) * num_actions
        for pair in range(first, first + num_actions):
            if counts.visits[pair] > 0:
                prepare_pair(data, pair, 0.0)
    clear_last(memory.tables[horizon % 2], counts, num_met, False)
    clear_last(memory.lower_tables[horizon % 2], counts, num_met, False)
    for h in range(horizon - 1, -1, -1):
        upper, lower = memory.tables[(h + 1) % 2], memory.lower_tables[(h + 1) % 2]
        fill_rows(zero, upper, num_states, labels, targets, spec.layers, rows, (0, width))
        fill_rows(zero, lower, num_states, labels, targets, spec.layers, rows, (0, width))
        above, under = upper.reshape(-1), lower.reshape(-1)
        here, below = memory.tables[h % 2].reshape(-1), memory.lower_tables[h % 2]
        for i in range(num_met):
            o = np.int64(counts.met[i])
            for lane in range(0, width, LANES):
                for a in range(num_actions):
                    pair = o * num_actions + a
                    up, low = zero + spec.caps[h], zero + spec.floors[h]
                    if counts.visits[np.uint64(pair)] > 0:
                        place = Place(h, above, under, width, lane, up)
                        found_up, found_low = pair_bounds(zero, data, pair, place)
                        up, low = np.minimum(up, found_up), np.maximum(low, found_low)
                    store(options, a * LANES, up)
                    store(options, (num_actions + a) * LANES, low)
                chosen, exist = (h * num_states + o) * num_machine_states + lane, num_machine_states - lane
                take_best(zero, options, num_actions, here, o * width + lane, actions, chosen, exist, data.rng)
                for k in range(min(exist, LANES)):
                    below[o, lane + k] = options[(num_actions + np.int64(actions[chosen + k])) * LANES + k]
