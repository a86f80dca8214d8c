"""Data of what was not explored: the counts of a run, and the episodes of a log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from reprlib import repr as brief
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.envs.black_box import BlackBox
from praemia.errors import ModelError, PraemiaError, require_whole
from praemia.exploration.dataset import Dataset, add_up
from praemia.learners.experience import Transitions
from praemia.machines.labels import Label, Labelling, LabelRule
from praemia.planning.reading import Observations
from praemia.tasks.base import BaseTask
from praemia.tasks.task import Task


@dataclass(frozen=True, eq=False)
class Counted:
    """What was counted in a task or a black box.

    Attributes
    ----------
    seen : the transitions, whose labels are indices into ``label_sets``. starts : int64[O], where episodes began.
    """

    task: Task | BlackBox
    seen: Transitions
    label_sets: Sequence[Label]
    starts: NDArray[np.int64]

    def dataset(self, **record: Any) -> Dataset:
        """Return the counts as a dataset, with a record of how they were collected."""
        task, seen, size = self.task, self.seen, self.task.num_observations
        pairs, targets = seen.observations * task.num_actions + seen.actions, seen.successors + size * seen.ends
        columns = add_up(pairs, targets, seen.counts, size, seen.labels)
        rules, sets = None, tuple(self.label_sets)
        if isinstance(task, Task) and task.mdp.labelling.by_rules:
            rules = task.mdp.labelling.rules
        else:
            rules = _rules(columns, sets, task.num_actions)
        labelled: dict[str, Any] = {} if rules is None else {"labels": None}
        if rules is not None:
            columns = add_up(pairs, targets, seen.counts, size)
        names, can_end = _names(task)
        return Dataset(
            size,
            task.num_actions,
            **{**columns, **labelled},
            label_sets=() if rules is not None else sets,
            first_counts=self.starts,
            horizon=task.max_steps,
            labelling=Labelling(rules or ()),
            labels_known=isinstance(task, Task) and task.mdp.labelling.by_rules,
            propositions=tuple(sorted(task.machine.propositions)),
            observation_names=names[0],
            action_names=names[1],
            sources=({"task": task.name, **record},),
            can_end=can_end,
            discount=task.discount,
            encoding=encoding_of(task),
        )


def _names(task: Task | BlackBox) -> tuple[tuple[Any, Any], bool]:
    """Return the names of observations and actions, and whether episodes can end."""
    if isinstance(task, Task):
        return (task.mdp.observation_names, task.mdp.action_names), task.mdp.can_end
    return (task.observations.names(), task.actions.names()), True


def _rules(columns: dict[str, Any], sets: Sequence[Label], num_actions: int) -> tuple[LabelRule, ...] | None:
    """Return a rule for each labelled (o, a, o'); None where one of them has several labels."""
    label_of: dict[tuple[int, int, int], Label] = {}
    rows = zip(*(columns[name].tolist() for name in ("pairs", "successors", "labels")), strict=True)
    for pair, successor, number in rows:
        step = (*divmod(pair, num_actions), successor)
        if label_of.setdefault(step, sets[number]) != sets[number]:
            return None
    return tuple(LabelRule(label, *step) for step, label in label_of.items() if label)


def encoding_of(task: BaseTask) -> dict[str, Any] | None:
    """Return how a black box indexes its observations; None for a task, and where a file cannot hold it."""
    if not isinstance(task, BlackBox):
        return None
    try:
        return Observations.of(task.observations).as_data()
    except PraemiaError:  # values of encode that a file cannot hold
        return {"size": task.num_observations}


def from_episodes(episodes: Iterable[Iterable[Sequence[Any]]], task: Task | BlackBox) -> Dataset:
    """Count the steps of episodes (``Dataset.from_episodes``)."""
    if not isinstance(task, Task | BlackBox):
        raise ModelError(f"task={task!r}; expected the Task or the BlackBox that the episodes are of")
    box = task.for_run() if isinstance(task, BlackBox) else task
    label_numbers: dict[Label, int] = {frozenset(): 0}
    counts: dict[tuple[int, int, int, int, bool], int] = {}
    starts = np.zeros(task.num_observations, dtype=np.int64)
    for number, episode in enumerate(episodes):
        steps = [_step(box, step, f"episode {number}, step {h}") for h, step in enumerate(episode)]
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
    return Counted(box, transitions, list(label_numbers), starts).dataset(method="given", episodes=int(starts.sum()))


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
