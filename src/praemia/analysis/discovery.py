"""What a store holds: its runs as the built-in experiments, and the rest.

A folder may hold several goes at the same experiment (a short trial, another seed). Of these the one with the most
runs is the experiment's; the others are listed after it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from praemia.analysis.results import Series, Study, group
from praemia.experiments.builtin import PAPER_LEARNERS, experiments, tuning
from praemia.experiments.league import NAME as LEAGUE
from praemia.experiments.league import contestants, league
from praemia.experiments.settings import Experiment, LearnerChoice
from praemia.experiments.store import Store
from praemia.simulation import Run

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
    played = {run.learner for run in runs}
    known = [name for name in contestants() if name in played]
    for experiment in [*experiments(), *([league(names=known)] if known else []), tuning()]:
        members = _best_go(_members(experiment, runs))
        if experiment.name == LEAGUE and {run.title for run in members} <= PAPER_TITLES:
            continue  # runs of the paper's learners, which the league shares, are no league
        if members:
            study = _study(experiment, members)
            studies.append(_evened(study) if experiment.name == LEAGUE else study)
            used.update(id(run) for series in studies[-1].series for run in series.runs)
    rest = [run for run in runs if id(run) not in used]
    if rest:
        studies.append(Study("other", "other runs in this folder", _other_settings(rest)))
    return studies, damaged


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
    """Keep the length and the seed with the most runs; of equals, the longest."""
    goes = Counter((run.num_episodes, run.seed[0]) for run in runs)
    if not goes:
        return []
    best = max(goes, key=lambda go: (goes[go], go[0], -go[1]))
    return [run for run in runs if (run.num_episodes, run.seed[0]) == best]


def _study(experiment: Experiment, runs: Iterable[Run]) -> Study:
    """Make a study; of a learner's runs with different parameters it takes those of which there are more."""
    settings: dict[str, dict[str, Series]] = {}
    for series in group(runs):
        known = settings.setdefault(series.task, {})
        if series.title not in known or known[series.title].num_runs < series.num_runs:
            known[series.title] = series
    return Study(experiment.name, experiment.purpose, {task: list(known.values()) for task, known in settings.items()})


def _evened(study: Study) -> Study:
    """Keep as many runs of each learner as all have on a task: a worst run among many is worse than one among few."""
    settings = {}
    for task, members in study.settings.items():
        least = min(series.num_runs for series in members)
        settings[task] = [replace(series, runs=series.runs[:least]) for series in members]
    return replace(study, settings=settings)


def _other_settings(runs: Iterable[Run]) -> dict[str, list[Series]]:
    """Make a setting of each task, length and seed."""
    settings: dict[str, list[Series]] = {}
    for series in group(sorted(runs, key=lambda run: (run.task, run.seed))):
        name = f"{series.task}, {series.num_episodes:,} episodes, seed {series.first.seed[0]}"
        settings.setdefault(name, []).append(series)
    return settings
