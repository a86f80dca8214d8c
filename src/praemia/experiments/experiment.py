"""Experiments: groups of tasks and learners, and what is claimed of their regret.

A group is a table: a row for each task, a column for each learner, and in every cell some runs. The record of an
experiment, which lies beside its runs, is an experiment file in which everything is written out; it holds no code.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from praemia.experiments.jobs import Job, LearnerChoice, TaskText
from praemia.experiments.schema import ClaimPart

NUM_RUNS, NUM_EPISODES = 16, 10_000  # where a file says nothing


class Claim(NamedTuple):
    """A claim of a file, with the columns of the learners and the rows of the tasks that it is about."""

    part: ClaimPart
    of: int
    than: tuple[int, ...]
    on: tuple[int, ...]


@dataclass(frozen=True)
class Setting:
    """A row of a group: a task, the learner of each column as it plays this task, and the length of a run."""

    task: TaskText
    choices: tuple[LearnerChoice, ...]
    num_episodes: int | None = NUM_EPISODES
    num_steps: int | None = None
    test_every: int | None = None
    kind: str = ""
    published: Mapping[str, int] = field(default_factory=dict)
    is_chosen: bool = True

    def job(self, column: int, seed: tuple[int, ...]) -> Job:
        """Return a run of the learner in a column."""
        choice = self.choices[column]
        return Job(self.task, choice, self.num_episodes, seed, num_steps=self.num_steps, test_every=self.test_every)


@dataclass(frozen=True)
class Group:
    """Tasks, learners, and what is claimed of them.

    Attributes
    ----------
    choices : the learner of each column. num_yardsticks : how many of them, the last ones, know part of p.
    settings : the rows. num_runs : how many runs a cell gets.
    is_tuning : whether the seeds are others than those of reported runs.
    against : the size of tasks to plot against; source : where published figures are from.
    usual : the columns that are played unless the user names others; chosen : those that are played now.
    """

    title: str
    choices: tuple[LearnerChoice, ...]
    settings: tuple[Setting, ...]
    num_runs: int = NUM_RUNS
    seed: int = 0
    is_tuning: bool = False
    claims: tuple[Claim, ...] = ()
    num_yardsticks: int = 0
    against: str = ""
    source: str = ""
    usual: tuple[int, ...] = ()
    chosen: tuple[int, ...] = ()

    def seed_of(self, run: int) -> tuple[int, ...]:
        """Return the seed of a run, by its number."""
        return (self.seed, run, 1) if self.is_tuning else (self.seed, run)

    def jobs(self, num_runs: Mapping[tuple[int, int], int] | None = None) -> Iterator[Job]:
        """Yield the runs, row by row, and there run by run, so that all learners progress together.

        ``num_runs`` says how many runs each cell gets, by row and column; one that is left out gets none.
        """
        for row, setting in enumerate(self.settings):
            counts = {c: self.num_runs if num_runs is None else num_runs.get((row, c), 0) for c in self.chosen}
            for run in range(max(counts.values(), default=0) if setting.is_chosen else 0):
                yield from (setting.job(c, self.seed_of(run)) for c, count in counts.items() if run < count)


@dataclass(frozen=True)
class Experiment:
    """A title, and groups of tasks and learners."""

    title: str
    groups: tuple[Group, ...]

    def jobs(self) -> list[Job]:
        """Return all runs to be played, each once, though groups may share some."""
        return list({(job.digest, job.seed): job for group in self.groups for job in group.jobs()}.values())

    def record(self) -> bytes:
        """Return the experiment as the text of an experiment file in which everything is written out."""
        return (
            json.dumps({"title": self.title, "groups": [*map(_group_record, self.groups)]}, indent=1).encode() + b"\n"
        )


def _group_record(group: Group) -> dict[str, Any]:
    """Return a group as an experiment file writes it; values that are lists stand in a grid of one point."""
    learners = []
    for choice in group.choices:
        own = {key: [value] if isinstance(value, list) else value for key, value in choice.parameters.items()}
        origin = {"origin": choice.origin} if choice.origin else {}
        learners.append({"learner": choice.name, "title": choice.title, **origin, **own})
    num_players = len(learners) - group.num_yardsticks
    record = {
        "title": group.title,
        "tasks": [_setting_record(group, setting) for setting in group.settings],
        "learners": [learners[column] for column in range(num_players) if column in group.usual],
        "others": [learners[column] for column in range(num_players) if column not in group.usual],
        "yardsticks": learners[num_players:],
        "runs": group.num_runs,
        "seed": group.seed,
        "tuning": group.is_tuning,
        "test_every": next((s.test_every for s in group.settings if s.test_every is not None), None),
        "against": group.against or None,
        "source": group.source or None,
        "claims": [claim.part.model_dump(exclude_none=True) for claim in group.claims],
    }
    return {key: value for key, value in record.items() if value is not None}


def _setting_record(group: Group, setting: Setting) -> dict[str, Any]:
    changed = {
        own.title: {key: value for key, value in own.parameters.items() if value != usual.parameters.get(key)}
        for own, usual in zip(setting.choices, group.choices, strict=True)
    }
    record = {
        "task": setting.task.name,
        "title": setting.task.name,
        "text": setting.task.text,
        "kind": setting.kind,
        "episodes": setting.num_episodes,
        "steps": setting.num_steps,
        "parameters": {title: own for title, own in changed.items() if own},
        "published": dict(setting.published),
    }
    return {key: value for key, value in record.items() if value}
