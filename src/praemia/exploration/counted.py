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
    size, num_actions = source.num_observations, source.num_actions
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
    record = {"task": source.name, **record}
    return Dataset(**about(source), **add_up(size, columns), first_counts=starts, sources=(record,))


def about(source: Task | BlackBox) -> dict[str, Any]:
    """Return the fields of a dataset that its environment determines."""
    labelling, produced = known_labels(source), frozenset[str]()
    if labelling is not None:
        produced = labelling.propositions()
    fields: dict[str, Any] = {
        **{name: getattr(source, name) for name in ("num_observations", "num_actions", "discount")},
        "horizon": source.max_steps,
        "labelling": labelling,
        "propositions": tuple(sorted(produced.union(source.machine.propositions))),
    }
    if isinstance(source, Task):
        mdp = source.mdp
        names = {"observation_names": mdp.observation_names, "action_names": mdp.action_names}
        return {**fields, **names, "can_end": mdp.can_end, "encoding": None}
    names = {"observation_names": source.observations.names(), "action_names": source.actions.names()}
    try:
        encoding = source.observations.as_data()
    except PraemiaError:  # values of encode that a file cannot hold
        encoding = {"size": source.num_observations}
    return {**fields, **names, "can_end": True, "encoding": encoding}


def known_labels(source: Task | BlackBox) -> Labelling | None:
    """Return the labels of all transitions as rules; None where only playing reveals them."""
    return None if isinstance(source, BlackBox) else _tabulated(source)


@cached_per_object
def _tabulated(task: Task) -> Labelling | None:
    return task.mdp.labelling.tabulated(task.num_observations, task.num_actions)


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
