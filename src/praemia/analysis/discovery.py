"""What a store holds: its runs as the built-in experiments, and the rest.

A folder may hold several goes at the same experiment (a short trial, another seed, other random streams). Of these
the one with the newest streams and then the most runs is the experiment's; the others are listed after it. Runs of
different revisions of the random streams are never put together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from praemia import learners
from praemia.analysis.results import Series, Study, group
from praemia.experiments.builtin import PAPER_LEARNERS, experiments, tuning
from praemia.experiments.league import NAME as LEAGUE
from praemia.experiments.league import choices, contestants, league
from praemia.experiments.settings import Experiment, Job, LearnerChoice
from praemia.experiments.store import Store
from praemia.simulation import Run
from praemia.simulation.seeds import STREAMS

PAPER_TITLES = {choice.title for choice in PAPER_LEARNERS}


def read_all(store: Store) -> tuple[list[Run], list[str]]:
    """Read all runs of a store; return them and what was found damaged."""
    damaged: list[str] = []
    return list(store.runs(damaged.append)), damaged


def discover(store: Store) -> tuple[list[Study], list[str]]:
    """Return the experiments that a store has runs of, and what was found damaged.

    Runs on black boxes are left out: their regret is not known.
    """
    found, damaged = read_all(store)
    runs = [run for run in found if run.optimal_value is not None]
    studies: list[Study] = []
    used: set[int] = set()
    for experiment in [*experiments(), *_league(runs), tuning()]:
        study = _study(experiment, _best_go(_members(experiment, runs)))
        if experiment.name == LEAGUE:
            study = _without_passers_by(study)
            if {series.title for series in study.series} <= PAPER_TITLES:
                continue  # runs of the paper's learners, which the league shares, are no league
        if study.series:
            studies.append(study)
            used.update(id(run) for series in study.series for run in series.runs)
    rest = [run for run in runs if id(run) not in used]
    if rest:
        studies.append(Study("other", "other runs in this folder", _other_settings(rest)))
    return studies, damaged


def _league(runs: Sequence[Run]) -> list[Experiment]:
    """Return the league of all learners that have runs, those from files too; none where these play alone."""
    played = {run.learner for run in runs if not run.origin}
    known = [name for name in learners.names() if name in played]
    if not known:
        return []
    usual = league(names=known)
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
    """Tell whether a run is this learner's; a parameter that only one version knows makes no difference."""
    shared = run.parameters.keys() & choice.parameters.keys()
    alike = all(run.parameters[key] == choice.parameters[key] for key in shared)
    return (run.learner, run.title, run.origin) == (choice.name, choice.title, choice.origin) and alike


def _best_go(runs: Sequence[Run]) -> list[Run]:
    """Keep the newest streams, and of these the length and the seed with the most runs; of equals, the longest."""
    goes = Counter(map(_go, runs))
    if not goes:
        return []
    best = max(goes, key=lambda go: (go[0], goes[go], go[1], -go[2]))
    return [run for run in runs if _go(run) == best]


def _go(run: Run) -> tuple[int, int, int]:
    """Return what the runs of one go at an experiment share: random streams, length, seed."""
    return run.streams, run.num_episodes, run.seed[0]


def _study(experiment: Experiment, runs: Iterable[Run]) -> Study:
    """Make a study; of a learner's runs with different parameters it takes those of which there are more."""
    settings: dict[str, dict[str, Series]] = {}
    for series in group(runs):
        known = settings.setdefault(series.task, {})
        if series.title not in known or known[series.title].num_runs < series.num_runs:
            known[series.title] = series
    return Study(experiment.name, experiment.purpose, {task: list(known.values()) for task, known in settings.items()})


def _without_passers_by(study: Study) -> Study:
    """Leave out who plays in the league when named only, and has not played on all of its tasks."""
    usual = {title for name in contestants() for title in (choice.title for choice in choices(name))}
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
