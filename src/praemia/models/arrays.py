"""A task as the arrays that kernels take."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from praemia.kernels.arrays import MachineArrays, ModelArrays
from praemia.models.task import MachineTable, Task


def machine_arrays(table: MachineTable) -> MachineArrays:
    """Return a machine's τ and mean rewards."""
    return MachineArrays(table.indptr, table.targets, table.probs, table.rewards)


def transition_arrays(table: MachineTable) -> MachineArrays:
    """Return a machine's τ with rewards 0: continuation rows are then W, without the reward."""
    return MachineArrays(table.indptr, table.targets, table.probs, table.no_rewards)


def model_arrays(task: Task) -> ModelArrays:
    """Return a task's kernel, with the continuation row of every edge."""
    mdp = task.mdp
    rows, row_labels, row_targets = continuation_rows(
        mdp.labels, mdp.successors, task.table.inert, task.num_observations
    )
    return ModelArrays(mdp.indptr, mdp.successors, mdp.probs, mdp.labels, rows, row_labels, row_targets)


def continuation_rows(
    labels: NDArray[np.int32], successors: NDArray[np.int32], plain: NDArray[np.bool_], num_observations: int
) -> tuple[NDArray[np.uint32], NDArray[np.int32], NDArray[np.int32]]:
    """Number the distinct (label, successor) whose label is not plain, from ``num_observations`` on.

    An edge with a plain label continues with its successor's own row.
    """
    active = ~plain[labels]
    keys = labels[active].astype(np.int64) * num_observations + successors[active]
    distinct, numbers = np.unique(keys, return_inverse=True)
    rows = successors.astype(np.uint32)
    rows[active] = num_observations + numbers
    row_labels, row_targets = np.divmod(distinct, num_observations)
    return rows, row_labels.astype(np.int32), row_targets.astype(np.int32)
