"""The report's last section: learners and their coefficients, versions, seeds, times, and how to repeat it all."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

from praemia.experiments.league import NAME as LEAGUE
from praemia.experiments.league import YARDSTICKS, contestants
from praemia.experiments.league_tasks import LARGE, SETTINGS_OF_THE_PAPER, UNTOUCHED
from praemia.experiments.paper import experiments
from praemia.report.html import table
from praemia.statistics.stored_runs import Series, Study
from praemia.statistics.tables import number


def provenance_section(studies: Sequence[Study]) -> str:
    """Say what was run, with what, for how long, and how to do it again."""
    return "\n".join(
        [
            '<h2 id="made">How it was made</h2>',
            "<h3>Learners and their coefficients</h3>",
            _learners(studies),
            "<h3>Runs, seeds and times</h3>",
            _effort(studies),
            "<h3>Versions</h3>",
            _versions(studies),
            "<h3>How to repeat it</h3>",
            "<p>Each run depends on its task, learner, number of episodes and seed alone, whatever the number of "
            "workers: the same versions give the same bytes.</p>",
            f"<pre>{escape(commands(studies))}</pre>",
        ]
    )


def commands(studies: Sequence[Study]) -> str:
    """Return the commands that make these runs again."""
    lines = []
    version = next((r.versions["praemia"] for study in studies for s in study.series for r in s.runs), None)
    if version is not None:
        lines.append(f"# with praemia {version} and its extras")
    known = {experiment.name for experiment in experiments()}
    for study in studies:
        first, runs = study.series[0], max(series.num_runs for series in study.series)
        options = f"--runs {runs} --episodes {first.num_episodes} --seed {first.first.seed[0]}"
        if study.name in known:
            lines.append(f"praemia reproduce --only {study.name} {options}")
        elif study.name == LEAGUE:
            full = set(LARGE) <= set(study.settings)  # runs of the large tasks are shorter: --full knows how long
            lines.append(
                f"praemia league {f'--full --seed {first.first.seed[0]}' if full else options}{_chosen(study)}"
            )
        elif study.name == "tuning":
            lines.append(f"praemia tune {options}")
        else:
            lines.append(f"praemia experiment FILE  # {study.name}: the tasks and learners above, in a file")
    return "\n".join(lines)


def _chosen(study: Study) -> str:
    """Return the options that name the tasks and the learners of a league that is not the usual one."""
    found = [series.first for series in study.series]
    names = dict.fromkeys(run.origin.partition("@")[0] or run.learner for run in found)
    usual = set(study.settings) - set(LARGE) == {*UNTOUCHED, *SETTINGS_OF_THE_PAPER}
    tasks = [] if usual else list(study.settings)
    learners = [] if {run.learner for run in found} == {*contestants(), *YARDSTICKS} else list(names)
    return "".join([*(f" --task {task}" for task in tasks), *(f" --learner {name}" for name in learners)])


def _learners(studies: Iterable[Study]) -> str:
    rows: dict[tuple[str, str], tuple[str, ...]] = {}
    for study in studies:
        if study.name == "tuning":
            continue
        for series in study.series:
            run = series.first
            listed = ", ".join(f"{key} = {value}" for key, value in sorted(run.parameters.items()))
            rows[series.title, listed + run.origin] = (series.title, run.origin or run.learner, listed)
    return table(("learner", "name", "parameters"), rows.values())


def _effort(studies: Iterable[Study]) -> str:
    rows = []
    for study in studies:
        runs = [run for series in study.series for run in series.runs]
        seconds = [run.seconds for run in runs if not math.isnan(run.seconds)]
        rows.append(
            (
                study.name,
                str(len(study.settings)),
                str(len(runs)),
                _range(series.num_runs for series in study.series),
                _range(series.num_episodes for series in study.series),
                _seeds(study.series),
                number(sum(seconds) / 60 if seconds else math.nan),
            )
        )
    header = ("experiment", "settings", "runs", "runs each", "episodes", "seeds", "core minutes")
    return table(header, rows)


def _range(values: Iterable[int]) -> str:
    found = sorted(set(values))
    return f"{found[0]:,}" if len(found) == 1 else f"{found[0]:,} to {found[-1]:,}"


def _seeds(members: Iterable[Series]) -> str:
    """Write seeds as ``0-0 … 0-15``, as in the names of the files."""
    seeds = sorted({run.seed for series in members for run in series.runs})
    first, last = ("-".join(map(str, seed)) for seed in (seeds[0], seeds[-1]))
    return first if first == last else f"{first} … {last}"


def _versions(studies: Iterable[Study]) -> str:
    found: dict[str, set[str]] = {}
    for study in studies:
        for series in study.series:
            for run in series.runs:
                for package, version in run.versions.items():
                    found.setdefault(package, set()).add(version)
    return table(("package", "version"), [(package, ", ".join(sorted(found[package]))) for package in sorted(found)])
