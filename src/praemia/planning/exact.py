"""Exact finite-horizon planning: the optimum, the value of any policy, and where a policy spends its time.

A policy is an array: ``policy[h, m, o]`` is the action taken at step h in machine state m on observation o, or
``policy[h, m, o, a]`` the probability of action a. Steps count from 0. ``inner_policy`` checks a policy, whether a
user's or a learner's, before it is evaluated or played.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from praemia.arithmetic import ordered_sum
from praemia.envs.black_box import BlackBox
from praemia.errors import ModelError, ParameterError
from praemia.kernels import exact_planning as kernels
from praemia.kernels.arrays import Actions, action_type, padded_width
from praemia.limits import require_memory
from praemia.planning.agents import Agent, agent_policy, is_agent
from praemia.planning.backward import backward, choose_threads
from praemia.planning.policy import PolicyLike, policy_array
from praemia.tasks.task import Task, TaskSpec

PROBABILITY_TOLERANCE = 1e-9
ROUNDED_TOLERANCE = 1e-3  # for probabilities of less than double precision


@dataclass(frozen=True, eq=False)
class Plan:
    """An optimal policy and its values.

    Attributes
    ----------
    value : the expected return from the start.
    values : float64[H + 1, M, O], or [1, M, O] with only the first step's when they were not kept.
    policy : int8 (int16 with more than 128 actions) [H, M, O].
    """

    value: float
    values: NDArray[np.float64]
    policy: Actions

    def __repr__(self) -> str:
        return f"Plan(value {self.value:.6f}, policy {self.policy.shape})"


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The exact value of a policy: from the start, and ``values`` as in a ``Plan``."""

    value: float
    values: NDArray[np.float64]

    def __repr__(self) -> str:
        return f"Evaluation(value {self.value:.6f})"


@dataclass(frozen=True, eq=False)
class Occupancy:
    """Where a policy spends its time.

    Attributes
    ----------
    states : float64[H + 1, M, O], the probability of each machine state and observation at each step.
    pairs : float64[O, A], μ^π(o, a) = Σ_h P(o_h = o, a_h = a), the expected visits to each pair in an episode.
    """

    states: NDArray[np.float64]
    pairs: NDArray[np.float64]

    def __repr__(self) -> str:
        horizon, num_states, num_observations = self.states.shape
        return f"Occupancy({horizon - 1} steps, {num_states} machine states, {num_observations} observations)"

    @property
    def observations(self) -> NDArray[np.float64]:
        """float64[H + 1, O], the probability of each observation at each step."""
        total: NDArray[np.float64] = ordered_sum(self.states, axis=1)
        return total


def solve(task: Task, *, keep_values: bool = True, threads: int | None = None) -> Plan:
    """Find the optimal policy of a task by backward induction; among equally good actions take the first.

    With ``keep_values=False`` only the values of the first step are kept, and memory is that of the policy. Large tasks
    use all cores unless ``threads`` is given; the result does not depend on it.

    Examples
    --------
    >>> import praemia
    >>> plan = praemia.solve(praemia.envs.warehouse(size=4))
    >>> f"{plan.value:.4f}", plan.policy.shape  # steps, machine states, observations
    ('0.8158', (12, 3, 16))
    """
    _require_task(task)
    shape = (task.horizon, task.num_observations, task.num_machine_states)
    _require(task, keep_values, policy_bytes=np.dtype(action_type(task.num_actions)).itemsize * math.prod(shape))
    policy = np.empty(shape, dtype=action_type(task.num_actions))
    first, values = _run(kernels.solve, task, policy, keep_values, threads)
    return Plan(start_value(task, first), values, policy.transpose(0, 2, 1))


def evaluate(
    task: Task,
    policy: PolicyLike | Agent,
    *,
    deterministic: bool = True,
    keep_values: bool = True,
    threads: int | None = None,
) -> Evaluation:
    """Find the exact value of a policy or of an agent; ``keep_values`` and ``threads`` are as in ``solve``.

    Parameters
    ----------
    policy : an array, deterministic [H, M, O] or randomised [H, M, O, A]; a ``Policy``; what ``solve`` returned, or a
        ``Run`` for its final policy; an agent with ``predict``, as in
        stable-baselines3, which sees what ``envs.TaskEnv(task)`` shows, or the same with ``flat=True``; or a function
        (observation, machine_state, step) → action, or → the probabilities of all actions.
    deterministic : ask an agent for its one action. Otherwise its action probabilities count, where it has them.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.riverswim()
    >>> plan = praemia.solve(task)
    >>> abs(praemia.evaluate(task, plan.policy).value - plan.value) < 1e-12
    True
    >>> praemia.evaluate(task, lambda observation, machine_state, step: machine_state).value < plan.value
    True
    """
    _require_task(task)
    if is_agent(policy):
        policy = agent_policy(task, policy, deterministic=deterministic)
    elif not deterministic:
        raise ParameterError("deterministic=False is for agents; an array [H, M, O, A] holds probabilities itself")
    inner = inner_policy(task, cast(PolicyLike, policy))
    _require(task, keep_values, policy_bytes=0)
    kernel = kernels.evaluate if inner.ndim == 3 else kernels.evaluate_randomised
    first, values = _run(kernel, task, inner, keep_values, threads)
    return Evaluation(start_value(task, first), values)


def occupancy(task: Task, policy: PolicyLike) -> Occupancy:
    """Find the probability of every machine state and observation at every step under a policy.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.riverswim()
    >>> where = praemia.occupancy(task, praemia.solve(task).policy)
    >>> round(float(where.pairs.sum()), 9)  # every step of the horizon is spent somewhere
    10.0
    """
    _require_task(task)
    inner = inner_policy(task, policy)
    _require(task, keep_values=True, policy_bytes=0)
    states = np.zeros((task.horizon + 1, task.num_observations, task.num_machine_states))
    states[0, :, task.table.initial] = task.mdp.start_probs
    kernel = kernels.occupancy if inner.ndim == 3 else kernels.occupancy_randomised
    kernel(task.arrays, task.table.arrays, task.num_actions, inner, states)
    return Occupancy(states.transpose(0, 2, 1), _pairs_met(states[:-1], inner, task.num_actions))


def _pairs_met(states: NDArray[np.float64], policy: NDArray[Any], num_actions: int) -> NDArray[np.float64]:
    """Return μ[O, A] from states[H, O, M] and policy[H, O, M] or policy[H, O, M, A]."""
    met = np.broadcast_to(np.arange(states.shape[1])[:, None], states.shape).ravel()
    taken = (states * (policy == a if policy.ndim == 3 else policy[..., a]) for a in range(num_actions))
    return np.stack([np.bincount(met, mass.ravel(), states.shape[1]) for mass in taken], axis=1)


def start_value(task: Task, first: NDArray[np.float64]) -> float:
    """Return the value at the start, from V_0[O, M]."""
    return float(ordered_sum(task.mdp.start_probs[task.starts] * first[task.starts, task.table.initial]))


def _require_task(task: object) -> None:
    if isinstance(task, BlackBox):
        raise ModelError(
            f"{task!r} does not show its kernel, so nothing can be computed exactly in it; learn in it with simulate, "
            "or explore it and plan from the data with explore and plan_from"
        )
    if not isinstance(task, Task):
        raise ModelError(f"task={task!r}; expected a Task, such as envs.make('warehouse-4') or load_task(path)")


def _require(task: Task, keep_values: bool, policy_bytes: int) -> None:
    rows = task.num_observations + len(task.arrays.row_labels)
    values = 8 * task.num_observations * task.num_machine_states * (task.horizon + 1 if keep_values else 0)
    require_memory(16 * rows * padded_width(task.num_machine_states) + values + policy_bytes, f"planning for {task!r}")


def _run(
    kernel: Any, task: Task, policy: NDArray[Any], keep_values: bool, threads: int | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Call a planning kernel; return V_0[O, M] and the values as [·, M, O]."""
    steps = task.horizon + 1 if keep_values else 0
    values = np.empty((steps, task.num_observations, task.num_machine_states))
    model = task.arrays
    count = choose_threads(threads, len(model.probs) * task.num_machine_states)
    layers = task.table.layers(padded_width(task.num_machine_states))
    first = backward(kernel, model, layers, task.num_actions, values, policy, count)
    kept = values if keep_values else first[np.newaxis]
    return first, kept.transpose(0, 2, 1)


def inner_policy(task: Task | TaskSpec, policy: PolicyLike) -> NDArray[Any]:
    """Check a policy and return it as the kernels take it: int8 or int16[H, O, M], or float64[H, O, M, A]."""
    array = policy_array(policy)
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
    if array.dtype in (np.float32, np.float16):  # from a deep learner: normalise away rounding errors
        sums = ordered_sum(weights)[..., None]
        weights = np.where(np.abs(sums - 1.0) <= ROUNDED_TOLERANCE, weights / np.where(sums > 0.0, sums, 1.0), weights)
    if kernels.first_bad_row(weights.reshape(-1, weights.shape[-1]), PROBABILITY_TOLERANCE) >= 0:
        raise ModelError("a randomised policy whose action probabilities are not all ≥ 0 with sum 1")
    return weights
