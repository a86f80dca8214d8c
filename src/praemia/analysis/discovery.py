"""What a store holds: its runs as the built-in experiments, and the rest.

A folder may hold several goes at the same experiment (a short trial, another seed). Of these the one with the most
runs is the experiment's; the others are listed after it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from praemia.analysis.results import Series, Study, group
from praemia.errors import FileError, PraemiaError
from praemia.experiments.builtin import PAPER_LEARNERS, experiments, tuning
from praemia.experiments.league import NAME as LEAGUE
from praemia.experiments.league import league
from praemia.experiments.records import Record, decode
from praemia.experiments.settings import Experiment, LearnerChoice
from praemia.experiments.store import Store

PAPER_TITLES = {choice.title for choice in PAPER_LEARNERS}


def read_all(store: Store) -> tuple[list[Record], list[str]]:
    """Read all runs of a store; return them and what was found damaged."""
    records: list[Record] = []
    damaged: list[str] = []
    for path in store.files():
        try:
            records.append(_read(store, path))
        except PraemiaError as error:
            damaged.append(str(error))
    return records, damaged


def _read(store: Store, path: Path) -> Record:
    job = decode(path.read_bytes(), str(path)).job
    if store.path_of(job) != path:
        raise FileError(f"{path}: the record of another run; it belongs to {store.path_of(job)}")
    return store.read(job)


def discover(store: Store) -> tuple[list[Study], list[str]]:
    """Return the experiments that a store has runs of, and what was found damaged."""
    records, damaged = read_all(store)
    studies: list[Study] = []
    used: set[int] = set()
    for experiment in [*experiments(), league(), tuning()]:
        members = _best_go(_members(experiment, records))
        if experiment.name == LEAGUE and {record.job.learner.title for record in members} <= PAPER_TITLES:
            continue  # runs of the paper's learners, which the league shares, are no league
        if members:
            study = _study(experiment, members)
            studies.append(_evened(study) if experiment.name == LEAGUE else study)
            used.update(id(record) for series in studies[-1].series for record in series.records)
    rest = [record for record in records if id(record) not in used]
    if rest:
        studies.append(Study("other", "other runs in this folder", _other_settings(rest)))
    return studies, damaged


def _members(experiment: Experiment, records: Iterable[Record]) -> list[Record]:
    """Return the runs of an experiment, of whatever length and seed, in its order of settings and learners."""
    by_task: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        by_task.setdefault((record.job.task.name, record.job.task.text), []).append(record)
    found = []
    for setting in experiment.settings:
        stream = (setting.stream,) if setting.stream else ()
        candidates = [r for r in by_task.get((setting.task.name, setting.task.text), []) if r.job.seed[2:] == stream]
        for choice in setting.choices:
            same = [record for record in candidates if _agrees(record.job.learner, choice)]
            found += sorted(same, key=lambda record: record.job.seed)
    return found


def _agrees(stored: LearnerChoice, choice: LearnerChoice) -> bool:
    """Tell whether a stored learner is this one; a parameter that only one version knows makes no difference."""
    shared = stored.parameters.keys() & choice.parameters.keys()
    alike = all(stored.parameters[key] == choice.parameters[key] for key in shared)
    return (stored.name, stored.title) == (choice.name, choice.title) and alike


def _best_go(records: Sequence[Record]) -> list[Record]:
    """Keep the length and the seed with the most runs; of equals, the longest."""
    goes = Counter((record.job.num_episodes, record.job.seed[0]) for record in records)
    if not goes:
        return []
    best = max(goes, key=lambda go: (goes[go], go[0], -go[1]))
    return [record for record in records if (record.job.num_episodes, record.job.seed[0]) == best]


def _study(experiment: Experiment, records: Iterable[Record]) -> Study:
    """Make a study; of a learner's runs with different parameters it takes those of which there are more."""
    settings: dict[str, dict[str, Series]] = {}
    for series in group(records):
        known = settings.setdefault(series.task, {})
        if series.title not in known or known[series.title].num_runs < series.num_runs:
            known[series.title] = series
    return Study(experiment.name, experiment.purpose, {task: list(known.values()) for task, known in settings.items()})


def _evened(study: Study) -> Study:
    """Keep as many runs of each learner as all have on a task: a worst run among many is worse than one among few."""
    settings = {}
    for task, members in study.settings.items():
        least = min(series.num_runs for series in members)
        settings[task] = [replace(series, records=series.records[:least]) for series in members]
    return replace(study, settings=settings)


def _other_settings(records: Iterable[Record]) -> dict[str, list[Series]]:
    """Make a setting of each task, length and seed."""
    settings: dict[str, list[Series]] = {}
    for series in group(sorted(records, key=lambda r: (r.job.task.name, r.job.seed))):
        seed = series.records[0].job.seed
        name = f"{series.task}, {series.num_episodes:,} episodes, seed {seed[0]}"
        settings.setdefault(name, []).append(series)
    return settings
