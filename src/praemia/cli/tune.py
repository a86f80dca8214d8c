"""``praemia tune``: the search for the exploration coefficients."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from praemia.cli.options import engine_options, episodes_option, out_option, runs_option, seed_option
from praemia.cli.output import json_option, print_json, print_table


@click.command("tune")
@click.option("--only", multiple=True, metavar="SETTING", help="A setting such as warehouse-3; may be repeated.")
@runs_option(4)
@episodes_option(10_000)
@seed_option
@engine_options
@out_option("results-tuning", "Where the runs go; runs that are there are not done again.")
@json_option
def command(
    only: tuple[str, ...],
    runs: int,
    episodes: int,
    seed: int,
    jobs: int | None,
    engine: str | None,
    shard: str | None,
    out: Path,
    as_json: bool,
) -> None:
    """Search for the exploration coefficients: the paper's candidates, six for each learner, equal budgets.

    The seeds are none of those that are reported, so that a coefficient is never judged on the runs that chose it.
    """
    from praemia.analysis.results import collect
    from praemia.cli.sweep import sweep
    from praemia.experiments.builtin import CANDIDATES, select, tuning

    chosen = select([tuning(runs, episodes, seed)], only)
    store = sweep(chosen, out, jobs, engine, shard)
    found = collect(store, chosen[0].settings)
    means = {
        (task, series.records[0].job.learner.name, series.records[0].job.learner.parameters["bonus_scale"]): float(
            series.final.mean()
        )
        for task, members in found.items()
        for series in members
    }
    best: list[dict[str, Any]] = [
        {"task": task, "learner": name, "best": scale, "regret": {str(s): means[task, name, s] for s in candidates}}
        for task in found
        for name, candidates in CANDIDATES.items()
        if all((task, name, s) in means for s in candidates)
        for scale in [min(candidates, key=lambda s: means[task, name, s])]
    ]
    if as_json:
        print_json({"episodes": episodes, "runs": runs, "results": best})
        return
    header = ("task", "learner", "best", *(f"#{i + 1}" for i in range(6)))
    rows = [
        (
            str(row["task"]),
            str(row["learner"]),
            f"{row['best']:g}",
            *(f"{scale}: {regret:.1f}" for scale, regret in row["regret"].items()),
        )
        for row in best
    ]
    print_table(header, rows)
