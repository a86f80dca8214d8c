"""Make data of counts: those of an exploration, of a run, and of the episodes of a log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from reprlib import repr as brief
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.envs.black_box import BlackBox
from praemia.errors import ModelError, PraemiaError, require_whole
from praemia.exploration.dataset import Dataset, add_up
from praemia.learners.experience import Transitions
from praemia.machines.labels import Label, Labelling
from praemia.planning.backward import cached_per_object
from praemia.tasks.base import BaseTask
from praemia.tasks.task import Task


def dataset_of(
    source: Task | BlackBox,
    parts: Iterable[tuple[Transitions, Sequence[Label]]],
    starts: NDArray[np.int64],
    **record: Any,
) -> Dataset:
    """Return what was counted in a task or a black box as a dataset, with a record of how it was collected.

    Each part has transitions and their labels; ``starts`` are int64[O], where episodes began.
    """
    size, num_actions, labelling = source.num_observations, source.num_actions, known_labels(source)
    columns = [
        (
            seen.observations * num_actions + seen.actions,
            seen.successors + size * seen.ends,
            seen.labels,
            sets,
            seen.counts,
        )
        for seen, sets in parts
    ]
    if isinstance(source, Task):
        names, can_end = (source.mdp.observation_names, source.mdp.action_names), source.mdp.can_end
    else:
        names, can_end = (source.observations.names(), source.actions.names()), True
    produced = frozenset[str]() if labelling is None else labelling.propositions()
    return Dataset(
        size,
        num_actions,
        **add_up(size, columns),
        first_counts=starts,
        horizon=source.max_steps,
        labelling=labelling,
        propositions=tuple(sorted(produced.union(source.machine.propositions))),
        observation_names=names[0],
        action_names=names[1],
        sources=({"task": source.name, **record},),
        can_end=can_end,
        discount=source.discount,
        encoding=encoding_of(source),
    )


def known_labels(source: Task | BlackBox) -> Labelling | None:
    """Return the labels of all transitions as rules; None where only playing reveals them."""
    return None if isinstance(source, BlackBox) else _tabulated(source)


@cached_per_object
def _tabulated(task: Task) -> Labelling | None:
    return task.mdp.labelling.tabulated(task.num_observations, task.num_actions)


def known_kind(source: Task | BlackBox) -> dict[str, Any]:
    """Return what data must share to be merged (``Dataset.kind``), as far as it is known before playing."""
    names, labelling = ("num_observations", "num_actions", "discount"), known_labels(source)
    kind: dict[str, Any] = {name: getattr(source, name) for name in names} | {"horizon": source.max_steps}
    if isinstance(source, Task):
        kind |= {"observation_names": source.mdp.observation_names, "action_names": source.mdp.action_names}
    return {**kind, "labels": None if labelling is None else frozenset(labelling.rules)}


def encoding_of(task: BaseTask) -> dict[str, Any] | None:
    """Return how a black box indexes its observations; None for a task, and where a file cannot hold it."""
    if not isinstance(task, BlackBox):
        return None
    try:
        return task.observations.as_data()
    except PraemiaError:  # values of encode that a file cannot hold
        return {"size": task.num_observations}


def from_episodes(episodes: Iterable[Iterable[Sequence[Any]]], task: Task | BlackBox) -> Dataset:
    """Count the steps of episodes (``Dataset.from_episodes``)."""
    if not isinstance(task, Task | BlackBox):
        raise ModelError(f"task={task!r}; expected the Task or the BlackBox that the episodes are of")
    return count_episodes(episodes, task.for_run() if isinstance(task, BlackBox) else task)


def count_episodes(episodes: Iterable[Iterable[Sequence[Any]]], task: Task | BlackBox) -> Dataset:
    """Count the steps of episodes, with the indices that a box has."""
    found: Counter[tuple[int, int, int, Label, bool]] = Counter()
    starts = np.zeros(task.num_observations, dtype=np.int64)
    for number, episode in enumerate(episodes):
        steps = [_step(task, step, f"episode {number}, step {h}") for h, step in enumerate(episode)]
        where = f"episode {number} has {len(steps)} steps"
        if not 1 <= len(steps) <= task.max_steps:
            raise ModelError(f"{where}; expected 1 … {task.max_steps}")
        for h, (before, after) in enumerate(pairwise(steps), 1):
            if after[0] != before[2] or before[4]:
                raise ModelError(f"{where}, and step {h} does not begin where step {h - 1} went; give whole episodes")
        found.update(steps)
        starts[steps[0][0]] += 1
    number_of = {label: number for number, label in enumerate({step[3]: None for step in found})}
    rows = [(o, a, z, number_of[label], ended, count) for (o, a, z, label, ended), count in found.items()]
    o, a, z, labels, ends, counts = np.array(rows, dtype=np.int64).reshape(-1, 6).T
    seen, sets = Transitions(o, a, z, labels, ends > 0, counts), list(number_of)
    if isinstance(task, Task):
        numbers, sets = task.mdp.labelling.of(o, a, z)
        seen = seen._replace(labels=numbers.astype(np.int64))
    return dataset_of(task, [(seen, sets)], starts, method="given", episodes=int(starts.sum()))


def _step(task: Task | BlackBox, step: Any, where: str) -> tuple[int, int, int, Label, bool]:
    """Return a step of a log as indices, with its label in a black box, and whether the environment ended it."""
    if not isinstance(step, Sequence) or not 3 <= len(step) <= 5:
        raise ModelError(
            f"{where}: {brief(step)}; expected (observation, action, next observation[, info[, terminated]])"
        )
    o, a, z = step[:3]
    info, ended = step[3] if len(step) > 3 else {}, step[4] if len(step) > 4 else False
    if isinstance(task, BlackBox):
        label = task.label(o, a, z, info)
        return task.observations.number(o), task.actions.number(a), task.observations.number(z), label, bool(ended)
    sizes = (task.num_observations, task.num_actions, task.num_observations)
    parts = zip(("observation", "action", "next observation"), (o, a, z), sizes, strict=True)
    o, a, z = (require_whole(f"{where}: the {what}", part, 0, size - 1, ModelError) for what, part, size in parts)
    return o, a, z, Label(), bool(ended)
