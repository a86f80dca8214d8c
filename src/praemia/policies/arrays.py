"""Policies as arrays, checked before they are evaluated or played; ``praemia.policies.policy`` has ``Policy``."""

from __future__ import annotations

from reprlib import repr as brief
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from praemia._support.arithmetic import ordered_sum
from praemia.errors import ModelError
from praemia.kernels.records import action_type
from praemia.tasks.model import Model
from praemia.tasks.spec import TaskSpec

PROBABILITY_TOLERANCE = 1e-9
ROUNDED_TOLERANCE = 1e-3  # for probabilities of less than double precision


PolicyLike: TypeAlias = Any  # an array, a Policy, a Plan, or a Run for what it has learned


def policy_array(policy: PolicyLike) -> NDArray[Any]:
    """Return the array of a policy: of a ``Policy``, a ``Plan``, what a ``Run`` has learned, or an array itself."""
    table = getattr(policy, "policy", policy)
    table = getattr(table, "table", table)
    if table is None and policy is not None:
        raise ModelError(f"{policy!r} was kept without its policy (--no-policies)")
    try:
        array = np.asarray(table)
    except ValueError:
        raise ModelError("a policy whose rows differ in length; expected an array") from None
    if array.ndim == 0 and array.dtype.kind not in "biufc":
        raise ModelError(
            f"{brief(policy)} as a policy; expected an array [H, M, O] of actions or [H, M, O, A] of probabilities, "
            "a Policy, a Plan or a Run"
        )
    return array


def policy_for(task: TaskSpec | Model, policy: PolicyLike) -> NDArray[Any]:
    """Return the array of a policy, [H, M, O] or [H, M, O, A]; an array [M, O] is the same at every step."""
    array = policy_array(policy)
    expected = (task.horizon, task.num_machine_states, task.num_observations)
    if array.shape == expected[1:]:
        return np.broadcast_to(array, expected)
    if array.shape in (expected, (*expected, task.num_actions)):
        return array
    raise ModelError(
        f"a policy of shape {array.shape}; expected {expected} (horizon, machine states, observations), "
        f"or {(*expected, task.num_actions)} with a probability for each action"
    )


def validate_policy(task: TaskSpec | Model, policy: PolicyLike) -> NDArray[Any]:
    """Check a policy and return it as the kernels take it: int8 or int16[H, O, M], or float64[H, O, M, A]."""
    array = policy_for(task, policy)
    return _deterministic(array, task.num_actions) if array.ndim == 3 else _randomised(array)


def _deterministic(array: NDArray[Any], num_actions: int) -> NDArray[Any]:
    if not np.issubdtype(array.dtype, np.integer):
        raise ModelError(f"a deterministic policy of type {array.dtype}; expected integers, the actions")
    if array.min() < 0 or array.max() >= num_actions:
        raise ModelError(f"a policy with actions {array.min()} … {array.max()}; expected 0 … {num_actions - 1}")
    return np.ascontiguousarray(array.transpose(0, 2, 1), dtype=action_type(num_actions))


def _randomised(array: NDArray[Any]) -> NDArray[np.float64]:
    if not (np.issubdtype(array.dtype, np.integer) or np.issubdtype(array.dtype, np.floating)):
        raise ModelError(f"a randomised policy of type {array.dtype}; expected action probabilities")
    weights = np.ascontiguousarray(array.transpose(0, 2, 1, 3), dtype=np.float64)
    if array.dtype in (np.float32, np.float16):  # from a deep learner: normalise away rounding errors
        sums = ordered_sum(weights)[..., None]
        weights = np.where(np.abs(sums - 1.0) <= ROUNDED_TOLERANCE, weights / np.where(sums > 0.0, sums, 1.0), weights)
    if not (np.abs(ordered_sum(weights) - 1.0) <= PROBABILITY_TOLERANCE).all() or weights.min(initial=0.0) < 0.0:
        raise ModelError("a randomised policy whose action probabilities are not all ≥ 0 with sum 1")
    return weights
