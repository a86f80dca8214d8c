"""Counting: what can follow each pair, how often it did, and what a learner is shown of that.

The arrays have an entry for everything that can happen, because counting into fixed places is what makes a
stretch of episodes fast. A learner sees only the entries that did happen (``seen``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from praemia.kernels.observe import SeenArrays, observe
from praemia.kernels.play import TallyArrays
from praemia.models.labels import RuleLabelling
from praemia.models.limits import require_memory
from praemia.models.machine import RewardMachine
from praemia.models.rows import continuation_rows
from praemia.models.task import MachineTable, Task, TaskSpec


class Entries(NamedTuple):
    """All that can follow the pairs, by rows, with the continuation row of each."""

    indptr: NDArray[np.int64]
    successors: NDArray[np.int32]
    labels: NDArray[np.int32]
    rows: NDArray[np.uint32]
    row_labels: NDArray[np.int32]
    row_targets: NDArray[np.int32]
    width: int


@dataclass(frozen=True, eq=False)
class Tally:
    """The counts of one run. Make one with ``Tally.of``."""

    spec: TaskSpec
    entries: Entries
    arrays: TallyArrays

    @classmethod
    def of(cls, task: Task, *, on_product: bool, uses_steps: bool) -> Tally:
        """Make empty counts for a task, over its observations or over its product states."""
        spec = product_spec(task.spec) if on_product else task.spec
        entries = _product_entries(task) if on_product else _entries(task)
        num_pairs = spec.num_observations * spec.num_actions
        step_rows = spec.horizon + 1 if uses_steps else 0
        require_memory(4 * step_rows * spec.num_observations + 28 * num_pairs, f"counting in {task!r}")
        arrays = TallyArrays(
            entry_indptr=entries.indptr,
            width=entries.width,
            visits=np.zeros(num_pairs, dtype=np.int64),
            visits_at_plan=np.zeros(num_pairs, dtype=np.int64),
            entries=np.zeros(len(entries.successors), dtype=np.int64),
            steps=np.zeros((step_rows, spec.num_observations), dtype=np.int32),
            slots=np.full(num_pairs, -1, dtype=np.int32),
            pairs=np.zeros(num_pairs, dtype=np.int64),
            active=np.zeros(spec.num_observations, dtype=np.int32),
            is_active=np.zeros(spec.num_observations, dtype=np.int32),
            sizes=np.zeros(2, dtype=np.int64),
        )
        return cls(spec, entries, arrays)

    def seen(self) -> SeenArrays:
        """Return the counts of what was observed, and start counting anew towards the next plan."""
        arrays, entries = self.arrays, self.entries
        arrays.visits_at_plan[:] = arrays.visits
        num_slots, num_active = arrays.sizes
        return observe(
            arrays.visits,
            arrays.pairs[:num_slots],
            arrays.slots,
            arrays.active[:num_active],
            arrays.entries,
            entries.indptr,
            entries.successors,
            entries.labels,
            entries.rows,
            entries.row_labels,
            entries.row_targets,
            self.spec.num_observations,
        )


def product_spec(spec: TaskSpec) -> TaskSpec:
    """Return the spec of the cross product: states o · M + m, a machine of one state, a label for each mean reward."""
    paid = np.array(spec.machine.mean_rewards)
    ones = np.ones(len(paid))
    offsets = np.arange(len(paid) + 1, dtype=np.int64)
    table = MachineTable(
        num_states=1,
        initial=0,
        indptr=offsets,
        targets=np.zeros(len(paid), dtype=np.int32),
        probs=ones,
        rewards=paid,
        reward_indptr=offsets,
        reward_values=paid,
        reward_probs=ones,
        inert=paid == 0.0,
        still=np.ones(len(paid), dtype=bool),
    )
    return TaskSpec(
        num_observations=spec.num_observations * spec.num_machine_states,
        num_actions=spec.num_actions,
        horizon=spec.horizon,
        machine=RewardMachine(("product",), "product", (), ()),
        labelling=RuleLabelling(),
        label_sets=(),
        table=table,
    )


def _entries(task: Task) -> Entries:
    mdp = task.mdp
    rows, row_labels, row_targets = continuation_rows(
        mdp.labels, mdp.successors, task.table.still, task.num_observations
    )
    return Entries(mdp.indptr, mdp.successors, mdp.labels, rows, row_labels, row_targets, width=0)


def _product_entries(task: Task) -> Entries:
    """Lay out, for each product pair, its edges times the most outcomes that a rule has; not all of them occur."""
    mdp, table = task.mdp, task.table
    num_states, num_actions = task.num_machine_states, task.num_actions
    outcomes = np.diff(table.indptr)
    width = int(outcomes.max())
    require_memory(48 * len(mdp.probs) * num_states * width, f"counting in the product of {task!r}")

    state, action = np.divmod(np.arange(task.num_observations * num_states * num_actions), num_actions)
    observation, m = np.divmod(state, num_states)
    pair_row = observation * num_actions + action
    lengths = np.diff(mdp.indptr)[pair_row] * width
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    pair = np.repeat(np.arange(len(pair_row)), lengths)
    place, outcome = np.divmod(np.arange(indptr[-1]) - indptr[pair], width)
    edge = mdp.indptr[pair_row[pair]] + place
    rule_row = mdp.labels[edge].astype(np.int64) * num_states + m[pair]
    branch = table.indptr[rule_row] + np.minimum(outcome, outcomes[rule_row] - 1)
    successors = (mdp.successors[edge].astype(np.int64) * num_states + table.targets[branch]).astype(np.int32)
    labels = np.searchsorted(task.machine.mean_rewards, table.rewards[branch]).astype(np.int32)
    none = np.zeros(0, dtype=np.int32)
    return Entries(indptr, successors, labels, successors.astype(np.uint32), none, none, width)
