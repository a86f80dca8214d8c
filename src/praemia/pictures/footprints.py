"""Where a policy goes in an episode, what it does there, and where it loses value against the optimum; all exact."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from praemia.planning.exact import Plan, losses, max_losses, model_of, occupancy
from praemia.planning.policy import PolicyLike, policy_for
from praemia.tasks.base import BaseTask
from praemia.tasks.model import step_weights

NEVER = 1e-12
MAX_PANELS = 6
SMALL = 0.01  # of the optimal value: a place that loses less is not framed


class Footprint(NamedTuple):
    """Where a policy goes in an episode, and what it does there.

    Attributes
    ----------
    visits : float64[M, O], the expected number of steps in each machine state and observation.
    actions : int16[M, O], the action of the step with most visits, among those in which it matters if there are any; −1
        where the policy never is.
    matters : bool[M, O], whether another action would be worse in that step.
    mistakes : bool[M, O], where the policy loses more than a hundredth of the optimal value.
    lacks : the optimal value minus the value of the policy.
    """

    visits: NDArray[np.float64]
    actions: NDArray[np.int16]
    matters: NDArray[np.bool_]
    mistakes: NDArray[np.bool_]
    lacks: float


def footprint(
    task: BaseTask, plan: Plan, policy: PolicyLike | None = None, stakes: NDArray[np.float64] | None = None
) -> Footprint:
    """Return what a policy does in a task, beside the optimal plan for ``max_steps``; None is that plan itself.

    ``stakes`` are ``max_losses(task, plan)``, computed unless they are given.
    """
    table = plan.policy if policy is None else policy_for(model_of(task), policy)
    # A late visit is a visit, however little its reward counts.
    undiscounted = task if task.discount == 1.0 else task.changed(horizon=task.max_steps, discount=1.0)
    steps = occupancy(undiscounted, table).states[:-1]
    lost = np.zeros_like(steps[0])
    if policy is not None:
        lost = losses(task, table, plan, steps * step_weights(task.max_steps, task.discount)[:, None, None])
    stakes = max_losses(task, plan) if stakes is None else stakes
    matters = stakes > NEVER * stakes.max()
    most = np.where(matters, steps, NEVER * steps).argmax(axis=0)[None]
    chosen = table if table.ndim == 3 else table.argmax(axis=-1)
    visits, actions = steps.sum(axis=0), np.take_along_axis(chosen, most, axis=0)[0]
    return Footprint(
        visits,
        np.where(visits > NEVER, actions, -1).astype(np.int16),
        np.take_along_axis(matters, most, axis=0)[0],
        lost > max(NEVER, SMALL * abs(plan.value)),
        float(lost.sum()),
    )


def states_to_show(task: BaseTask, visits: NDArray[np.float64]) -> tuple[tuple[int, ...], int]:
    """Return the machine states with most of the visits, float64[M, O], and how many more are visited.

    States from which nothing more is paid are left out, if there are others.
    """
    visited = np.flatnonzero(visits.max(axis=1) > NEVER).tolist()
    lively = [m for m in visited if m not in task.machine.settled_states]
    states = lively or [int(visits.sum(axis=1).argmax())]
    most = sorted(states, key=lambda m: -visits[m].sum())[:MAX_PANELS]
    return tuple(sorted(most)), len(states) - len(most)
