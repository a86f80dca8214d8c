"""``praemia tune``: the search for a learner's parameters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from praemia.cli.completion import complete_learners
from praemia.cli.options import (
    engine_options,
    episodes_option,
    out_option,
    parse_settings,
    policies_option,
    runs_option,
    seed_option,
)
from praemia.cli.output import json_option, print_json, print_table
from praemia.errors import ParameterError

if TYPE_CHECKING:
    from praemia.analysis.results import Series
    from praemia.experiments.settings import LearnerChoice


@click.command("tune")
@click.option("--only", multiple=True, metavar="SETTING", help="A setting such as warehouse-3; may be repeated.")
@click.option(
    "--learner",
    "names",
    multiple=True,
    metavar="NAME",
    shell_complete=complete_learners,
    help="A learner, or file.py:Class; may be repeated.",
)
@click.option(
    "--try", "tries", multiple=True, metavar="NAME=V1,V2", help="Values of a parameter; may be repeated for others."
)
@runs_option(4)
@episodes_option(10_000)
@seed_option
@engine_options
@out_option("results-tuning", "Where the runs go; runs that are there are not done again.")
@policies_option
@json_option
def command(
    only: tuple[str, ...],
    names: tuple[str, ...],
    tries: tuple[str, ...],
    runs: int,
    episodes: int,
    seed: int,
    jobs: int | None,
    engine: str | None,
    shard: str | None,
    out: Path,
    policies: bool,
    as_json: bool,
) -> int:
    """Search for parameters: all combinations of the values to try, on the paper's tasks, by equal budgets.

    Without --learner these are the paper's candidates for the exploration coefficients, six for each learner. The
    seeds are none of those that are reported, so that a parameter is never judged on the runs that chose it.

    \b
    praemia tune --learner my_learner.py:MyLearner --try bonus_scale=0.01,0.1,1 --only warehouse-3
    """
    from praemia.analysis.results import collect
    from praemia.cli.sweep import Where, sweep, told
    from praemia.experiments.builtin import select, tuning

    chosen = select([tuning(runs, episodes, seed, _candidates(names, tries))], only)
    tried = list(parse_tries(tries)) or ["bonus_scale"]
    store, failures = sweep(chosen, Where(out, jobs, engine, shard, policies))
    found = collect(store, chosen[0].settings)
    budget = Counter(choice.name for choice in chosen[0].settings[0].choices)
    results = [entry for task, members in found.items() for entry in _entries(task, members, tried, budget)]
    if as_json:
        print_json({"episodes": episodes, "runs": runs, "results": results})
    elif results:
        _show(results)
    return told(failures)


def parse_tries(items: tuple[str, ...]) -> dict[str, list[Any]]:
    """Read ``name=v1,v2`` options: the values to try of each parameter."""
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


def _entries(task: str, members: Iterable[Series], tried: list[str], budget: Counter[str]) -> list[dict[str, Any]]:
    """Return what each combination lost on average on a task, and the best; of learners all of whose runs are there."""
    by_learner: dict[str, dict[str, Series]] = {}
    for series in members:
        label = ", ".join(f"{key}={series.first.parameters[key]}" for key in tried)
        by_learner.setdefault(series.first.learner, {})[label] = series
    entries = []
    for learner, candidates in by_learner.items():
        if len(candidates) < budget[learner]:
            continue
        means = {label: float(series.final.mean()) for label, series in candidates.items()}
        best = candidates[min(means, key=lambda label: means[label])].first
        chosen = {key: best.parameters[key] for key in tried}
        entries.append({"task": task, "learner": learner, "best": chosen, "regret": means})
    return entries


def _show(results: list[dict[str, Any]]) -> None:
    most = max(len(entry["regret"]) for entry in results)
    rows = []
    for entry in results:
        best = ", ".join(f"{key}={value}" for key, value in entry["best"].items())
        cells = [f"{label}: {mean:.1f}" for label, mean in entry["regret"].items()]
        rows.append((entry["task"], entry["learner"], best, *cells, *[""] * (most - len(cells))))
    print_table(("task", "learner", "best", *(f"#{i + 1}" for i in range(most))), rows)
