"""Where a policy goes in an episode, what it does there, and where it loses value against the optimum; all exact."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from praemia.planning.exact import Plan, losses, occupancy
from praemia.planning.policy import PolicyLike, policy_for
from praemia.tasks.model import step_weights
from praemia.tasks.task import Task

NEVER = 1e-12
MAX_PANELS = 6
MISTAKE = 0.01  # of all that a policy lacks: a place that loses less is not framed
NEGLIGIBLE = 1e-3  # of the optimal value: a policy that lacks less has no mistakes


class Footprint(NamedTuple):
    """Where a policy goes in an episode, and what it does there.

    Attributes
    ----------
    visits : float64[M, O], the expected number of steps in each machine state and observation.
    actions : int16[M, O], the action of the step with most visits; −1 where the policy never is, and where nothing can
        be gained any more, so that every action is as good.
    mistakes : bool[M, O], where the policy loses at least a hundredth of what it lacks, unless that is negligible.
    lacks : the optimal value minus the value of the policy.
    """

    visits: NDArray[np.float64]
    actions: NDArray[np.int16]
    mistakes: NDArray[np.bool_]
    lacks: float


def footprint(task: Task, plan: Plan, policy: PolicyLike | None = None) -> Footprint:
    """Return what a policy does in a task, beside the optimal plan for ``max_steps``; None is that plan itself."""
    table = plan.policy if policy is None else policy_for(task.model, policy)
    # A late visit is a visit, however little its reward counts.
    undiscounted = task if task.discount == 1.0 else replace(task, horizon=task.max_steps, discount=1.0)
    steps = occupancy(undiscounted, table).states[:-1]
    lost = np.zeros_like(steps[0])
    if policy is not None:
        lost = losses(task, table, plan, steps * step_weights(task.max_steps, task.discount)[:, None, None])
    lacks, visits = float(lost.sum()), steps.sum(axis=0)
    mistakes = (lost > max(NEVER, MISTAKE * lacks)) & (lacks > NEGLIGIBLE * abs(plan.value))
    if task.machine.mean_rewards[0] >= 0.0:  # then nothing can be gained where the value is 0
        steps = np.where(plan.values[: len(steps)] > 0.0, steps, 0.0)
    chosen = table if table.ndim == 3 else table.argmax(axis=-1)
    actions = np.take_along_axis(chosen, steps.argmax(axis=0)[None], axis=0)[0]
    return Footprint(visits, np.where(steps.max(axis=0) > NEVER, actions, -1).astype(np.int16), mistakes, lacks)


def states_to_show(task: Task, visits: NDArray[np.float64]) -> tuple[tuple[int, ...], int]:
    """Return the machine states with most of the visits, float64[M, O], and how many more are visited.

    States from which nothing more is paid are left out, if there are others.
    """
    visited = np.flatnonzero(visits.max(axis=1) > NEVER).tolist()
    lively = [m for m in visited if m not in task.machine.settled_states]
    states = lively or [int(visits.sum(axis=1).argmax())]
    most = sorted(states, key=lambda m: -visits[m].sum())[:MAX_PANELS]
    return tuple(sorted(most)), len(states) - len(most)
