"""The optimum of a task without a horizon: value iteration, a stretch of steps at a time.

Each stretch is a finite problem whose last values are those of the stretch before, so that the kernels of finite
horizons do the work. After n steps the values are below or above the optimum by at most

    γ^n · R / (1 − γ),    R the largest mean reward, as an absolute value,

and it ends when that is a small share of the value at the start. Sums of values of one sign lose no accuracy, so that
values of 1e-9 beside values of 1 are found as exactly as those.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from praemia.kernels.records import action_type
from praemia.planning.exact import Plan, backward, start_value
from praemia.tasks.task import Task

STRETCH = 128  # steps of a stretch
RELATIVE_ERROR = 1e-9
SMALLEST = 1e-300  # a bound below this is one of 0


def solve_stationary(task: Task) -> Plan:
    """Find the stationary optimum, as ``solve`` does for a task without a horizon."""
    model = task.with_horizon(STRETCH).model
    shape = (STRETCH, model.num_observations, model.num_machine_states)
    policy = np.empty(shape, dtype=action_type(model.num_actions))
    values: NDArray[np.float64] = np.zeros(shape[1:])
    bound = max(map(abs, task.machine.mean_rewards), default=0.0) / (1.0 - task.discount)
    shrink = task.discount**STRETCH
    while True:
        before = values
        values, _ = backward(model, policy, after=task.discount * values)
        bound *= shrink
        value = start_value(model, values)
        if bound <= RELATIVE_ERROR * abs(value) or bound < SMALLEST or np.array_equal(values, before):
            break
    error = 0.0 if np.array_equal(values, before) else bound
    return Plan(value, values.T, policy[0].T, error, task)
