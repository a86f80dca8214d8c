"""Backward passes over an estimate, on the recursion that learners plan with (``praemia.kernels.recursion``).

They compute bounds on values, not plans: several for each product state, each in its own copy of the machine
(``praemia.kernels.certify``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.kernels.plans import Recipe, call_plan, compiled_plan
from praemia.kernels.records import (
    NUM_EXITS,
    Actions,
    CountArrays,
    Floats,
    LabelSupport,
    LayerArrays,
    ModelArrays,
    action_type,
    no_machine_counts,
)
from praemia.kernels.recursion import Memory, PlanData, SpecArrays
from praemia.kernels.references import by_reference
from praemia.learners.workspace import NO_EVERY_ROW, NO_SMALL_INTS, step_records
from praemia.tasks.machine_table import MachineTable


def copies_of(table: MachineTable, pays: Sequence[float]) -> LayerArrays:
    """Lay out copies of a machine side by side; what it pays is multiplied by a number for each copy."""
    num_states, factors = table.num_states, np.array(pays)[:, None]
    layers = table.layers(num_states)
    own = layers.targets.reshape(-1, num_states)
    targets = np.where(layers.common[:, None] < 0, own, layers.common[:, None])
    shifted = targets[:, None, :] + num_states * np.arange(len(pays))[:, None]
    return LayerArrays(
        indptr=layers.indptr,
        common=np.full_like(layers.common, -1),
        targets=shifted.astype(np.uint32).ravel(),
        probs=np.repeat(layers.probs.reshape(-1, 1, num_states), len(pays), axis=1).ravel(),
        paid=(layers.paid.reshape(-1, 1, num_states) * factors).ravel(),
    )


def exits_of_copies(exits: Floats, pays: Sequence[float]) -> Floats:
    """Return what having left is worth in each copy, [H + 1, NUM_EXITS, copies · M]."""
    return np.concatenate([factor * exits for factor in pays], axis=2)


def as_counts(visits: NDArray[Any], edges: ModelArrays) -> CountArrays:
    """Write weighted edges as the counts of a learner that has met every observation; visits are [O, A]."""
    size, num_rows = len(visits), len(edges.extra_rows)
    made = CountArrays.empty(edges.indptr, size, num_rows, 0, no_machine_counts())
    made = made._replace(rows=edges.extra_rows.copy())
    made.pairs["visits"], made.pairs["distinct"] = visits.ravel(), np.diff(edges.indptr)
    made.successors["count"], made.successors["target"] = edges.probs, edges.successors
    made.successors["row"], made.states["met"], made.states["is_met"] = edges.rows, np.arange(size), 1
    made.totals["states"], made.totals["rows"] = size, num_rows
    return made


def run_pass(
    recipe: Recipe,
    counts: CountArrays,
    layers: LayerArrays,
    exits: Floats,
    policy: Actions,
    constants: Floats,
    *,
    num_copies: int,
    by_pair: Floats,
    support: LabelSupport,
) -> tuple[Floats, Actions]:
    """Run the recursion; return its V_0[copy, O, M] and greedy policies [H, O, copy, M]. ``policy`` is [H, O, M]."""
    horizon, size, num_states = policy.shape
    num_actions, width = len(counts.pairs) // size, num_copies * num_states
    steps = step_records(np.full(horizon + 1, np.inf), 1.0)  # the bounds have caps of their own
    spec = SpecArrays(layers, layers.paid, steps, exits, support, NO_EVERY_ROW, NO_SMALL_INTS, NO_SMALL_INTS)
    num_rows = size + NUM_EXITS + len(counts.rows)
    memory = empty_memory(horizon, len(counts.pairs), num_actions, num_rows, width)._replace(
        lower_tables=np.zeros((1, num_actions, width)),  # room for what one state's actions are worth
        by_pair=by_pair,
        drawn=np.ascontiguousarray(policy.transpose(1, 0, 2), dtype=np.int32).reshape(size, -1),
        rewards=np.zeros(int(counts.pairs["distinct"].max(initial=0))),  # room for the values of one pair's successors
        tops=np.zeros((len(support.group_indptr) - 1) * width),
        tops_by_label=np.zeros((len(support.indptr) - 1) * width),
    )
    data, rng = by_reference(PlanData(counts, spec, memory, np.ascontiguousarray(constants))), np.random.default_rng(0)
    greedy = np.zeros((horizon, size, width), dtype=action_type(num_actions))
    call_plan(compiled_plan(recipe, 1, (data, rng, greedy)), data, rng, greedy)
    values = memory.tables[0, :size].reshape(size, num_copies, num_states)
    return values.transpose(1, 0, 2), greedy.reshape(horizon, size, num_copies, num_states)


def empty_memory(horizon: int, num_pairs: int, num_actions: int, num_rows: int, width: int) -> Memory:
    """Return a memory with tables and nothing else; replace its empty arrays by what a recipe needs."""
    return Memory(
        tables=np.zeros((2, num_rows, width)),
        lower_tables=np.zeros((0, 0, 0)),
        action_values=np.zeros((horizon, 0, width)),
        by_step=np.zeros((0, num_pairs)),
        by_pair=np.zeros((0, 0)),
        by_successor=np.zeros((0, 0)),
        drawn=np.zeros((0, 0), dtype=np.int32),
        order=np.zeros((0, 0), dtype=np.int32),
        rewards=np.zeros(0),
        tops=np.zeros(1),
        tops_by_label=np.zeros(0),
        options=np.zeros(2 * num_actions),
        spread=np.zeros(0),
        exists=np.zeros(0),
    )
