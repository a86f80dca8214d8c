"""Stored runs, grouped by what they share: series of one learner, settings, studies.

A ``Series`` is the runs of one learner in one setting; a ``Study`` is an experiment with the series of each of
its settings. What is computed from them is in ``intervals``, ``tables`` and ``claims``.

A folder may hold several attempts at the same experiment (a short trial, another seed, other random streams). The one
with the newest streams, and then the most runs, is the experiment's; the others are listed after it. Runs of different
revisions of the random streams are never combined.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from praemia import learners
from praemia.errors import PraemiaError
from praemia.experiments.league import NAME as LEAGUE
from praemia.experiments.league import YARDSTICKS, choices, contestants, league
from praemia.experiments.paper import PAPER_LEARNERS, experiments, tuning
from praemia.experiments.settings import Experiment, Job, LearnerChoice, Setting, TaskText
from praemia.experiments.store import Store
from praemia.simulation import Run
from praemia.simulation.run import STREAMS
from praemia.tasks.task import Task


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
        """The task itself, made from the text that is stored with the runs."""
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
        """The median time of a run, NaN where it is not known: one run in a few had to compile first."""
        known = [run.seconds for run in self.runs if not np.isnan(run.seconds)]
        return float(np.median(known)) if known else float("nan")


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
    """Read the runs of some experiments; return those that have any, and messages about damaged files."""
    damaged: list[str] = []
    studies = [Study(e.name, e.purpose, collect(store, e.settings, damaged.append)) for e in experiments]
    return [study for study in studies if study.settings], damaged


def collect(
    store: Store, settings: Iterable[Setting], on_damage: Callable[[str], None] | None = None
) -> dict[str, list[Series]]:
    """Read the runs of some settings; settings and learners without a single run are left out.

    A damaged file is an error, or reported to ``on_damage`` and left out.
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


PAPER_TITLES = {choice.title for choice in PAPER_LEARNERS}


def read_all(store: Store) -> tuple[list[Run], list[str]]:
    """Read all runs of a store; return them, and messages about damaged files."""
    damaged: list[str] = []
    return list(store.runs(damaged.append)), damaged


def discover(store: Store) -> tuple[list[Study], list[str]]:
    """Return the experiments that a store has runs of, and messages about damaged files.

    Runs on black boxes are left out: their regret is not known.
    """
    found, damaged = read_all(store)
    runs = [run for run in found if run.optimal_value is not None]
    studies: list[Study] = []
    used: set[int] = set()
    for experiment in [*experiments(), *_league(runs), tuning()]:
        study = _study(experiment, _best_attempt(_members(experiment, runs)))
        if experiment.name == LEAGUE:
            study = _without_partial_guests(study)
            if {series.title for series in study.series} <= PAPER_TITLES:
                continue  # only runs that the league shares with the paper's experiments
        if study.series:
            studies.append(study)
            used.update(id(run) for series in study.series for run in series.runs)
    rest = [run for run in runs if id(run) not in used]
    if rest:
        studies.append(Study("other", "other runs in this folder", _other_settings(rest)))
    return studies, damaged


def _league(runs: Sequence[Run]) -> list[Experiment]:
    """Return the league of all learners that have runs, also users' own; none if only these have."""
    played = {run.learner for run in runs if not run.origin}
    known = [name for name in learners.names() if name in played]
    if not known:
        return []
    usual = league(names=known, full=True)
    taken = {choice.title for choice in usual.settings[0].choices}
    outside = {run.title: Job.of(run).learner for run in runs if run.origin and run.title not in taken}
    every = (*usual.settings[0].choices, *outside.values())
    return [replace(usual, settings=tuple(replace(setting, choices=every) for setting in usual.settings))]


def _members(experiment: Experiment, runs: Iterable[Run]) -> list[Run]:
    """Return the runs of an experiment, of whatever length and seed, in its order of settings and learners."""
    by_task: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        by_task.setdefault((run.task, run.task_text), []).append(run)
    found = []
    for setting in experiment.settings:
        stream = (setting.stream,) if setting.stream else ()
        candidates = [r for r in by_task.get((setting.task.name, setting.task.text), []) if r.seed[2:] == stream]
        for choice in setting.choices:
            found += sorted((run for run in candidates if _agrees(run, choice)), key=lambda run: run.seed)
    return found


def _agrees(run: Run, choice: LearnerChoice) -> bool:
    """Tell whether a run is this learner's; parameters that only one of them has are ignored."""
    shared = run.parameters.keys() & choice.parameters.keys()
    alike = all(run.parameters[key] == choice.parameters[key] for key in shared)
    return (run.learner, run.title, run.origin) == (choice.name, choice.title, choice.origin) and alike


def _best_attempt(runs: Sequence[Run]) -> list[Run]:
    """Keep the newest streams, and of these the length and seed with the most runs; if tied, the longest."""
    attempts = Counter(map(_attempt, runs))
    if not attempts:
        return []
    best = max(attempts, key=lambda key: (key[0], attempts[key], key[1], -key[2]))
    return [run for run in runs if _attempt(run) == best]


def _attempt(run: Run) -> tuple[int, int, int]:
    """Return what the runs of one attempt at an experiment share: random streams, length, seed."""
    return run.streams, run.num_episodes, run.seed[0]


def _study(experiment: Experiment, runs: Iterable[Run]) -> Study:
    """Make a study; of a learner's runs with different parameters, keep the larger group."""
    settings: dict[str, dict[str, Series]] = {}
    for series in group(runs):
        known = settings.setdefault(series.task, {})
        if series.title not in known or known[series.title].num_runs < series.num_runs:
            known[series.title] = series
    return Study(experiment.name, experiment.purpose, {task: list(known.values()) for task, known in settings.items()})


def _without_partial_guests(study: Study) -> Study:
    """Leave out learners that join the league only when named and lack runs on some of its tasks."""
    usual = {title for name in (*contestants(), *YARDSTICKS) for title in (choice.title for choice in choices(name))}
    tasks = Counter(series.title for series in study.series)
    settings = {
        task: [s for s in members if s.title in usual or tasks[s.title] == len(study.settings)]
        for task, members in study.settings.items()
    }
    return replace(study, settings={task: members for task, members in settings.items() if members})


def _other_settings(runs: Sequence[Run]) -> dict[str, list[Series]]:
    """Make a setting of each task, length and seed, and of each revision of the random streams."""
    settings: dict[str, list[Series]] = {}
    for series in group(sorted(runs, key=lambda run: (run.task, run.streams, run.seed))):
        name = f"{series.task}, {series.num_episodes:,} episodes, seed {series.first.seed[0]}"
        if series.first.streams != STREAMS:
            name += f", random streams {series.first.streams}"
        settings.setdefault(name, []).append(series)
    return settings
