"""``praemia results``: what a folder of runs holds."""

from __future__ import annotations

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

    records, damaged = read_all(Store.open(folder))
    members = group(records)
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
    seed = series.records[0].job.seed
    return "-".join(str(part) for part in (*seed[:1], *seed[2:]))


def _entry(series: Series) -> dict[str, Any]:
    return {
        "task": series.task,
        "learner": series.title,
        "parameters": dict(series.choice.parameters),
        "episodes": series.num_episodes,
        "seed": _seed(series),
        "runs": series.num_runs,
        "regret": float(series.final.mean()),
        "std": series.spread,
    }


def _line(series: Series) -> tuple[str, ...]:
    regret, spread = f"{series.final.mean():.2f}", f"{series.spread:.2f}"
    return (series.task, series.title, f"{series.num_episodes:,}", _seed(series), str(series.num_runs), regret, spread)
