"""``praemia tune``: the search for a learner's parameters."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

import click

from praemia.cli.common import (
    RunOptions,
    episodes_option,
    learners_option,
    parse_settings,
    runs_option,
    seed_option,
    tasks_option,
    where_options,
)
from praemia.cli.experiments import report_failures, sweep
from praemia.cli.output import emit, json_option
from praemia.errors import ParameterError
from praemia.text_tables import Table, number

if TYPE_CHECKING:
    from praemia.experiments.settings import LearnerChoice
    from praemia.statistics.stored_runs import Series


@click.command("tune")
@tasks_option("the paper's")
@click.option("--only", multiple=True, metavar="SETTING", help="One of the paper's settings; may be repeated.")
@learners_option()
@click.option(
    "--try", "tries", multiple=True, metavar="NAME=V1,V2", help="Values of a parameter; may be repeated for others."
)
@runs_option(4)
@episodes_option(10_000)
@seed_option
@where_options("results-tuning", "Folder for the runs; stored runs are not repeated.")
@json_option
def tune_command(
    tasks: tuple[str, ...],
    only: tuple[str, ...],
    names: tuple[str, ...],
    tries: tuple[str, ...],
    runs: int,
    episodes: int,
    seed: int,
    **where: Any,
) -> int:
    """Search for parameters: all combinations of the values to try, with equal budgets, on tasks or on the paper's.

    Without --learner, the paper's candidates for the exploration coefficients are tried, six for each learner. The
    seeds differ from those of reported runs, so that a parameter is never judged on the runs that chose it.

    \b
    praemia tune --task rooms-5 --learner headroom --try headroom_scale=0.3,0.6,1
    praemia tune --task my-task.yaml --learner my.py:MyLearner --try bonus_scale=1,2
    """
    from praemia.experiments.paper import select, tuning
    from praemia.experiments.settings import TaskText
    from praemia.statistics.stored_runs import collect

    if tasks and only:
        raise click.UsageError("--task and --only together; --only is for the paper's settings")
    (search,) = select([tuning(runs, episodes, seed, _candidates(names, tries), [*map(TaskText.of, tasks)])], only)
    keys = list(parse_tries(tries)) or ["bonus_scale"]
    store, _, failures, _ = sweep([search], RunOptions(**where), is_reported=False)
    stored = collect(store, search.settings)
    budget = Counter(choice.name for choice in search.settings[0].choices)
    failed = {(failure.job.task.name, failure.job.learner.name): set[str]() for failure in failures}
    for failure in failures:
        label = _label(failure.job.learner.parameters, keys)
        failed[failure.job.task.name, failure.job.learner.name].add(label)
    results = [entry for task, members in stored.items() for entry in _entries(task, members, keys, budget, failed)]
    emit({"episodes": episodes, "runs": runs, "results": results}, _table(results) if results else "")
    return report_failures(failures)


def parse_tries(items: tuple[str, ...]) -> dict[str, list[Any]]:
    """Parse ``name=v1,v2`` options: the values to try for each parameter."""
    values: dict[str, list[Any]] = {}
    for item in items:
        name, equals, texts = item.partition("=")
        if not (equals and name.strip() and all(text.strip() for text in texts.split(","))):
            raise ParameterError(f"--try {item}; expected NAME=V1,V2, such as bonus_scale=0.01,0.1")
        for text in texts.split(","):
            for key, value in parse_settings((f"{name}={text}",)).items():
                values.setdefault(key, []).append(value)
    return values


def _candidates(names: tuple[str, ...], tries: tuple[str, ...]) -> tuple[LearnerChoice, ...]:
    """Return each learner with all combinations of values; nothing if neither learners nor values are named."""
    from praemia.experiments.settings import LearnerChoice

    if bool(names) != bool(tries):
        lacking = "--try NAME=V1,V2" if names else "--learner NAME"
        raise ParameterError(f"{lacking} is missing; --learner and --try belong together")
    values = parse_tries(tries)
    combinations = [dict(zip(values, combination, strict=True)) for combination in product(*values.values())]
    return tuple(LearnerChoice.of(name, **own) for name in dict.fromkeys(names) for own in combinations if own)


def _label(parameters: Mapping[str, Any], keys: list[str]) -> str:
    return ", ".join(f"{key}={parameters[key]}" for key in keys)


def _entries(
    task: str,
    members: Iterable[Series],
    keys: list[str],
    budget: Counter[str],
    failed: Mapping[tuple[str, str], set[str]],
) -> list[dict[str, Any]]:
    """Return the mean regret of each combination on a task, and the best combination.

    A combination that failed is listed as failed; a learner with runs still to do is left out.
    """
    from praemia.statistics.intervals import mean_interval

    by_learner: dict[str, dict[str, Series]] = {}
    for series in members:
        by_learner.setdefault(series.first.learner, {})[_label(series.first.parameters, keys)] = series
    entries = []
    for learner, series_of in by_learner.items():
        failures = failed.get((task, learner), set())
        candidates = {label: series for label, series in series_of.items() if label not in failures}
        if not candidates or len(candidates) + len(failures) < budget[learner]:
            continue
        intervals = {label: mean_interval(series.final) for label, series in candidates.items()}
        best = candidates[min(intervals, key=lambda label: intervals[label].estimate)].first
        entries.append(
            {
                "task": task,
                "learner": learner,
                "best": {key: best.parameters[key] for key in keys},
                "regret": {label: interval.estimate for label, interval in intervals.items()},
                "interval": {label: [i.low, i.high] for label, i in intervals.items()},
                "failed": sorted(failures),
            }
        )
    return entries


def _table(results: list[dict[str, Any]]) -> Table:
    """Return a row for each combination, the best of each learner on each task first; failures come last."""
    rows = []
    for entry in results:
        best = _label(entry["best"], list(entry["best"]))
        for label in sorted(entry["regret"], key=entry["regret"].get):
            ends = [number(end) if math.isfinite(end) else "–" for end in entry["interval"][label]]
            note = "best" if label == best else ""
            rows.append((entry["task"], entry["learner"], label, number(entry["regret"][label]), *ends, note))
        rows += [(entry["task"], entry["learner"], label, "failed", "", "", "") for label in entry["failed"]]
    return Table(("task", "learner", "parameters", "regret", "95% low", "95% high", ""), rows)
