"""Stored runs, grouped by what they share.

A ``Series`` is the runs of one learner in one setting; a ``Study`` is an experiment with the series of each of
its settings. What is computed from them is in ``intervals``, ``tables`` and ``claims``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from praemia.errors import PraemiaError
from praemia.experiments.settings import Experiment, Job, Setting, TaskText
from praemia.experiments.store import Store
from praemia.models.task import Task
from praemia.simulation import Run


@dataclass(frozen=True, eq=False)
class Series:
    """The runs of one learner in one setting."""

    task: str
    title: str
    runs: tuple[Run, ...]

    @property
    def num_runs(self) -> int:
        return len(self.runs)

    @property
    def first(self) -> Run:
        """The first run, which says what all of them share: learner, parameters, episodes."""
        return self.runs[0]

    @property
    def num_episodes(self) -> int:
        return self.first.num_episodes

    @cached_property
    def model(self) -> Task:
        """The task itself, made again from the text that is kept with the runs."""
        return TaskText(self.first.task, self.first.task_text).make()

    @cached_property
    def final(self) -> NDArray[np.float64]:
        """float64[R], the exact regret of each run at its end; NaN on a black box."""
        return np.array([np.nan if run.optimal_value is None else run.regret[-1] for run in self.runs])

    @property
    def spread(self) -> float:
        """The standard deviation of the final regret over runs; 0 for a single one."""
        return float(self.final.std(ddof=1)) if self.num_runs > 1 else 0.0

    def curves(self, episodes: NDArray[np.int64]) -> NDArray[np.float64]:
        """float64[R, len(episodes)], the exact regret of each run after some numbers of episodes (1 … K)."""
        return np.stack([run.regret[episodes - 1] for run in self.runs])

    @property
    def late_slope(self) -> float:
        """The mean regret per 1,000 episodes over the last tenth of the runs."""
        last = max(1, self.num_episodes // 10)
        ends = self.curves(np.array([max(1, self.num_episodes - last), self.num_episodes]))
        return float((ends[:, 1] - ends[:, 0]).mean() / last * 1000)

    @property
    def seconds(self) -> float:
        """The mean time of a run, NaN where it is not known."""
        known = [run.seconds for run in self.runs if not np.isnan(run.seconds)]
        return float(np.mean(known)) if known else float("nan")


@dataclass(frozen=True, eq=False)
class Study:
    """An experiment with its runs: the series of each setting, by the setting's name."""

    name: str
    purpose: str
    settings: dict[str, list[Series]]

    @property
    def series(self) -> list[Series]:
        """All series, setting by setting."""
        return [series for members in self.settings.values() for series in members]


def paired(members: Sequence[Series]) -> NDArray[np.float64]:
    """Return the final regrets float64[J, n] of J series, a column for each seed that all of them have."""
    finals = [dict(zip((run.seed for run in series.runs), series.final, strict=True)) for series in members]
    shared = [seed for seed in finals[0] if all(seed in known for known in finals)]
    return np.array([[known[seed] for seed in shared] for known in finals]).reshape(len(members), len(shared))


def gather(store: Store, experiments: Iterable[Experiment]) -> tuple[list[Study], list[str]]:
    """Read the runs of some experiments; return those that have any, and what was found damaged."""
    damaged: list[str] = []
    studies = [Study(e.name, e.purpose, collect(store, e.settings, damaged.append)) for e in experiments]
    return [study for study in studies if study.settings], damaged


def collect(
    store: Store, settings: Iterable[Setting], on_damage: Callable[[str], None] | None = None
) -> dict[str, list[Series]]:
    """Read the runs of some settings; settings and learners without a single run are left out.

    A damaged file is an error, or handed to ``on_damage`` and left out.
    """
    found: dict[str, list[Series]] = {}
    for setting in settings:
        stored = []
        for job in setting.jobs():
            try:
                if store.has(job):
                    stored.append(store.read(job))
            except PraemiaError as error:
                if on_damage is None:
                    raise
                on_damage(str(error))
        if stored:
            found[setting.name] = group(stored)
    return found


def group(runs: Iterable[Run]) -> list[Series]:
    """Group runs by task, learner, parameters, length and seed, in the order in which they first appear."""
    groups: dict[tuple[object, ...], list[Run]] = {}
    for run in runs:
        key = (run.task, run.title, Job.of(run).digest, run.seed[:1], run.seed[2:])
        groups.setdefault(key, []).append(run)
    return [Series(members[0].task, members[0].title, tuple(members)) for members in groups.values()]
