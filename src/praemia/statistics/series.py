"""Stored runs, by what they share: the series of a learner on a task, and the table of a group of an experiment.

What was played decides which runs belong together; titles and names of tasks are labels, as the experiment of the
folder gives them. Runs that it does not ask for, of other lengths or other random streams among them, are a group of
their own: nothing that lies in a folder is left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from praemia._support.text_tables import plural
from praemia.errors import PraemiaError
from praemia.experiments.experiment import Cell, Group, distinct_names
from praemia.experiments.jobs import Job
from praemia.experiments.schema import GroupPart, SettingPart
from praemia.experiments.store import StoredRuns
from praemia.simulation import Run
from praemia.simulation.run import RNG_REVISION
from praemia.tasks.task import Task

ROUNDING = 1e-12  # of the value of an episode: what may be left of an episode's regret of 0 after summing up
OTHERS, BOXES = "Other runs in this folder", "Returns in black boxes"


@dataclass(frozen=True, eq=False)
class Series:
    """The runs of one learner on one task, in the order of their seeds, and the labels of both."""

    runs: tuple[Run, ...]
    task: str
    title: str

    @classmethod
    def of(cls, runs: Iterable[Run]) -> Series:
        """Take the labels that are stored with the runs."""
        own = tuple(runs)
        return cls(own, own[0].task, own[0].title)

    @property
    def num_runs(self) -> int:
        return len(self.runs)

    @property
    def first(self) -> Run:
        """The first run, which says what all of them share: learner, parameters, episodes."""
        return self.runs[0]

    @property
    def num_episodes(self) -> int:
        """How many episodes all of the runs have; they differ where steps were budgeted."""
        return min(run.num_episodes for run in self.runs)

    @cached_property
    def loaded_task(self) -> Task | None:
        """The task, made from the text that is stored with the runs; None for a black box and for a damaged text."""
        try:
            task = Job.of(self.first).task.make() if self.first.task_text else None
        except PraemiaError:
            return None
        return task if isinstance(task, Task) else None

    @cached_property
    def final(self) -> NDArray[np.float64]:
        """float64[R], the regret of each run at its end; NaN on a black box. Rounding errors are 0."""
        return np.array([_final_regret(run) for run in self.runs])

    @cached_property
    def returns(self) -> NDArray[np.float64]:
        """float64[R], the mean return of each run."""
        return np.array([run.returns.mean() for run in self.runs])

    @property
    def late_return(self) -> float:
        """The mean return over the last tenth of the runs."""
        last = max(1, self.num_episodes // 10)
        return float(np.mean([run.returns[-last:].mean() for run in self.runs]))

    @property
    def num_plans(self) -> float:
        """The mean number of plans."""
        return sum(run.num_plans for run in self.runs) / self.num_runs

    def curves(self, episodes: NDArray[np.int64]) -> NDArray[np.float64]:
        """float64[R, len(episodes)], the regret of each run after some numbers of episodes (1 … K)."""
        return np.stack([run.regret[episodes - 1] for run in self.runs])

    @property
    def late_slope(self) -> float:
        """The mean regret per 1,000 episodes over the last tenth of the runs."""
        last = max(1, self.num_episodes // 10)
        ends = self.curves(np.array([max(1, self.num_episodes - last), self.num_episodes]))
        return float((ends[:, 1] - ends[:, 0]).mean() / last * 1000)

    @property
    def seconds(self) -> float:
        """The lower median time of a run, NaN where it is not known: the first run of a process loads compiled code."""
        seconds = sorted(run.seconds for run in self.runs if not np.isnan(run.seconds))
        return seconds[(len(seconds) - 1) // 2] if seconds else float("nan")


def _final_regret(run: Run) -> float:
    if run.optimal_value is None:
        return float("nan")
    regret = float(run.regret[-1])
    scale = max(abs(run.optimal_value), float(np.abs(run.returns).max()))
    return 0.0 if regret < ROUNDING * scale * run.num_episodes else regret


@dataclass(frozen=True, eq=False)
class Study:
    """A group of an experiment with its runs: ``series`` has those of every cell that has any."""

    group: Group
    series: Mapping[Cell, Series]

    @cached_property
    def players(self) -> dict[str, str]:
        """The names of the learners that have runs, by title and column by column."""
        names = {title: own.first.learner for (_, title), own in self.series.items()}
        return {title: names[title] for title in self.group.titles if title in names}

    @property
    def is_of_boxes(self) -> bool:
        """Whether the runs are in black boxes, where no regret is known."""
        return any(own.first.optimal_value is None for own in self.series.values())

    @property
    def learners(self) -> list[str]:
        """The titles of those that know nothing of p and have runs."""
        return [title for title in self.players if title not in self.group.yardsticks]

    @property
    def rows(self) -> dict[str, list[Series]]:
        """The series of each row that has any, by the name of its task."""
        rows: dict[str, list[Series]] = {}
        for (task, _), series in self.series.items():
            rows.setdefault(task, []).append(series)
        return rows


def spread(values: NDArray[np.float64]) -> float:
    """Return the standard deviation of numbers, one for each run; NaN for a single one."""
    return float(values.std(ddof=1)) if len(values) > 1 else float("nan")


def paired(members: Sequence[Series]) -> NDArray[np.float64]:
    """Return the final regrets float64[J, n] of J series, a column for each seed that all of them have."""
    finals = [dict(zip((run.seed for run in series.runs), series.final, strict=True)) for series in members]
    shared = [seed for seed in finals[0] if all(seed in own for own in finals)]
    return np.array([[own[seed] for seed in shared] for own in finals]).reshape(len(members), len(shared))


def series_of(runs: Iterable[Run]) -> list[Series]:
    """Group runs by what was played, in the order in which they first appear."""
    groups: dict[tuple[str, tuple[int, ...]], list[Run]] = {}
    for run in runs:
        groups.setdefault((Job.of(run).digest, run.seed[:1] + run.seed[2:]), []).append(run)
    return [Series.of(members) for members in groups.values()]


def read_folder(store: StoredRuns) -> list[Study]:
    """Read a folder, group by group as its experiment says; those without runs are left out."""
    runs, experiment = list(store.runs()), store.experiment()
    found = studies_of(runs, experiment.groups if experiment is not None else ())
    boxes = [run for run in runs if run.optimal_value is None]
    return [study for study in (*found, _other_study(boxes, BOXES)) if study.series]


def studies_of(runs: Iterable[Run], groups: Sequence[Group]) -> list[Study]:
    """Return a study for each group, and one more of the runs that belong to none, where regret is known."""
    jobs: dict[str, list[Run]] = {}
    for run in runs:
        if run.optimal_value is not None:
            jobs.setdefault(Job.of(run).digest, []).append(run)
    found = [_study(wanted, jobs) for wanted in groups]
    used = {id(run) for study in found for series in study.series.values() for run in series.runs}
    return [*found, _other_study([run for own in jobs.values() for run in own if id(run) not in used], OTHERS)]


def _study(group: Group, runs: Mapping[str, Sequence[Run]]) -> Study:
    """Collect the runs of a group, as many as there are of each cell."""
    series = {}
    for cell, job in group.cells.items():
        stored = runs.get(job.digest, ())
        own = [run for run in stored if len(run.seed) > 1 and run.seed == group.seed_of(run.seed[1])]
        if own:
            series[cell] = Series(tuple(own), *cell)
    return Study(group, series)


def _other_study(runs: Sequence[Run], title: str) -> Study:
    """Make a row of each task, length, seed and revision of the random streams, and a column of each learner."""
    members = series_of(sorted(runs, key=lambda run: (run.task, run.seed)))
    jobs = [Job.of(own.first) for own in members]
    lengths = [(job.task.digest, job.num_episodes, job.num_steps, job.test_every) for job in jobs]
    streams = [(job.rng_revision, job.seed[:1], job.seed[2:]) for job in jobs]
    tasks = distinct_names([*map(_row_name, members)], [*zip(lengths, streams, strict=True)])
    players = [json.dumps(job.learner.played, sort_keys=True) for job in jobs]
    cells = [*zip(tasks, distinct_names([own.title for own in members], players), strict=True)]
    part = GroupPart.model_construct(title=title, tasks=[SettingPart(task=name) for name in dict.fromkeys(tasks)])
    series = {cell: Series(own.runs, *cell) for cell, own in zip(cells, members, strict=True)}
    return Study(Group(part, dict(zip(cells, jobs, strict=True))), series)


def _row_name(series: Series) -> str:
    run = series.first
    if run.optimal_value is None:
        return series.task
    name = f"{series.task}, {plural(series.num_episodes, 'episode')}, seed {run.seed[0]}"
    return name if run.rng_revision == RNG_REVISION else f"{name}, random streams {run.rng_revision}"
