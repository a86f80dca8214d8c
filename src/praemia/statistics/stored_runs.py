"""Stored runs, grouped by what they share: series of one learner, settings, studies.

A ``Series`` is the runs of one learner in one setting; a ``Study`` is an experiment with the series of each of
its settings. What is computed from them is in ``intervals`` and ``claims``; ``report.run_tables`` shows it.

A store says which experiments were asked for, and by which command. Where one was asked for with several lengths,
seeds or random streams, the one with the most runs is the experiment, and the others are listed after it. Runs of
different revisions of the random streams are never combined.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from praemia.experiments.requests import unite
from praemia.experiments.settings import Experiment, Job, Setting, TaskText
from praemia.experiments.store import Store
from praemia.simulation import Run
from praemia.simulation.run import RNG_REVISION
from praemia.tasks.task import Task
from praemia.text_tables import plural


@dataclass(frozen=True, eq=False)
class Series:
    """The runs of one learner in one setting."""

    runs: tuple[Run, ...]

    @property
    def task(self) -> str:
        return self.first.task

    @property
    def title(self) -> str:
        return self.first.title

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
    def loaded_task(self) -> Task:
        """The task itself, made from the text that is stored with the runs."""
        return TaskText(self.first.task, self.first.task_text).make()

    @cached_property
    def final(self) -> NDArray[np.float64]:
        """float64[R], the regret of each run at its end; NaN on a black box."""
        return np.array([np.nan if run.optimal_value is None else run.regret[-1] for run in self.runs])

    @property
    def spread(self) -> float:
        """The standard deviation of the final regret over runs; NaN for a single one."""
        return float(self.final.std(ddof=1)) if self.num_runs > 1 else float("nan")

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
        """The median time of a run, NaN where it is not known: one run in a few had to compile first."""
        seconds = [run.seconds for run in self.runs if not np.isnan(run.seconds)]
        return float(np.median(seconds)) if seconds else float("nan")


@dataclass(frozen=True, eq=False)
class Study:
    """An experiment with its runs: the series of each setting, by the setting's name; and what asked for it."""

    name: str
    purpose: str
    settings: dict[str, list[Series]]
    command: str = ""

    @property
    def num_runs(self) -> int:
        return sum(series.num_runs for series in self.series)

    @property
    def rng_revision(self) -> int:
        """The revision of the random streams, the newest where there are several."""
        return max(series.first.rng_revision for series in self.series)

    @property
    def series(self) -> list[Series]:
        """All series, setting by setting."""
        return [series for members in self.settings.values() for series in members]


def paired(members: Sequence[Series]) -> NDArray[np.float64]:
    """Return the final regrets float64[J, n] of J series, a column for each seed that all of them have."""
    finals = [dict(zip((run.seed for run in series.runs), series.final, strict=True)) for series in members]
    shared = [seed for seed in finals[0] if all(seed in own for own in finals)]
    return np.array([[own[seed] for seed in shared] for own in finals]).reshape(len(members), len(shared))


def gather(store: Store, experiments: Iterable[Experiment]) -> list[Study]:
    """Read the runs of some experiments; return those that have any."""
    studies = [Study(e.name, e.purpose, collect(store, e.settings), e.command) for e in experiments]
    return [study for study in studies if study.settings]


def collect(store: Store, settings: Iterable[Setting]) -> dict[str, list[Series]]:
    """Read the runs of some settings; settings and learners without a single run are left out."""
    runs_of = {s.name: [run for job in s.jobs() if (run := store.read(job)) is not None] for s in settings}
    return {name: group(runs) for name, runs in runs_of.items() if runs}


def group(runs: Iterable[Run]) -> list[Series]:
    """Group runs by task, learner, parameters, length and seed, in the order in which they first appear."""
    groups: dict[tuple[object, ...], list[Run]] = {}
    for run in runs:
        key = (run.task, run.title, Job.of(run).digest, run.seed[:1], run.seed[2:])
        groups.setdefault(key, []).append(run)
    return [Series(tuple(members)) for members in groups.values()]


def discover(store: Store) -> list[Study]:
    """Return the experiments that a store was asked for and has runs of.

    Runs that belong to none of them are one more study. Runs on black boxes are left out: their regret is not known.
    """
    studies = gather(store, unite(store.asked()))
    paths = {store.path_of(Job.of(run)) for study in studies for series in study.series for run in series.runs}
    if others := [run for run in store.runs(paths) if run.optimal_value is not None]:
        studies.append(Study("other", "Runs that no experiment in this folder asks for", _other_settings(others)))
    return _named_apart(studies)


def _named_apart(studies: Sequence[Study]) -> list[Study]:
    """Name studies apart. The largest study keeps the plain name; ties go to the longest."""
    by_size = sorted(studies, key=lambda study: (-study.rng_revision, -study.num_runs, -study.series[0].num_episodes))
    first = {study.name: study for study in reversed(by_size)}
    leaders = [study for study in studies if first[study.name] is study]
    others = [study for study in studies if first[study.name] is not study]
    names = [_long_name(study) for study in others]
    numbers = [names[:place].count(name) + 1 for place, name in enumerate(names)]
    final = [name if number == 1 else f"{name} ({number})" for name, number in zip(names, numbers, strict=True)]
    return [*leaders, *(replace(study, name=name) for study, name in zip(others, final, strict=True))]


def _long_name(study: Study) -> str:
    run = study.series[0].first
    name = f"{study.name}, {plural(run.num_episodes, 'episode')}, seed {run.seed[0]}"
    return name if study.rng_revision == RNG_REVISION else f"{name}, random streams {study.rng_revision}"


def _other_settings(runs: Sequence[Run]) -> dict[str, list[Series]]:
    """Make a setting of each task, length and seed, and of each revision of the random streams."""
    settings: dict[str, list[Series]] = {}
    for series in group(sorted(runs, key=lambda run: (run.task, run.rng_revision, run.seed))):
        name = f"{series.task}, {plural(series.num_episodes, 'episode')}, seed {series.first.seed[0]}"
        if series.first.rng_revision != RNG_REVISION:
            name += f", random streams {series.first.rng_revision}"
        settings.setdefault(name, []).append(series)
    return settings
