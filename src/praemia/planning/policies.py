"""The one check of a policy, whoever made it: a user's array, or a learner's plan before it is played."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from praemia.errors import ModelError
from praemia.kernels.arrays import action_type
from praemia.kernels.policies import first_bad_row
from praemia.models.task import Task, TaskSpec

PROBABILITY_TOLERANCE = 1e-9
ROUNDED_TOLERANCE = 1e-3  # for probabilities of less than double precision


def inner_policy(task: Task | TaskSpec, policy: ArrayLike) -> NDArray[Any]:
    """Check a policy and return it as the kernels take it: int8 or int16[H, O, M], or float64[H, O, M, A]."""
    try:
        array = np.asarray(policy)
    except ValueError:
        raise ModelError("a policy whose rows differ in length; expected an array") from None
    expected = (task.horizon, task.num_machine_states, task.num_observations)
    if array.shape == expected:
        return _deterministic(array, task.num_actions)
    if array.shape == (*expected, task.num_actions):
        return _randomised(array)
    raise ModelError(
        f"a policy of shape {array.shape}; expected {expected} (horizon, machine states, observations), "
        f"or {(*expected, task.num_actions)} with a probability for each action"
    )


def _deterministic(array: NDArray[Any], num_actions: int) -> NDArray[Any]:
    if not np.issubdtype(array.dtype, np.integer):
        raise ModelError(f"a deterministic policy of type {array.dtype}; expected whole numbers, the actions")
    if array.min() < 0 or array.max() >= num_actions:
        raise ModelError(f"a policy with actions {array.min()} … {array.max()}; expected 0 … {num_actions - 1}")
    return np.ascontiguousarray(array.transpose(0, 2, 1), dtype=action_type(num_actions))


def _randomised(array: NDArray[Any]) -> NDArray[np.float64]:
    if not (np.issubdtype(array.dtype, np.integer) or np.issubdtype(array.dtype, np.floating)):
        raise ModelError(f"a randomised policy of type {array.dtype}; expected action probabilities")
    weights = np.ascontiguousarray(array.transpose(0, 2, 1, 3), dtype=np.float64)
    if array.dtype in (np.float32, np.float16):  # probabilities of a deep learner: what rounding took is given back
        sums = weights.sum(axis=-1, keepdims=True)
        weights = np.where(np.abs(sums - 1.0) <= ROUNDED_TOLERANCE, weights / np.where(sums > 0.0, sums, 1.0), weights)
    if first_bad_row(weights.reshape(-1, weights.shape[-1]), PROBABILITY_TOLERANCE) >= 0:
        raise ModelError("a randomised policy whose action probabilities are not all ≥ 0 with sum 1")
    return weights
