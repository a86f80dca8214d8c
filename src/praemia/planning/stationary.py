"""The stationary optimum of a task without a horizon: value iteration with extrapolation, until bounds are tight.

With T the Bellman operator and d = T V − V, MacQueen's bounds hold for every V:

    T V + γ/(1 − γ) · min d  ≤  V*  ≤  T V + γ/(1 − γ) · max d,

with 0 among the d where episodes can end, because the value of an end is exact. So V may be guessed. Near a discount of
1 value iteration is slow where a policy goes round in circles, whose phase is forgotten slowly. But its values then
follow a linear recursion of few terms, whose fixed point can be computed from them: *reduced rank extrapolation* takes
Σ_i w_i V_i, where the weights sum to 1 and make Σ_i w_i (V_{i+1} − V_i) smallest. This is GMRES for the equation of
policy evaluation, between improvements of the policy. A guess that does not make the bounds tighter is dropped.

Where the value at the start is tiny beside others, rounding keeps these bounds too wide. Then value iteration goes on:
n steps shrink the error by γ^n, the relative error too, because sums of values of one sign lose no accuracy.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from praemia._support.arithmetic import ordered_sum
from praemia._support.limits import require_memory
from praemia.kernels.records import END, Actions, Floats, action_type
from praemia.planning.backward import BackwardPass, start_value
from praemia.tasks.task import Task

RELATIVE_ERROR = 1e-9
SMALLEST = 1e-150, 1e-300  # bounds below this share of the first one, or below this number, are treated as 0
STRIDES = (8, 128)  # steps between the values that are combined: at first, and at most
MEMORIES = (16, 96)  # differences of values that are combined: at first, and at most
MEMORY_SIZE = 1 << 26  # numbers; in large tasks fewer differences are combined
GOOD = 100.0  # if an extrapolation shrinks the error by less, more steps are combined
SAMPLE = 512  # product states that the weights are computed from
ROUNDING = 1e-11  # share of the largest value from which on differences are rounding errors


class _Iterate(NamedTuple):
    """γ·V after some steps of value iteration, and the smallest and the largest γ·d of the last step."""

    values: Floats
    low: float
    high: float

    @property
    def width(self) -> float:
        return self.high - self.low


class _ValueIteration:
    def __init__(self, task: Task, threads: int | None) -> None:
        model = task.with_horizon(1).model
        exits = np.zeros((STRIDES[1] + 1, *model.exits.shape[1:]))
        exits[:, END] = task.discount * task.machine.idle_reward.mean / (1.0 - task.discount)  # for ever
        self.model, size = replace(model, exits=exits), model.num_observations * model.num_machine_states
        self.most = max(MEMORIES[0], min(MEMORIES[1], MEMORY_SIZE // size))
        require_memory(size * (8 * self.most + 2 * STRIDES[1]), f"the stationary optimum of {task!r}")
        shape = (STRIDES[1], model.num_observations, model.num_machine_states)
        self.policy, self._nothing = np.empty(shape, dtype=action_type(model.num_actions)), np.zeros((0, *shape[1:]))
        self.work = BackwardPass(self.model, threads)
        self._can_end = bool(np.any(model.arrays.successors >= model.num_observations))

    def apply(self, values: Floats, steps: int) -> _Iterate:
        """Take some steps from γ·V."""
        tables = self.work.tables
        tables[steps % 2] = values
        self.work.solve(self.policy, self._nothing, 0, steps)
        values = self.model.discount * tables[0]
        change = values - tables[1]
        change[:, self.policy.shape[2] :] = change[:, :1]  # columns that are no machine states do not count
        low, high = float(change.min()), float(change.max())
        return _Iterate(values, *((min(low, 0.0), max(high, 0.0)) if self._can_end else (low, high)))


def solve_stationary(task: Task, threads: int | None) -> tuple[float, NDArray[np.float64], Actions, float]:
    """Return the value at the start, V[M, O], the policy [M, O], and how far the value can be from the optimum."""
    iteration = _ValueIteration(task, threads)
    first, far = iteration.work.tables[0, :, : task.num_machine_states], 1.0 / (1.0 - task.discount)
    values, bound, width, smallest = np.zeros(iteration.work.tables[0].shape), np.inf, 0.0, 0.0
    history, stride, memory = [values], STRIDES[0], MEMORIES[0]
    while True:
        now = iteration.apply(values, stride)
        shift, error = 0.5 * far * (now.low + now.high), 0.5 * far * now.width
        value = start_value(iteration.model, first)
        bound = min(bound * task.discount**stride, far * max(-now.low, now.high))
        smallest = smallest or max(SMALLEST[0] * bound, SMALLEST[1])
        if error <= RELATIVE_ERROR * abs(value + shift):
            return value + shift, (first + shift).T, iteration.policy[0].T.copy(), error
        if bound <= RELATIVE_ERROR * abs(value) or bound < smallest:
            return value, first.T.copy(), iteration.policy[0].T.copy(), bound
        values = now.values
        history.append(values)
        if len(history) > memory:
            if error > ROUNDING * float(np.abs(values).max()):
                guess = iteration.apply(_extrapolated(history), 1)
                if guess.width < now.width:
                    now, values, bound = guess, guess.values, far * max(-guess.low, guess.high)
                if now.width > width / GOOD and (3 * stride <= memory or memory == iteration.most):
                    stride = min(2 * stride, STRIDES[1])
                elif now.width > width / GOOD:
                    memory = min(2 * memory, iteration.most)
                width = now.width
            history = [values]


def _extrapolated(history: list[Floats]) -> Floats:
    """Return the fixed point of the linear recursion that the values follow, if they follow one."""
    chosen = np.unique(np.linspace(0, history[0].size - 1, SAMPLE).astype(np.int64))
    differences = np.diff([values.ravel()[chosen] for values in history], axis=0).T.copy()
    total: Floats = np.zeros(history[0].shape)
    for weight, values in zip(_weights(differences / (np.abs(differences).max() or 1.0)), history[1:], strict=True):
        total += weight * values
    return total


def _weights(columns: Floats) -> Floats:
    """Return the weights with sum 1 whose weighted sum of columns is smallest: G⁻¹·1, scaled, with G the products.

    Elimination and sums are in order, so that the bits do not depend on the processor.
    """
    count = columns.shape[1]
    products = np.stack([(columns * columns[:, [j]]).sum(axis=0) for j in range(count)])
    products += 1e-14 * (products.max() or 1.0) * np.eye(count)
    weights = np.ones(count)
    for j in range(count):
        factors = products[j + 1 :, j] / products[j, j]
        products[j + 1 :] -= factors[:, None] * products[j]
        weights[j + 1 :] -= factors * weights[j]
    for j in reversed(range(count)):
        weights[j] /= products[j, j]
        weights[:j] -= products[:j, j] * weights[j]
    return weights / ordered_sum(weights)  # type: ignore[no-any-return]
