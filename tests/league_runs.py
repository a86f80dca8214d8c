"""Made-up leagues, from the final regret of every run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from praemia.experiments.settings import TaskText
from praemia.simulation import Run
from praemia.statistics.stored_runs import Series, Study

EPISODES = 1000


def made(task: str, title: str, run: int, ends: Sequence[float]) -> Run:
    """Return a run whose regret rises linearly to each of the ends, over parts of equal length."""
    part = EPISODES // len(ends)
    gaps = np.diff([0.0, *ends]) / part
    return Run(
        task=task,
        learner="eqo",
        title=title,
        parameters={},
        seed=(0, run),
        num_episodes=EPISODES,
        task_text=TaskText.builtin(task).text,
        versions={"praemia": "0"},
        optimal_value=1.0,
        plan_episodes=np.arange(len(ends)) * part,
        plan_values=1.0 - gaps,
        optimistic_values=np.ones(len(ends)),
        returns=np.zeros(EPISODES),
        steps=np.ones(EPISODES, dtype=np.int64),
        seconds=0.5,
    )


def study(regrets: Mapping[str, Mapping[str, Sequence[float]]]) -> Study:
    """Return a league from final regrets by task and learner; all is lost in the first half of a run."""
    settings = {
        task: [
            Series(tuple(made(task, title, run, (end, end)) for run, end in enumerate(ends)))
            for title, ends in members.items()
        ]
        for task, members in regrets.items()
    }
    return Study("league", "a league", settings)
