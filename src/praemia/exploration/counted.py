"""Make data of counts: those of an exploration, of a run, and of the episodes of a log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from reprlib import repr as brief
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.envs.black_box import BlackBox
from praemia.errors import ModelError, PraemiaError, require_whole
from praemia.exploration.dataset import Dataset
from praemia.exploration.merging import add_up
from praemia.learners.experience import Transitions
from praemia.machines.labels import Label, Labelling, LabelRule
from praemia.tasks.base import BaseTask
from praemia.tasks.task import Task

MAX_TABULATED = 200_000  # the most (o, a, o') whose labels are computed one by one


def dataset_of(
    source: Task | BlackBox,
    seen: Transitions,
    label_sets: Sequence[Label],
    starts: NDArray[np.int64],
    rules: tuple[LabelRule, ...] | None,
    **record: Any,
) -> Dataset:
    """Return what was counted in a task or a black box as a dataset, with a record of how it was collected.

    ``rules`` are those of ``known_rules``; without them ``label_sets`` has the labels that were seen, and ``starts``
    int64[O] where episodes began.
    """
    size, num_actions = source.num_observations, source.num_actions
    pairs, targets = seen.observations * num_actions + seen.actions, seen.successors + size * seen.ends
    columns, sets = add_up(size, pairs, targets, seen.counts, seen.labels), tuple(label_sets)
    labelled = _rules(columns, sets, size, num_actions) if rules is None else rules
    if labelled is not None:
        columns, sets = add_up(size, pairs, targets, seen.counts), ()
    if isinstance(source, Task):
        names, can_end = (source.mdp.observation_names, source.mdp.action_names), source.mdp.can_end
    else:
        names, can_end = (source.observations.names(), source.actions.names()), True
    labelling = Labelling(labelled or ())
    return Dataset(
        size,
        num_actions,
        **columns,
        label_sets=sets,
        first_counts=starts,
        horizon=source.max_steps,
        labelling=labelling,
        labels_known=rules is not None,
        propositions=tuple(sorted(labelling.propositions().union(source.machine.propositions))),
        observation_names=names[0],
        action_names=names[1],
        sources=({"task": source.name, **record},),
        can_end=can_end,
        discount=source.discount,
        encoding=encoding_of(source),
    )


def known_rules(source: Task | BlackBox) -> tuple[LabelRule, ...] | None:
    """Return the labels of all transitions as rules; None where only playing reveals them."""
    if isinstance(source, BlackBox):
        return None
    labelling, shape = source.mdp.labelling, (source.num_observations, source.num_actions, source.num_observations)
    if labelling.by_rules:
        return labelling.rules
    if shape[0] * shape[1] * shape[2] > MAX_TABULATED:
        return None
    o, a, z = (axis.ravel() for axis in np.indices(shape))
    numbers, sets = labelling.of(o, a, z)
    rows = zip(o.tolist(), a.tolist(), z.tolist(), numbers.tolist(), strict=True)
    return tuple(LabelRule(sets[number], *place) for *place, number in rows if sets[number])


def _rules(columns: dict[str, Any], sets: Sequence[Label], size: int, num_actions: int) -> tuple[LabelRule, ...] | None:
    """Return a rule for each labelled (o, a, o') that was seen; None where one of them has several labels."""
    label_of: dict[tuple[int, int, int], Label] = {}
    rows = zip(*(columns[name].tolist() for name in ("pairs", "targets", "labels")), strict=True)
    for pair, target, number in rows:
        step = (*divmod(pair, num_actions), target % size)
        if label_of.setdefault(step, sets[number]) != sets[number]:
            return None
    return tuple(LabelRule(label, *step) for step, label in label_of.items() if label)


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
    label_numbers: dict[Label, int] = {frozenset(): 0}
    counts: dict[tuple[int, int, int, int, bool], int] = {}
    starts = np.zeros(task.num_observations, dtype=np.int64)
    for number, episode in enumerate(episodes):
        steps = [_step(task, step, f"episode {number}, step {h}") for h, step in enumerate(episode)]
        where = f"episode {number} has {len(steps)} steps"
        if not 1 <= len(steps) <= task.max_steps:
            raise ModelError(f"{where}; expected 1 … {task.max_steps}")
        for h, (o, a, z, label, ended) in enumerate(steps):
            if h > 0 and (steps[h - 1][2] != o or steps[h - 1][4]):
                raise ModelError(f"{where}, and step {h} does not begin where step {h - 1} went; give whole episodes")
            key = (o, a, z, label_numbers.setdefault(label, len(label_numbers)), ended)
            counts[key] = counts.get(key, 0) + 1
        starts[steps[0][0]] += 1
    columns = np.array([(*key, count) for key, count in counts.items()], dtype=np.int64).reshape(-1, 6).T
    transitions = Transitions(columns[0], columns[1], columns[2], columns[3], columns[4] > 0, columns[5])
    record = {"method": "given", "episodes": int(starts.sum())}
    return dataset_of(task, transitions, list(label_numbers), starts, known_rules(task), **record)


def _step(task: Task | BlackBox, step: Any, where: str) -> tuple[int, int, int, Label, bool]:
    """Return a step of a log as indices, with its label and whether the environment ended it."""
    if not isinstance(step, Sequence) or not 3 <= len(step) <= 5:
        raise ModelError(
            f"{where}: {brief(step)}; expected (observation, action, next observation[, info[, terminated]])"
        )
    o, a, z = step[:3]
    info, ended = step[3] if len(step) > 3 else {}, step[4] if len(step) > 4 else False
    if isinstance(task, BlackBox):
        label = task.label(o, a, z, info)
        return task.observations.number(o), task.actions.number(a), task.observations.number(z), label, bool(ended)
    size = task.num_observations
    place, action, after = (
        require_whole(f"{where}: the {what}", value, 0, count - 1, ModelError)
        for what, value, count in (
            ("observation", o, size),
            ("action", a, task.num_actions),
            ("next observation", z, size),
        )
    )
    one = (np.array([place]), np.array([action]), np.array([after]))
    numbers, sets = task.mdp.labelling.of(*one)
    return place, action, after, sets[numbers[0]], bool(ended)
