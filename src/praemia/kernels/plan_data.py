"""The data of a plan: what is known of the task, what was counted, and the memory that the recursion works in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from praemia.kernels.records import CountArrays, EveryRow, Floats, LabelSupport, LayerArrays, Records, SmallInts

# The most that can still be earned at a step, and what its values count for the step before: γ. At step 0 that is 1:
# V_0 is kept as it is.
STEP_LIMITS = np.dtype([("cap", "f8"), ("discount", "f8")], align=True)


# Numbers of the learner that are fixed for a run, by name; those that belong to other rules are 0.
FIXED = np.dtype(
    [
        (name, "f8")
        for name in (
            *("later_cost", "later_factor"),  # ``praemia.kernels.bonus``
            *("machine_root", "machine_visit", "machine_prior"),  # ``praemia.kernels.learned_machine``
            *("prior", "num_successors", "least_mass", "breaks_sticks"),  # ``praemia.kernels.posterior_draws``
            *("scale", "level", "log_subsets", "as_published"),  # ``praemia.kernels.confidence_sets``
            *("rate", "next_discount", "initial"),  # ``praemia.kernels.q_learning``
        )
    ],
    align=True,
)


def fixed_record(numbers: Mapping[str, float]) -> Records:
    """Return the fixed numbers of a rule as kernels take them."""
    record = np.zeros(1, dtype=FIXED)
    for name, number in numbers.items():
        record[name] = number
    return record


# The agenda of a plan that is repaired (``praemia.kernels.repair``). Of lists of states, the i-th that took over
# counts, that is to be computed at a step, and that changed at the step after; of state i, whether it is listed.
AGENDA = np.dtype([(name, "i4") for name in ("ith_seed", "ith_todo", "ith_changed", "is_listed")], align=True)


class SpecArrays(NamedTuple):
    """What is known of the task, as plans use it."""

    layers: LayerArrays  # what rows are filled with: τ and φ, or τ alone where the variance is that of W
    moves: LayerArrays  # τ alone
    paid: Floats  # [L·W], φ
    steps: Records  # [H + 1], STEP_LIMITS
    exits: Floats  # [H + 1, NUM_EXITS, W], terminal values
    support: LabelSupport
    every: EveryRow
    possible: SmallInts  # [L·M·M], 1 where a machine that has to be learned can move; empty where it is known
    is_done: Floats  # [W], 1 for a machine state in which an episode is over


class PlanMemory(NamedTuple):
    """The memory that a plan works in, part of which it leaves to the next one."""

    # [2, O + NUM_EXITS + X, W], or [H + 1, ·, W] where plans are repaired: V_h is in tables[h % 2] or tables[h]
    tables: Floats
    least_tables: Floats  # the same for the least it is worth: V̲ (``praemia.kernels.recursion``) or L (``….ties``)
    soon_tables: Floats  # the same for E
    action_values: Floats  # [H, slots, W], Q of the previous plan; infinite for pairs that it did not know
    by_step: Floats  # [H, O·A], numbers that depend on the step; [0, O·A] when there are none
    by_pair: Floats  # [O·A, ·]
    by_successor: Floats  # [E, ·]
    drawn: SmallInts  # [O·A, ·], the continuation rows of observations that were drawn
    sorted_rows: SmallInts  # [M, rows], the rows, best first
    rewards: Floats  # [O·A·W], Σ p̂ φ where the variance is that of W
    tops: Floats  # [1, G·W], or [H, G·W]: the most that can follow the pairs of each group
    tops_by_label: Floats  # [L·W]
    options: Floats  # [3·A·lanes], the values of one state's actions
    spread: Floats  # [O·A·3·lanes], how far a pair's outcomes differ, and what its limit and its local one leave open
    spread_sums: Floats  # [3], the sums of these over the steps done
    shares: Floats  # [H, 2], the spread and the local spread of each step
    local_limit: Floats  # [lanes], of one state
    exists: Floats  # [W], 1 for a column that is a machine state and 0 for one that fills a vector up
    agenda: Records  # [O], AGENDA, where plans are repaired


class PlanData(NamedTuple):
    """All arrays that a plan is made from; kernels take it by reference."""

    counts: CountArrays
    spec: SpecArrays
    memory: PlanMemory
    fixed: Records  # [1], FIXED
    constants: Floats  # of the learner's own functions, fixed for a run


class StepView(NamedTuple):
    """What a learner's functions see of a step of the recursion: what follows it, for some machine states."""

    step: int
    values: Floats  # the table of V_{h+1} and its continuation rows, flat
    least: Floats  # the same of the least it is worth, V̲ or L
    soon: Floats  # the same of E
    tops: Floats  # the most that can follow the pairs of each group
    width: int
    lane: int  # the first of the machine states looked at
    limit: Any
