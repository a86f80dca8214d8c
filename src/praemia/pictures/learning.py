"""A run as a row of plans to be seen: what each does in every place, its value, and the regret up to it.

At most 60 plans are shown, close together at first: learners change most in their first episodes. There are fewer on
large maps, so that the size of a page is bounded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from praemia.learners.base import Learner
from praemia.pictures.footprints import MAX_PANELS, Footprint, footprint, states_to_show
from praemia.pictures.task_picture import task_picture
from praemia.planning.exact import solve
from praemia.simulation.replay import replay
from praemia.simulation.run import Run
from praemia.tasks.picture import Picture
from praemia.tasks.task import Task

MAX_PLANS = 60
MAX_PLACES = 1_200_000  # in all maps of all plans: with less than 1.5 bytes for each, a page stays below 2 MB


class ShownPlan(NamedTuple):
    """A plan of a run.

    Attributes
    ----------
    number : among all plans of the run, from 0; episode : the first in which it is played.
    value : its exact value; regret : of the episodes before it; footprint : where it goes, and what it does there.
    """

    number: int
    episode: int
    value: float
    regret: float
    footprint: Footprint


@dataclass(frozen=True, eq=False)
class LearningView:
    """A run as it is shown.

    Attributes
    ----------
    picture : the picture of the task.
    states : the machine states to show, those with most visits over all shown plans; hidden : how many more there are.
    """

    task: Task
    run: Run
    picture: Picture
    plans: tuple[ShownPlan, ...]
    states: tuple[int, ...]
    hidden: int

    @classmethod
    def of(
        cls, task: Task, learner: Learner, run: Run, on_progress: Callable[[int], None] | None = None
    ) -> LearningView:
        """Play a run again and look at its plans."""
        best, regret = solve(task.model), np.concatenate(([0.0], run.regret))
        numbers = plans_to_show(run.plan_episodes, most_plans(task))
        plans = []
        for number, policy in zip(numbers, replay(task, learner, run, numbers, on_progress), strict=True):
            episode = int(run.plan_episodes[number])
            value, before = float(run.plan_values[number]), float(regret[episode])
            plans.append(ShownPlan(number, episode, value, before, footprint(task, best, policy)))
        visits = np.mean([plan.footprint.visits for plan in plans], axis=0)
        return cls(task, run, task_picture(task), tuple(plans), *states_to_show(task, visits))


def most_plans(task: Task) -> int:
    """Return how many plans of a task can be shown."""
    panels = min(MAX_PANELS, max(1, task.num_machine_states - len(task.machine.settled_states)))
    return min(MAX_PLANS, MAX_PLACES // (panels * task.num_observations))


def plans_to_show(plan_episodes: NDArray[np.int64], most: int = MAX_PLANS) -> list[int]:
    """Return the numbers of the plans to show: all, or those in force at episodes 1, …, the last, spaced evenly in log.

    Examples
    --------
    >>> plans_to_show(np.array([0, 3, 7]))
    [0, 1, 2]
    >>> numbers = plans_to_show(np.arange(10_000))
    >>> numbers[:4], numbers[-1], len(numbers) <= 60
    ([0, 1, 2, 3], 9999, True)
    """
    if len(plan_episodes) <= most:
        return list(range(len(plan_episodes)))
    episodes = np.rint(np.geomspace(1, plan_episodes[-1] + 1, most)).astype(np.int64) - 1
    return [int(number) for number in np.unique(np.searchsorted(plan_episodes, episodes, side="right") - 1)]
