"""Where a policy loses value: how much less it earns than the optimum, by machine state and observation.

With d the probabilities of being somewhere under π, and V*, Q* the optimal values,

    V* − V^π = Σ_h Σ_(m, o) d_h(m, o) · (V*_h(m, o) − Q*_h(m, o, π_h)),

so every term is what a decision there costs, and the terms are all there is (the performance difference lemma).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.arithmetic import ordered_sum
from praemia.limits import require_memory
from praemia.planning.exact import Plan, occupancy, validate_policy
from praemia.planning.policy import PolicyLike
from praemia.tasks.model import Model
from praemia.tasks.task import Task


def losses(task: Task, policy: PolicyLike, plan: Plan) -> NDArray[np.float64]:
    """Return float64[M, O], what a policy loses in each place against an optimal plan; the sum is V* − V^π."""
    table, edges = task.table, len(task.model.probs)
    require_memory(
        8 * task.num_machine_states * (len(task.mdp.label_sets) * task.num_observations + 2 * edges),
        f"finding where a policy loses value in {task!r}",
    )
    inner = validate_policy(task, policy)
    where = occupancy(task, policy).states
    lost = np.zeros((table.num_states, task.num_observations))
    for h in range(task.horizon):
        following = np.hstack((task.discount * plan.values[h + 1], task.model.exits[h + 1].T))
        chosen = _of_policy(inner[h], _action_values(task.model, following))
        lost += where[h] * np.maximum(0.0, plan.values[h] - chosen)  # rounding may take a best action for a better one
    return lost


def _action_values(model: Model, following: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Q[O, A, M] of a step, from the values of the next one and of the exits, [M, O + NUM_EXITS]."""
    from scipy.sparse import csr_array

    table = model.table
    shape = (len(table.indptr) - 1, table.num_states)
    machine_kernel = csr_array((table.probs, table.targets, table.indptr), shape=shape)
    moved = np.asarray(machine_kernel @ following)
    worth = moved.reshape(-1, *following.shape) + table.mean_rewards[:, :, None]
    edges = np.arange(len(model.probs))
    kernel = csr_array((model.probs, edges, model.indptr), shape=(len(model.indptr) - 1, len(edges)))
    sums: NDArray[np.float64] = np.asarray(kernel @ worth[model.labels, :, model.successors])
    return sums.reshape(model.num_observations, model.num_actions, table.num_states)


def _of_policy(policy: NDArray[Any], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what a policy's actions are worth, [M, O], from policy[O, M] or policy[O, M, A] and values[O, A, M]."""
    by_state = values.transpose(2, 0, 1)  # [M, O, A]
    if policy.ndim == 2:
        return np.take_along_axis(by_state, policy.T[..., None].astype(np.int64), axis=2)[..., 0]
    weighted: NDArray[np.float64] = ordered_sum(by_state * policy.transpose(1, 0, 2))
    return weighted
