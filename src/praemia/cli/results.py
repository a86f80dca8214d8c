"""``praemia results`` and ``praemia report``: what a folder of runs holds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from praemia.cli.common import file_option
from praemia.cli.output import emit, json_option, report_written
from praemia.cli.progress import say
from praemia.errors import ParameterError, require
from praemia.text_tables import Table, are, plural

if TYPE_CHECKING:
    from praemia.statistics.stored_runs import Series

HEADER = ("task", "learner", "episodes", "seed", "runs", "regret", "95% low", "95% high", "std")


@click.command("results")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@file_option("--csv", "csv_file", help="Write a row per run to a CSV file.")
@file_option("--parquet", "parquet_file", help="The same as parquet.")
@click.option("--curves", is_flag=True, help="Write a row per point where a run's regret bends, not per run.")
@json_option
def results_command(folder: Path, csv_file: Path | None, parquet_file: Path | None, curves: bool) -> None:
    """List the runs in DIR: tasks, learners, how many runs, and the mean final exact regret with its 95% interval.

    Damaged files are reported and left out.
    """
    from praemia.experiments.store import Store
    from praemia.statistics.frames import curve_columns, run_columns, write_csv, write_parquet
    from praemia.statistics.stored_runs import group

    if curves and csv_file is None and parquet_file is None:
        raise ParameterError("--curves says what is written; give a file with --csv or --parquet")
    if csv_file is not None and parquet_file is not None and csv_file.resolve() == parquet_file.resolve():
        raise ParameterError(f"--csv and --parquet both name {str(csv_file)!r}; give each a file of its own")
    if parquet_file is not None:
        require("pyarrow.parquet")
    store = Store.open(folder)
    runs = list(store.runs())
    damaged = list(store.damaged.values())
    for message in damaged:
        say(f"warning: {message}")
    columns = curve_columns if curves else run_columns
    for write, file in ((write_csv, csv_file), (write_parquet, parquet_file)):
        if file is not None:
            write(columns(runs), file)
    report_written(csv_file, parquet_file)
    entries = [_entry(series) for series in group(runs)]
    if not entries:
        say("no runs yet")
    emit({"results": entries, "damaged": damaged}, _table(entries) if entries else "")


def results_table(members: Iterable[Series]) -> Table:
    """Return the runs of learners on tasks as a table: how many, and the mean final regret with its 95% interval."""
    return _table([_entry(series) for series in members])


def _table(entries: Sequence[dict[str, Any]]) -> Table:
    several = len({entry["streams"] for entry in entries}) > 1
    tasks = [entry["task"] for entry in entries]
    for key in ("discount", "until_done", "step_budget", "task_digest"):
        tasks = _told_apart(tasks, tasks, key, entries)
    lines = [_line({**e, "task": task}, with_streams=several) for e, task in zip(entries, tasks, strict=True)]
    learners = _told_apart([line[1] for line in lines], [line[:4] for line in lines], "digest", entries)
    return Table(HEADER, [(line[0], name, *line[2:]) for line, name in zip(lines, learners, strict=True)])


def _told_apart(
    cells: Sequence[str], names: Sequence[object], key: str, entries: Sequence[dict[str, Any]]
) -> list[str]:
    """Add the value of a key, unless it is None, to the cells of entries that have one name and several values."""
    values: dict[object, set[object]] = {}
    for name, entry in zip(names, entries, strict=True):
        values.setdefault(name, set()).add(entry[key])
    together = zip(cells, names, entries, strict=True)
    return [
        f"{cell}, {key}={entry[key]}" if len(values[name]) > 1 and entry[key] is not None else cell
        for cell, name, entry in together
    ]


def _seed(series: Series) -> str:
    """Write what the seeds of a series share: the seed, and the stream if it is not that of reported runs."""
    seed = series.first.seed
    return "-".join(str(part) for part in (*seed[:1], *seed[2:]))


def _entry(series: Series) -> dict[str, Any]:
    import numpy as np

    from praemia.experiments.settings import Job
    from praemia.statistics.intervals import mean_interval

    regret, job = mean_interval(series.final), Job.of(series.first)
    return {
        "task": series.task,
        "learner": series.title,
        "parameters": series.first.parameters,
        "episodes": series.num_episodes,
        "seed": _seed(series),
        "streams": series.first.rng_revision,
        "discount": series.first.discount,
        "until_done": series.first.until_done,
        "step_budget": series.first.step_budget,
        "task_digest": job.task.digest,
        "digest": job.digest,
        "runs": series.num_runs,
        "regret": regret.estimate,
        "low": regret.low,
        "high": regret.high,
        "std": series.spread,
        "mean_return": float(np.mean([run.returns.mean() for run in series.runs])),
    }


def _line(entry: dict[str, Any], *, with_streams: bool) -> tuple[str, ...]:
    values = [entry[key] for key in ("regret", "low", "high", "std")]
    numbers = (f"{value:.2f}" if math.isfinite(value) else "–" for value in values)
    seed = f"{entry['seed']} (streams {entry['streams']})" if with_streams else entry["seed"]
    return (entry["task"], entry["learner"], f"{entry['episodes']:,}", seed, str(entry["runs"]), *numbers)


@click.command("report")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("-o", "--out", type=click.Path(path_type=Path), help="The report; by default DIR/report.html.")
@click.option("--figures/--no-figures", default=True, help="Draw the figures too, into a folder beside the report.")
def report_command(folder: Path, out: Path | None, figures: bool) -> None:
    """Write a report on the runs in DIR: what held, curves, tables, tasks, and how it was made.

    The report is one file that needs no network. Figures are written as PNG and SVG.
    """
    from praemia.errors import FileError
    from praemia.experiments.store import Store
    from praemia.report.page import write_report
    from praemia.statistics.stored_runs import discover

    if figures:
        require("matplotlib.figure")
    store = Store.open(folder)
    studies = discover(store)
    if not studies:
        also = f" ({plural(len(store.damaged), 'damaged file')})" if store.damaged else ""
        raise FileError(f"{folder}: there are no runs to report on{also}; praemia reproduce makes them")
    path = folder / "report.html" if out is None else out
    _, *files = write_report(studies, store.damaged.values(), path, figures=figures)
    also = (
        f"; {plural(len(files), 'file')} of figures {are(len(files))} in {path.parent / 'figures'}" if figures else ""
    )
    click.echo(f"the report is {path}{also}")
