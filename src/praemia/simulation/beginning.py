"""Begin a run with data: the counts of another run, of an exploration, or of a log."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np

from praemia.envs.black_box import BlackBox
from praemia.envs.indexing import EncodedIndex, index_from_data, require_same
from praemia.errors import ModelError, ParameterError
from praemia.kernels.counts import EPISODES, SLOTS
from praemia.learners.base import Learner
from praemia.simulation.loop import World
from praemia.tasks.task import Task

if TYPE_CHECKING:
    from praemia.exploration.dataset import Dataset


def require_fit(data: Dataset, task: Task | BlackBox, learner: Learner) -> None:
    """Refuse data of another environment, and learners that cannot begin with counts."""
    if not hasattr(data, "first_counts"):
        raise ParameterError(f"data={data!r}; expected a Dataset, such as run.dataset or what explore returns")
    if not learner.has_estimate or learner.learn_machine or learner.sees == "product" or learner.privileged:
        raise ParameterError(
            f"learner {learner.name!r} does not plan from counts of transitions alone, so it cannot begin with data; "
            "choose one that does, such as headroom, ucbvi-prm or mvp"
        )
    found, expected = (data.num_observations, data.num_actions), (task.num_observations, task.num_actions)
    if found != expected:
        raise ModelError(
            f"data of {found[0]} observations and {found[1]} actions; {task.name!r} has {expected[0]} and {expected[1]}"
        )
    if (data.encoding is None) != isinstance(task, Task):
        kinds = ("a black box", "a task")
        raise ModelError(f"data of {kinds[data.encoding is None]}; {task.name!r} is {kinds[isinstance(task, Task)]}")
    if isinstance(task, BlackBox):
        index = index_from_data(data.encoding)
        require_same("data", index, data.num_observations, task.observations, repr(task.name))


def codes_of(data: Dataset) -> dict[Hashable, int] | None:
    """Return the values of ``encode`` by their index in the data."""
    index = index_from_data(data.encoding)
    return index.codes if isinstance(index, EncodedIndex) else None


def begin_with(world: World, data: Dataset) -> None:
    """Count what the data has, before a run."""
    numbers, sets = data.labelled
    world.counts = counts = world.counts.with_room(len(data.counts) + world.spec.horizon)
    rows = (data.pairs, data.targets, numbers, data.counts)
    for pair, target, number, count in zip(*(column.tolist() for column in rows), strict=True):
        world.count_before(pair, target, sets[number], count)
    counts.visits[:] = data.visits.ravel()
    visited = np.flatnonzero(counts.visits)
    counts.slots[visited] = np.arange(len(visited))
    counts.totals[SLOTS], counts.totals[EPISODES] = len(visited), data.num_episodes
    counts.is_met[data.first_counts > 0] = True
    counts.starts[:] = data.first_counts
    world.episodes_before = data.num_episodes
