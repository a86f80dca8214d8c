"""``praemia results``: what a folder of runs holds."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from praemia.cli.output import json_option, print_json, print_table

if TYPE_CHECKING:
    from praemia.analysis.results import Series

HEADER = ("task", "learner", "episodes", "seed", "runs", "regret", "± std")


@click.command("results")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--csv", "csv_file", type=click.Path(path_type=Path), help="Write a row per run as CSV.")
@click.option("--parquet", "parquet_file", type=click.Path(path_type=Path), help="Write a row per run as parquet.")
@json_option
def command(folder: Path, csv_file: Path | None, parquet_file: Path | None, as_json: bool) -> None:
    """List the runs in DIR: tasks, learners, how many runs, and the final exact regret.

    Damaged files are reported and left out.
    """
    from praemia.analysis.discovery import read_all
    from praemia.analysis.export import write_csv, write_parquet
    from praemia.analysis.results import group
    from praemia.experiments.store import Store

    runs, damaged = read_all(Store.open(folder))
    members = group(runs)
    for message in damaged:
        click.echo(f"warning: {message}", err=True)
    for write, file in ((write_csv, csv_file), (write_parquet, parquet_file)):
        if file is not None:
            write(members, file)
            click.echo(f"wrote {file}", err=True)
    if as_json:
        print_json({"results": [_entry(series) for series in members], "damaged": damaged})
    elif members:
        print_table(HEADER, [_line(series) for series in members])
    else:
        click.echo("no runs yet", err=True)


def _seed(series: Series) -> str:
    """Write what the seeds of a series share: the seed, and the stream if it is not that of reported runs."""
    seed = series.first.seed
    return "-".join(str(part) for part in (*seed[:1], *seed[2:]))


def _known(value: float) -> float | None:
    """Return a number as JSON has it: what is not known, as on a black box, is null."""
    return None if math.isnan(value) else float(value)


def _entry(series: Series) -> dict[str, Any]:
    import numpy as np

    return {
        "task": series.task,
        "learner": series.title,
        "parameters": series.first.parameters,
        "episodes": series.num_episodes,
        "seed": _seed(series),
        "runs": series.num_runs,
        "regret": _known(series.final.mean()),
        "std": _known(series.spread),
        "mean_return": float(np.mean([run.returns.mean() for run in series.runs])),
    }


def _line(series: Series) -> tuple[str, ...]:
    regret, spread = ("–" if math.isnan(x) else f"{x:.2f}" for x in (series.final.mean(), series.spread))
    return (series.task, series.title, f"{series.num_episodes:,}", _seed(series), str(series.num_runs), regret, spread)
