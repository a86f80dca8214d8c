"""Experiments: groups of tasks and learners, and what is claimed of their regret.

A group is a table: a row for each task, a column for each learner, and in every cell some runs, of one job but for the
seeds. The record of an experiment, which lies beside its runs, is an experiment file in which everything is written
out; it holds no code.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import TypeAlias

from praemia.experiments.jobs import Job
from praemia.experiments.schema import GroupPart, SettingPart

Cell: TypeAlias = tuple[str, str]  # the name of a task and the title of a learner


@dataclass(frozen=True)
class Group:
    """Tasks, learners, and what is claimed of them.

    Attributes
    ----------
    part : what an experiment file says of it, everything written out.
    cells : what is played in each cell, row by row; the seeds are left out. chosen : the cells that are played now.
    """

    part: GroupPart
    cells: Mapping[Cell, Job]
    chosen: Sequence[Cell] = ()

    @property
    def title(self) -> str:
        return self.part.title or ""

    @cached_property
    def tasks(self) -> dict[str, SettingPart]:
        """The rows, by the names of their tasks."""
        return {part.title or part.task: part for part in self.part.tasks}

    @property
    def titles(self) -> list[str]:
        """The titles of the learners, column by column."""
        return list(dict.fromkeys(title for _, title in self.cells))

    @property
    def yardsticks(self) -> set[str]:
        """The titles of the learners that know part of p."""
        return {part.title or part.learner for part in self.part.yardsticks}

    @property
    def has_steps(self) -> bool:
        """Whether the lengths of the runs are given in steps."""
        return all(job.num_steps is not None for job in self.cells.values())

    def kind(self, task: str) -> str:
        """Return the kind of a task: one whose group names none is a kind by itself."""
        return self.tasks[task].kind or task

    def seed_of(self, run: int) -> tuple[int, ...]:
        """Return the seed of a run, by its number; runs of a tuning have others than reported ones."""
        return (self.part.seed or 0, run, 1) if self.part.tuning else (self.part.seed or 0, run)

    def jobs(self, num_runs: Mapping[Cell, int] | None = None) -> Iterator[Job]:
        """Yield the runs, row by row, and there run by run, so that all learners progress together.

        ``num_runs`` says how many runs each cell gets; one that is left out gets none.
        """
        usual = dict.fromkeys(self.chosen, self.part.runs or 0) if num_runs is None else num_runs
        for _, row in groupby(self.chosen, key=lambda cell: cell[0]):
            counts = {cell: usual.get(cell, 0) for cell in row}
            for run in range(max(counts.values())):
                yield from (self.job(cell, run) for cell, count in counts.items() if run < count)

    def job(self, cell: Cell, run: int) -> Job:
        """Return a run of a cell, by its number."""
        return replace(self.cells[cell], seed=self.seed_of(run))


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
        groups = [group.part.model_dump(exclude_defaults=True) for group in self.groups]
        return json.dumps({"title": self.title, "groups": groups}, indent=1).encode() + b"\n"


def distinct_names(names: Sequence[str], keys: Sequence[object]) -> list[str]:
    """Add a number to the names that several different things have."""
    keys_of: dict[str, dict[object, int]] = {}
    for name, key in zip(names, keys, strict=True):
        own = keys_of.setdefault(name, {})
        own.setdefault(key, len(own) + 1)
    return [
        f"{name} ({keys_of[name][key]})" if len(keys_of[name]) > 1 else name
        for name, key in zip(names, keys, strict=True)
    ]
