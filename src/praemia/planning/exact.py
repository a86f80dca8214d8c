"""Exact planning: the optimum, the value of any policy, where a policy spends its time, and where it loses value.

A policy is an array: ``policy[h, m, o]`` is the action taken at step h in machine state m on observation o, or
``policy[h, m, o, a]`` the probability of action a. Steps count from 0.

``praemia.planning.backward`` has the pass that all of it is computed by.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia._support.arithmetic import ordered_sum
from praemia._support.limits import memory_limit, require_memory
from praemia._support.text_tables import plural
from praemia.envs.black_box import BlackBox
from praemia.errors import ModelError, ParameterError
from praemia.kernels import exact as kernels
from praemia.kernels.records import Actions, action_type, padded_width
from praemia.planning.backward import BackwardPass, start_value
from praemia.planning.stationary import solve_stationary
from praemia.policies.agents import Agent, agent_policy, is_agent
from praemia.policies.arrays import PolicyLike, validate_policy
from praemia.tasks.base import BaseTask
from praemia.tasks.model import Model, read_only
from praemia.tasks.task import Task, require_task


@dataclass(frozen=True, eq=False)
class Plan:
    """An optimal policy and its values.

    Attributes
    ----------
    value : the expected return from the start.
    values : float64[H + 1, M, O], or [1, M, O] with only the first step's when they were not kept.
    policy : int8 (int16 with more than 128 actions) [H, M, O].
    error : how far ``value`` can be from the optimum, rounding apart; above 0 only for a task without a horizon, whose
        values are [M, O] and whose policy is [M, O], the same at every step.
    """

    value: float
    values: NDArray[np.float64]
    policy: Actions
    error: float = 0.0

    def __repr__(self) -> str:
        return f"Plan(value {self.value:.6g}, policy {self.policy.shape})"


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The value of a policy: exact in a task, in a black box the mean return of sampled episodes.

    Attributes
    ----------
    value : from the start. values : as in a ``Plan``; empty where episodes were sampled.
    interval : a 95% confidence interval for the expected return, NaN for fewer than 4 episodes; ``value`` twice where
        that is exact.
    returns : float64[N], the return of each sampled episode.
    """

    value: float
    values: NDArray[np.float64]
    interval: tuple[float, float]
    returns: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))

    @property
    def num_episodes(self) -> int:
        return len(self.returns)

    def __repr__(self) -> str:
        if not self.num_episodes:
            return f"Evaluation(value {self.value:.6g})"
        low, high = self.interval
        sampled = f"95% interval [{low:.4g}, {high:.4g}], sampled in {plural(self.num_episodes, 'episode')}"
        return f"Evaluation(value {self.value:.4g}, {sampled})"


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

    For a task without a horizon the stationary optimum is found, to a relative error of 1e-9 at the start.

    Parameters
    ----------
    task : a task, or a model.
    keep_values : whether to keep the values of all steps, and not only those of the first, which saves memory.
    threads : the number of threads; by default, large tasks use all cores. The result does not depend on it.

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
        return Plan(*solve_stationary(task, threads))
    model = model_of(task)
    shape = (model.horizon, model.num_observations, model.num_machine_states)
    policy_bytes = np.dtype(action_type(model.num_actions)).itemsize * math.prod(shape)
    _require_memory(model, keep_values, policy_bytes, task)
    policy = np.empty(shape, dtype=action_type(model.num_actions))
    work, values = BackwardPass(model, threads), _room_for_values(model, keep_values)
    work.solve(policy, values, 0, model.horizon)
    return Plan(*_values(model, work, values), policy.swapaxes(1, 2))


def evaluate(
    task: BaseTask | Model,
    policy: PolicyLike | Agent,
    *,
    deterministic: bool = True,
    num_episodes: int | None = None,
    seed: int = 0,
    unseen: Any = "random",
    keep_values: bool = True,
    threads: int | None = None,
) -> Evaluation:
    """Find the value of a policy or of an agent: exactly in a task, by sampled episodes in a black box.

    ``keep_values`` and ``threads`` are as in ``solve``.

    Parameters
    ----------
    policy : an array, deterministic [H, M, O] or randomised [H, M, O, A]; a ``Policy``; what ``solve`` returned, or a
        ``Run`` for what it learned; an agent with ``predict``, as in
        stable-baselines3, which sees what ``envs.TaskEnv(task)`` shows, perhaps flattened; or a function
        (observation, machine_state, step) → action, or → the probabilities of all actions.
    deterministic : whether an agent plays its one predicted action; otherwise its action probabilities count, if it has
        any.
    num_episodes, seed : of the episodes that are played in a black box, 100 unless given. Policies evaluated with the
        same seed get the same random numbers, which no training run uses.
    unseen : in a black box, what a ``Policy`` does with an observation that it never met (``Policy.act``).

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
    if isinstance(task, BlackBox):
        from praemia.planning.sampled import EPISODES, sampled_evaluation

        count = EPISODES if num_episodes is None else num_episodes
        return sampled_evaluation(task, policy, count, seed, deterministic=deterministic, unseen=unseen)
    if num_episodes is not None:
        raise ParameterError(f"num_episodes={num_episodes} with {task!r}: its value is exact, and nothing is sampled")
    model = model_of(task)
    if is_agent(policy):
        if not isinstance(task, Task):
            raise ModelError("an agent plays in a task; a model takes a policy")
        policy = agent_policy(task, policy, deterministic=deterministic)
    elif not deterministic:
        raise ParameterError("deterministic=False is for agents; an array [H, M, O, A] holds probabilities itself")
    inner = read_only(validate_policy(model, policy))
    _require_memory(model, keep_values, 0, task)
    work, values = BackwardPass(model, threads), _room_for_values(model, keep_values)
    work.evaluate(inner, values, 0, model.horizon)
    value, values = _values(model, work, values)
    return Evaluation(value, values, (value, value))


def _room_for_values(model: Model, keep_values: bool) -> NDArray[np.float64]:
    return np.zeros((model.horizon + 1 if keep_values else 0, model.num_observations, model.num_machine_states))


def _values(model: Model, work: BackwardPass, values: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """Return the value at the start, and the values as [H + 1, M, O], or [1, M, O] where they were not kept."""
    first = work.tables[0, :, : model.num_machine_states]
    return start_value(model, first), (values if len(values) else first[np.newaxis].copy()).swapaxes(1, 2)


def occupancy(task: BaseTask | Model, policy: PolicyLike) -> Occupancy:
    """Find the probability of every machine state and observation at every step under a policy.

    With a discount γ, probabilities are multiplied by γ^h, so that rewards weighted by them add up to the value. A
    model has no ``until_done``: its episodes continue when the machine is done.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.riverswim()
    >>> where = praemia.occupancy(task, praemia.solve(task).policy)
    >>> round(float(where.pairs.sum()), 9)  # every step of the horizon is spent somewhere
    10.0
    """
    model = model_of(task)
    inner = read_only(validate_policy(model, policy))
    _require_memory(model, True, 0, task)
    states = np.zeros((model.horizon + 1, model.num_observations, model.num_machine_states))
    states[0, :, model.table.initial] = model.start_probs
    moves = model.table.indptr, model.table.targets, model.table.probs
    kernels.occupancy(model.arrays, moves, inner, model.discount, states)
    if isinstance(task, BaseTask):
        # Done states lead to done states alone, so that what entered one can be removed afterwards.
        states[1:, :, list(task.done_states)] = 0.0
    return Occupancy(states.transpose(0, 2, 1), inner, model.num_actions)


def losses(
    task: BaseTask, policy: PolicyLike, plan: Plan, visits: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return float64[M, O], the loss of a policy in each place against an optimal plan; the sum is V* − V^π.

    With d the occupancy of π, and V*, Q* the optimal values,

        V* − V^π = Σ_h Σ_(m, o) d_h(m, o) · (V*_h(m, o) − Q*_h(m, o, π_h)),

    by the performance difference lemma, and every term is the loss of the decision there.
    ``visits`` are d, the ``states`` of the policy's occupancy, computed unless they are given. Without a horizon the
    sum runs over the first ``max_steps`` steps.
    """
    visits = occupancy(task, policy).states if visits is None else visits
    lost = np.zeros((task.num_machine_states, task.num_observations))
    for h, gaps in enumerate(_gaps(task, plan, policy)):
        lost += visits[h] * gaps
    return lost


def max_losses(task: BaseTask, plan: Plan) -> NDArray[np.float64]:
    """Return float64[H, M, O], the loss of the worst action against an optimal plan, in each place and step."""
    worst = np.zeros((task.max_steps, task.num_machine_states, task.num_observations))
    for action in range(task.num_actions):
        for h, gaps in enumerate(_gaps(task, plan, np.full(worst.shape, action))):
            np.maximum(worst[h], gaps, out=worst[h])
    return worst


def _gaps(task: BaseTask, plan: Plan, policy: PolicyLike) -> Iterator[NDArray[np.float64]]:
    """Yield V*_h − Q*_h(π_h), float64[M, O], for each step."""
    model = model_of(task)
    inner, work = read_only(validate_policy(model, policy)), BackwardPass(model)
    values, shape = _room_for_values(model, True), (task.num_machine_states, task.num_observations)
    if plan.values.shape not in ((task.max_steps + 1, *shape), shape):
        raise ModelError(f"a plan with values of shape {plan.values.shape}; losses need those of every step")
    best = np.broadcast_to(plan.values, (task.max_steps + 1, *shape))  # those of a stationary plan are [M, O]
    for h in range(task.max_steps):
        work.tables[(h + 1) % 2, :, : task.num_machine_states] = task.discount * best[h + 1].T
        work.evaluate(inner, values, h, h + 1)
        yield np.maximum(0.0, best[h] - values[h].T)  # rounding may make an action look better than the best


def model_of(task: object) -> Model:
    """Return a model, or that of a task; refuse anything without transition probabilities."""
    if isinstance(task, Model):
        return task
    if isinstance(task, BaseTask) and isinstance(model := getattr(task, "model", None), Model):
        return model
    return require_task(task, "an exact value").model


def _require_memory(model: Model, keep_values: bool, policy_bytes: int, task: BaseTask | Model) -> None:
    values = 8 * model.num_observations * model.num_machine_states * (model.horizon + 1 if keep_values else 0)
    tables = 16 * model.num_rows * padded_width(model.num_machine_states)
    total = tables + values + policy_bytes
    if total > memory_limit():  # the text of a task takes as long as a short plan
        require_memory(total, f"planning for {task!r}")
