"""A run as a row of plans to be seen: what each does in every place, what it is worth, and the regret up to it.

At most 60 plans are shown, close together at first: learners change most in their first episodes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from praemia.learners.base import Learner
from praemia.pictures.policy_page import action_names, footprint, mistakes, states_to_show
from praemia.pictures.task_picture import task_picture
from praemia.planning.exact import solve
from praemia.simulation.replay import replay
from praemia.simulation.run import Run
from praemia.tasks.picture import Picture
from praemia.tasks.task import Task

MAX_PLANS = 60


class ShownPlan(NamedTuple):
    """A plan of a run.

    Attributes
    ----------
    number : among all plans of the run, from 0; episode : the first in which it is played.
    value : its exact value; regret : of the episodes before it.
    visits : float32[M, O]; actions : int16[M, O]; mistakes : bool[M, O], as in a ``PolicyView``.
    """

    number: int
    episode: int
    value: float
    regret: float
    visits: NDArray[np.float32]
    actions: NDArray[np.int16]
    mistakes: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class LearningView:
    """A run as it is shown.

    Attributes
    ----------
    picture : the picture of the task; action_names : what its actions are called.
    states : the machine states to show, those with most visits over all shown plans; hidden : how many more there are.
    """

    task: Task
    run: Run
    picture: Picture
    action_names: tuple[str, ...]
    plans: tuple[ShownPlan, ...]
    states: tuple[int, ...]
    hidden: int

    @classmethod
    def of(
        cls, task: Task, learner: Learner, run: Run, on_progress: Callable[[int], None] | None = None
    ) -> LearningView:
        """Play a run again and look at its plans."""
        task = task.finite
        picture, best = task_picture(task), solve(task)
        regret = np.concatenate(([0.0], run.regret))
        plans = []
        numbers = plans_to_show(run.plan_episodes)
        for number, policy in zip(numbers, replay(task, learner, run, numbers, on_progress), strict=True):
            _, visits, lost, actions = footprint(task, best, policy)
            episode = int(run.plan_episodes[number])
            worth, before = float(run.plan_values[number]), float(regret[episode])
            small = visits.astype(np.float32), actions.astype(np.int16)
            plans.append(ShownPlan(number, episode, worth, before, *small, mistakes(lost)))
        states, hidden = states_to_show(task, np.mean([plan.visits for plan in plans], axis=0, dtype=np.float64))
        return cls(task, run, picture, action_names(task), tuple(plans), states, hidden)


def plans_to_show(plan_episodes: NDArray[np.int64]) -> list[int]:
    """Return the numbers of the plans to show: all, or those in force at episodes 1, …, the last, spaced evenly in log.

    Examples
    --------
    >>> plans_to_show(np.array([0, 3, 7]))
    [0, 1, 2]
    >>> numbers = plans_to_show(np.arange(10_000))
    >>> numbers[:4], numbers[-1], len(numbers) <= 60
    ([0, 1, 2, 3], 9999, True)
    """
    if len(plan_episodes) <= MAX_PLANS:
        return list(range(len(plan_episodes)))
    episodes = np.rint(np.geomspace(1, plan_episodes[-1] + 1, MAX_PLANS)).astype(np.int64) - 1
    return [int(number) for number in np.unique(np.searchsorted(plan_episodes, episodes, side="right") - 1)]
