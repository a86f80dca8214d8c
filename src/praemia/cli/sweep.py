"""What the commands that run experiments share: do what is missing, into a store, with progress."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from praemia.cli.options import parse_shard
from praemia.cli.progress import job_progress

if TYPE_CHECKING:
    from praemia.experiments.settings import Experiment
    from praemia.experiments.store import Store


def sweep_and_report(
    experiments: list[Experiment], out: Path, jobs: int | None, engine: str | None, shard: str | None
) -> None:
    """Run experiments into the store at ``out``; then write the report, and the figures if there is anything new.

    A shard is only a part, so it writes no report.
    """
    from praemia.analysis.report import publish, write_report

    before = sum(1 for _ in out.glob("*/*/run-*.npz"))
    store = sweep(experiments, out, jobs, engine, shard)
    if shard is not None:
        return
    report = out / "report.html"
    click.echo("writing the report", err=True)
    if len(store.files()) == before and (out / "figures").is_dir():
        write_report(store, experiments, report)
    else:
        publish(store, experiments, report)
    click.echo(f"the report is {report}, the figures are in {out / 'figures'}")


def sweep(
    experiments: Iterable[Experiment], out: Path, jobs: int | None, engine: str | None, shard: str | None
) -> Store:
    """Run experiments into the store at ``out`` and return it."""
    from praemia.experiments.runner import run_into_store
    from praemia.experiments.store import Store

    part = parse_shard(shard)
    store = Store.create(out)
    # Experiments share runs: each is done once.
    work = {store.path_of(job): job for experiment in experiments for job in experiment.jobs()}
    with job_progress() as progress:
        run_into_store(
            list(work.values()),
            store,
            num_workers=jobs,
            address=engine,
            shard=part,
            on_start=progress.start,
            on_done=progress.done,
            on_damage=progress.damage,
        )
    return store
