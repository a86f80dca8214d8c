"""Exact planning: the optimum, the value of any policy, where a policy spends its time, and where it loses value.

A policy is an array: ``policy[h, m, o]`` is the action taken at step h in machine state m on observation o, or
``policy[h, m, o, a]`` the probability of action a. Steps count from 0.

``praemia.planning.backward`` has the pass that all of it is computed by.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from praemia.arithmetic import ordered_sum
from praemia.displayed import Displayed
from praemia.envs.black_box import BlackBox
from praemia.errors import ModelError, ParameterError
from praemia.kernels import exact as kernels
from praemia.kernels.records import END, Actions, action_type, padded_width
from praemia.kernels.references import by_reference
from praemia.limits import require_memory
from praemia.planning.agents import Agent, agent_policy, is_agent
from praemia.planning.backward import backward, look_ahead, start_value
from praemia.planning.policy import PolicyLike, validate_policy
from praemia.tasks.model import Model
from praemia.tasks.task import Task
from praemia.text_tables import plural

STRETCH = 128  # steps of a stretch, where there is no horizon
RELATIVE_ERROR = 1e-9
SMALLEST = 1e-300  # bounds below this are treated as 0


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
        going on: one that has ended, also by ``until_done``, is nowhere.
    """

    states: NDArray[np.float64]
    _policy: NDArray[Any]  # [H, O, M] or [H, O, M, A]
    _num_actions: int

    @cached_property
    def pairs(self) -> NDArray[np.float64]:
        """float64[O, A], μ^π(o, a) = Σ_h P(o_h = o, a_h = a), the expected visits to each pair in an episode."""
        states, policy = self.states[:-1].transpose(0, 2, 1), self._policy
        observations = np.broadcast_to(np.arange(states.shape[1])[:, None], states.shape).ravel()
        masses = (states * (policy == a if policy.ndim == 3 else policy[..., a]) for a in range(self._num_actions))
        return np.stack([np.bincount(observations, mass.ravel(), states.shape[1]) for mass in masses], axis=1)

    def __repr__(self) -> str:
        horizon, num_states, num_observations = self.states.shape
        sizes = {"step": horizon - 1, "machine state": num_states, "observation": num_observations}
        return f"Occupancy({', '.join(plural(size, what) for what, size in sizes.items())})"

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
    if isinstance(task, Task) and task.horizon is None:
        return _solve_stationary(task, threads)
    model = model_of(task)
    shape = (model.horizon, model.num_observations, model.num_machine_states)
    policy_bytes = np.dtype(action_type(model.num_actions)).itemsize * math.prod(shape)
    _require_memory(model, keep_values, policy_bytes, task)
    policy = np.empty(shape, dtype=action_type(model.num_actions))
    first, values = backward(model, policy, keep_values=keep_values, threads=threads)
    own = task if isinstance(task, Task) else None
    return Plan(start_value(model, first), values, policy.transpose(0, 2, 1), task=own)


def _solve_stationary(task: Task, threads: int | None) -> Plan:
    """Find the stationary optimum of a task without a horizon: value iteration, a stretch of steps at a time.

    Each stretch is a finite problem whose last values are those of the stretch before, so that the kernels of finite
    horizons do the work. After n steps the values are below or above the optimum by at most

        γ^n · R / (1 − γ),    R the largest mean reward, as an absolute value,

    and it ends when that is a small share of the value at the start. Sums of values of one sign lose no accuracy, so
    that values of 1e-9 beside values of 1 are found as exactly as those.
    """
    model = task.with_horizon(STRETCH).model
    exits = model.exits.copy()
    exits[:, END] = task.discount * task.machine.idle_reward.mean / (1.0 - task.discount)  # for ever, not for a stretch
    model = replace(model, exits=exits)
    shape = (STRETCH, model.num_observations, model.num_machine_states)
    policy = np.empty(shape, dtype=action_type(model.num_actions))
    values: NDArray[np.float64] = np.zeros(shape[1:])
    bound = max(map(abs, task.machine.mean_rewards), default=0.0) / (1.0 - task.discount)
    shrink = task.discount**STRETCH
    while True:
        before = values
        values, _ = backward(model, policy, threads=threads, after=task.discount * values)
        bound *= shrink
        value = start_value(model, values)
        if bound <= RELATIVE_ERROR * abs(value) or bound < SMALLEST or np.array_equal(values, before):
            break
    error = 0.0 if np.array_equal(values, before) else bound
    return Plan(value, values.T, policy[0].T, error, task)


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
        ``Run`` for what it learned; an agent with ``predict``, as in
        stable-baselines3, which sees what ``envs.TaskEnv(task)`` shows, perhaps flattened; or a function
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
    model = model_of(task)
    if is_agent(policy):
        if not isinstance(task, Task):
            raise ModelError("an agent plays in a task; a model takes a policy")
        policy = agent_policy(task, policy, deterministic=deterministic)
    elif not deterministic:
        raise ParameterError("deterministic=False is for agents; an array [H, M, O, A] holds probabilities itself")
    inner = validate_policy(model, cast(PolicyLike, policy))
    _require_memory(model, keep_values, 0, task)
    first, values = backward(model, inner, keep_values=keep_values, threads=threads, is_given=True)
    return Evaluation(start_value(model, first), values)


def occupancy(task: Task | Model, policy: PolicyLike) -> Occupancy:
    """Find the probability of every machine state and observation at every step under a policy.

    Where a model is given, its episodes go on when the machine is done: it knows nothing of ``until_done``.
    In a task with a discount γ it is multiplied by γ^h, so that rewards weighted by it add up to the value.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.riverswim()
    >>> where = praemia.occupancy(task, praemia.solve(task).policy)
    >>> round(float(where.pairs.sum()), 9)  # every step of the horizon is spent somewhere
    10.0
    """
    model = model_of(task)
    inner = validate_policy(model, policy)
    _require_memory(model, True, 0, task)
    states = np.zeros((model.horizon + 1, model.num_observations, model.num_machine_states))
    states[0, :, model.table.initial] = model.start_probs
    kernels.occupancy(by_reference(model.arrays), by_reference(model.table.arrays), inner, model.discount, states)
    if isinstance(task, Task):
        # Done states lead to done states alone, so that what entered one can be removed afterwards.
        states[1:, :, list(task.done_states)] = 0.0
    return Occupancy(states.transpose(0, 2, 1), inner, model.num_actions)


def losses(
    task: Task, policy: PolicyLike, plan: Plan, visits: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return float64[M, O], what a policy loses in each place against an optimal plan; the sum is V* − V^π.

    With d the probabilities of being somewhere under π, and V*, Q* the optimal values,

        V* − V^π = Σ_h Σ_(m, o) d_h(m, o) · (V*_h(m, o) − Q*_h(m, o, π_h)),

    so every term is what a decision there costs, and the terms are all there is (the performance difference lemma).
    ``visits`` are d, the ``states`` of the policy's occupancy, found unless they are given.
    """
    visits = occupancy(task, policy).states if visits is None else visits
    worth = look_ahead(task.model, validate_policy(task.model, policy), plan.values)
    lost = np.zeros((task.num_machine_states, task.num_observations))
    for h in range(task.max_steps):
        # Rounding may make an action look better than the best.
        lost += visits[h] * np.maximum(0.0, plan.values[h] - worth[h])
    return lost


def model_of(task: object) -> Model:
    """Return what is planned in where a task is played, for ``max_steps``; refuse what has no kernel."""
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


def _require_memory(model: Model, keep_values: bool, policy_bytes: int, task: Task | Model) -> None:
    values = 8 * model.num_observations * model.num_machine_states * (model.horizon + 1 if keep_values else 0)
    tables = 16 * model.num_rows * padded_width(model.num_machine_states)
    require_memory(tables + values + policy_bytes, f"planning for {task!r}")
