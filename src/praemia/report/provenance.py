"""How the runs of a report were made: with which learners and versions, for how long, and by which commands."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from praemia.experiments.paper import TUNING
from praemia.report.rendering import Section
from praemia.statistics.stored_runs import Series, Study
from praemia.text_tables import Table, number


def provenance_section(studies: Sequence[Study]) -> Section:
    """Return what was run, with what, for how long, and how to do it again."""
    content = {
        "learners": _learners(studies),
        "effort": _effort(studies),
        "versions": _versions(studies),
        "commands": commands(studies),
    }
    return Section("made", "How it was made", "provenance.html.j2", content)


def commands(studies: Sequence[Study]) -> str:
    """Return the commands that asked for these runs, each once."""
    version = next((r.versions["praemia"] for study in studies for s in study.series for r in s.runs), None)
    lines = [] if version is None else [f"# with praemia {version} and its extras"]
    return "\n".join(dict.fromkeys((*lines, *(line for study in studies for line in study.command.splitlines()))))


def _learners(studies: Iterable[Study]) -> Table:
    rows: dict[tuple[str, str], tuple[str, ...]] = {}
    for study in studies:
        if study.name == TUNING:
            continue
        for series in study.series:
            run = series.first
            parameters = ", ".join(f"{key} = {value}" for key, value in sorted(run.parameters.items()))
            rows[series.title, parameters + run.origin] = (series.title, run.origin or run.learner, parameters)
    return Table(("learner", "name", "parameters"), list(rows.values()))


def _effort(studies: Iterable[Study]) -> Table:
    rows = []
    for study in studies:
        runs = [run for series in study.series for run in series.runs]
        seconds = [run.seconds for run in runs if not math.isnan(run.seconds)]
        rows.append(
            (
                study.purpose,
                str(len(study.settings)),
                str(len(runs)),
                _range(series.num_runs for series in study.series),
                _range(series.num_episodes for series in study.series),
                _seeds(study.series),
                number(sum(seconds) / 60 if seconds else math.nan),
            )
        )
    header = ("experiment", "settings", "runs", "runs each", "episodes", "seeds", "core minutes")
    return Table(header, rows)


def _range(values: Iterable[int]) -> str:
    distinct = sorted(set(values))
    return f"{distinct[0]:,}" if len(distinct) == 1 else f"{distinct[0]:,} to {distinct[-1]:,}"


def _seeds(members: Iterable[Series]) -> str:
    """Write seeds as ``0-0 … 0-15``, as in the names of the files."""
    seeds = sorted({run.seed for series in members for run in series.runs})
    first, last = ("-".join(map(str, seed)) for seed in (seeds[0], seeds[-1]))
    return first if first == last else f"{first} … {last}"


def _versions(studies: Iterable[Study]) -> Table:
    versions: dict[str, set[str]] = {}
    for study in studies:
        for series in study.series:
            for run in series.runs:
                for package, version in run.versions.items():
                    versions.setdefault(package, set()).add(version)
    rows = [(package, ", ".join(sorted(own))) for package, own in sorted(versions.items())]
    return Table(("package", "version"), rows)
