"""The exact value of a policy that is being played, computed only for states that an episode can reach."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from praemia.kernels.compiling import INLINED, POINTED_AT, compiled, specialised
from praemia.kernels.exact import assess_state, exact_kernels
from praemia.kernels.records import Actions, Floats, Ints, LayerArrays, ModelArrays, Records
from praemia.kernels.recursion import FIRST
from praemia.kernels.rows import fill_exits


class ValueArrays(NamedTuple):
    """What the exact value of a policy is computed from.

    ``states`` are the states (o, m) that an episode can reach, in the order of the first step at which it can; the
    first until[h] of them can be met at step h.
    """

    model: ModelArrays
    layers: LayerArrays
    exits: Floats  # [H + 1, NUM_EXITS, W]
    states: Records
    until: Ints  # [H]
    discounts: Floats  # [H], what V_h counts for the step before: γ, and 1 for the first step
    tables: Floats  # [2, O + NUM_EXITS + X, W], to work in


@compiled(**INLINED)
def start_value(starts: Records, table: Floats) -> float:
    """Return the value at the start, from a table whose first rows hold V_0[o, m]."""
    total = 0.0
    for i in range(starts.shape[0]):
        start = starts[i]
        total += start["prob"] * table[start["o"], start["m"]]
    return total


fill_table: Any = None  # replaced: ``praemia.kernels.exact.fill`` for the machine's width


def policy_value(values: ValueArrays, starts: Records, policy: Actions) -> float:
    """Return the exact value of policy[H, O, M], computed only for states that an episode can reach."""
    model, tables, last = values.model, values.tables, values.tables[policy.shape[0] % 2]
    for o in range(policy.shape[1]):
        for m in range(policy.shape[2]):
            last[o, m] = 0.0
    for h in range(policy.shape[0] - 1, -1, -1):
        after, here = tables[(h + 1) % 2], tables[h % 2]
        fill_exits(after, policy.shape[1], values.exits[h + 1])
        fill_table(after, policy.shape[1], model.extra_rows, values.layers, FIRST, model.extra_rows.shape[0])
        for i in range(values.until[h]):
            state = values.states[i]
            observation, machine_state = np.int64(state["o"]), np.int64(state["m"])
            assess_state(model, after, here, policy[h], observation, machine_state)
            here[observation, machine_state] *= values.discounts[h]
    return start_value(starts, tables[0])


@cache
def policy_value_for(lanes: int) -> Any:
    """Return ``policy_value`` for tables that are filled so many machine states at a time."""
    filler = {"fill_table": exact_kernels(lanes).fill}
    return specialised(policy_value, f"policy_value_{lanes}", replacements=filler, **POINTED_AT)
