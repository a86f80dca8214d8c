"""Exact finite-horizon planning: the optimum, the value of any policy, and where a policy spends its time.

A policy is an array: ``policy[h, m, o]`` is the action taken at step h in machine state m on observation o, or
``policy[h, m, o, a]`` the probability of action a. Steps count from 0. ``validate_policy`` checks a policy, whether a
user's or a learner's, before it is evaluated or played.

The observations of a step can be divided among threads, which all read V_{h+1} and each write their own part of V_h:
the kernels release Python's lock, and the result does not depend on it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from praemia.arithmetic import ordered_sum
from praemia.displayed import Displayed
from praemia.envs.black_box import BlackBox
from praemia.errors import ModelError, ParameterError, require_whole
from praemia.kernels import exact as kernels
from praemia.kernels.records import Actions, action_type, padded_width
from praemia.kernels.references import by_reference
from praemia.limits import require_memory
from praemia.planning.agents import Agent, agent_policy, is_agent
from praemia.planning.policy import PolicyLike, policy_array
from praemia.tasks.model import Model
from praemia.tasks.task import Task, TaskSpec

PROBABILITY_TOLERANCE = 1e-9
ROUNDED_TOLERANCE = 1e-3  # for probabilities of less than double precision
WORTH_SHARING = 1 << 19  # from this many sums per step on, threads save more than they cost


@dataclass(frozen=True, eq=False)
class Plan(Displayed):
    """An optimal policy and its values.

    Attributes
    ----------
    value : the expected return from the start.
    values : float64[H + 1, M, O], or [1, M, O] with only the first step's when they were not kept.
    policy : int8 (int16 with more than 128 actions) [H, M, O].
    error : how far ``value`` can be from the optimum, rounding apart; above 0 only for a task without a horizon, whose
        values are [M, O] and whose policy is [M, O], the same at every step.
    task : what it is a plan for; None for a model.
    """

    value: float
    values: NDArray[np.float64]
    policy: Actions
    error: float = 0.0
    task: Task | None = None

    def __repr__(self) -> str:
        return f"Plan(value {self.value:.6g}, policy {self.policy.shape})"


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
    states : float64[H + 1, M, O], the probability of each machine state and observation at each step, the episode
        going on.
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


def solve(task: Task | Model, *, keep_values: bool = True, threads: int | None = None) -> Plan:
    """Find the optimal policy of a task or of a model by backward induction; among equally good actions take the first.

    With ``keep_values=False`` only the values of the first step are kept, and memory is that of the policy. Large tasks
    use all cores unless ``threads`` is given; the result does not depend on it. For a task without a horizon the
    stationary optimum is found, to a relative error of 1e-9 at the start.

    Examples
    --------
    >>> import praemia
    >>> plan = praemia.solve(praemia.envs.warehouse(size=4))
    >>> f"{plan.value:.4f}", plan.policy.shape  # steps, machine states, observations
    ('0.8158', (12, 3, 16))
    >>> endless = praemia.envs.warehouse(size=4).with_discount(0.9).with_horizon(None)
    >>> praemia.solve(endless).policy.shape  # the same at every step
    (3, 16)
    """
    if isinstance(task, Task) and not task.has_horizon:
        from praemia.planning.stationary import solve_stationary

        return solve_stationary(task)
    model = _model_of(task)
    shape = (model.horizon, model.num_observations, model.num_machine_states)
    policy_bytes = np.dtype(action_type(model.num_actions)).itemsize * math.prod(shape)
    _require(model, keep_values, policy_bytes, task)
    policy = np.empty(shape, dtype=action_type(model.num_actions))
    first, values = backward(model, policy, keep_values=keep_values, threads=threads)
    own = task if isinstance(task, Task) else None
    return Plan(start_value(model, first), values, policy.transpose(0, 2, 1), task=own)


def evaluate(
    task: Task | Model,
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
    model = _model_of(task)
    if is_agent(policy):
        if not isinstance(task, Task):
            raise ModelError("an agent plays in a task; a model takes a policy")
        policy = agent_policy(task, policy, deterministic=deterministic)
    elif not deterministic:
        raise ParameterError("deterministic=False is for agents; an array [H, M, O, A] holds probabilities itself")
    inner = validate_policy(model, cast(PolicyLike, policy))
    _require(model, keep_values, 0, task)
    first, values = backward(model, inner, keep_values=keep_values, threads=threads, is_chosen=True)
    return Evaluation(start_value(model, first), values)


def occupancy(task: Task | Model, policy: PolicyLike) -> Occupancy:
    """Find the probability of every machine state and observation at every step under a policy.

    In a task with a discount γ it is multiplied by γ^h, so that rewards weighted by it add up to the value.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.riverswim()
    >>> where = praemia.occupancy(task, praemia.solve(task).policy)
    >>> round(float(where.pairs.sum()), 9)  # every step of the horizon is spent somewhere
    10.0
    """
    model = _model_of(task)
    inner = validate_policy(model, policy)
    _require(model, True, 0, task)
    states = np.zeros((model.horizon + 1, model.num_observations, model.num_machine_states))
    states[0, :, model.table.initial] = model.start_probs
    kernels.occupancy(by_reference(model.arrays), by_reference(model.table.arrays), inner, model.discount, states)
    return Occupancy(states.transpose(0, 2, 1), _pairs_met(states[:-1], inner, model.num_actions))


def _pairs_met(states: NDArray[np.float64], policy: NDArray[Any], num_actions: int) -> NDArray[np.float64]:
    """Return μ[O, A] from states[H, O, M] and policy[H, O, M] or policy[H, O, M, A]."""
    met = np.broadcast_to(np.arange(states.shape[1])[:, None], states.shape).ravel()
    taken = (states * (policy == a if policy.ndim == 3 else policy[..., a]) for a in range(num_actions))
    return np.stack([np.bincount(met, mass.ravel(), states.shape[1]) for mass in taken], axis=1)


def start_value(model: Model, first: NDArray[np.float64]) -> float:
    """Return the value at the start, from V_0[O, M]."""
    return float(ordered_sum(model.start_probs[model.starts] * first[model.starts, model.table.initial]))


def _model_of(task: object) -> Model:
    if isinstance(task, Model):
        return task
    if isinstance(task, BlackBox):
        raise ModelError(
            f"{task!r} does not show its kernel, so nothing can be computed exactly in it; learn in it with simulate, "
            "or explore it and plan from the data with explore and plan_from"
        )
    if not isinstance(task, Task):
        raise ModelError(f"task={task!r}; expected a Task, such as envs.make('warehouse-4') or load_task(path)")
    return task.model


def _require(model: Model, keep_values: bool, policy_bytes: int, task: Task | Model) -> None:
    values = 8 * model.num_observations * model.num_machine_states * (model.horizon + 1 if keep_values else 0)
    tables = 16 * model.num_rows * padded_width(model.num_machine_states)
    require_memory(tables + values + policy_bytes, f"planning for {task!r}")


def choose_threads(threads: int | None, sums_per_step: int) -> int:
    """Return how many threads to use: as many as requested, else all cores if a step is large enough to share."""
    if threads is None:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return cores if sums_per_step >= WORTH_SHARING else 1
    return require_whole("threads", threads)


def new_tables(num_rows: int, num_states: int) -> NDArray[np.float64]:
    """Return two tables of zeros to work in: a column for each machine state, up to a multiple of four.

    NumPy asks the system for large pages, compiled code does not; a first pass over fresh memory is faster then. They
    begin at a multiple of 64 bytes, so that no vector lies across two cache lines.
    """
    shape = (2, num_rows, padded_width(num_states))
    size = 8 * math.prod(shape)
    memory = np.zeros(size + 64, dtype=np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + size].view(np.float64).reshape(shape)


_Owner = TypeVar("_Owner", Task, Model)
_Made = TypeVar("_Made")


def once_for_each(make: Callable[[_Owner], _Made]) -> Callable[[_Owner], _Made]:
    """Remember what was made for a task or a model for as long as it lives: calls and runs share it."""
    made: WeakKeyDictionary[_Owner, _Made] = WeakKeyDictionary()

    def remembered(owner: _Owner) -> _Made:
        if owner not in made:
            made[owner] = make(owner)
        return made[owner]

    return remembered


@once_for_each
def _kernel_data(model: Model) -> tuple[Any, Any, NDArray[np.float64]]:
    """Return p, the machine and the exits as kernels take them."""
    width = padded_width(model.num_machine_states)
    return by_reference(model.arrays), by_reference(model.table.layers(width)), model.exits_for(width)


NO_STATES = np.zeros(0, dtype=kernels.PLACE)


def backward(
    model: Model,
    policy: NDArray[Any],
    *,
    keep_values: bool = False,
    threads: int | None = None,
    is_chosen: bool = False,
    after: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Value a policy that is chosen, or fill in the optimal one; return V_0[O, M] and the values as [·, M, O].

    ``after`` is γ·V_H[O, M], what follows the last step; nothing unless it is given.
    """
    horizon, size, num_states = model.horizon, model.num_observations, model.num_machine_states
    num_rows = len(model.arrays.extra_rows)
    values = np.zeros((horizon + 1 if keep_values else 0, size, num_states))
    tables = new_tables(model.num_rows, num_states)
    if after is not None:
        tables[horizon % 2, :size, :num_states] = after
    own = kernels.exact_kernels(kernels.lanes_of(tables.shape[2]))
    data = (*_kernel_data(model), tables, values, policy, NO_STATES, model.discount)
    kernel = own.evaluate if is_chosen else own.solve
    count = choose_threads(threads, len(model.probs) * num_states)
    if count == 1:
        kernel(*data, (0, horizon), (0, num_rows), (0, size))
    else:
        with ThreadPoolExecutor(count) as pool:
            for h in range(horizon - 1, -1, -1):  # all rows of a step are filled before its values are found
                list(pool.map(lambda part, h=h: kernel(*data, (h, h + 1), part, (0, 0)), _parts(num_rows, count)))
                list(pool.map(lambda part, h=h: kernel(*data, (h, h + 1), (0, 0), part), _parts(size, count)))
    first = tables[0, :size, :num_states].copy()
    return first, (values if keep_values else first[np.newaxis]).transpose(0, 2, 1)


def _parts(size: int, threads: int) -> Iterator[tuple[int, int]]:
    """Cut 0 … size − 1 into consecutive parts, one for each thread."""
    edges = np.linspace(0, size, threads + 1).astype(int).tolist()
    return ((first, last) for first, last in pairwise(edges) if first < last)


def validate_policy(task: Task | TaskSpec | Model, policy: PolicyLike) -> NDArray[Any]:
    """Check a policy and return it as the kernels take it: int8 or int16[H, O, M], or float64[H, O, M, A]."""
    array = policy_array(policy)
    expected = (task.horizon, task.num_machine_states, task.num_observations)
    if array.shape == expected[1:]:  # the same at every step
        array = np.broadcast_to(array, expected)
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
