"""What the commands that run experiments share: do the missing runs, with progress, and write the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from praemia.cli import FAILURE, LEARNER_FAILED
from praemia.cli.common import parse_shard, plural
from praemia.cli.compiling import compiling_notice
from praemia.cli.progress import job_progress

if TYPE_CHECKING:
    from praemia.experiments.runner import Failure
    from praemia.experiments.settings import Experiment, Job
    from praemia.experiments.store import Store
    from praemia.statistics.stored_runs import Study


@dataclass(frozen=True)
class Where:
    """Where runs are computed and stored: the options that several commands share."""

    out: Path
    jobs: int | None
    engine: str | None
    shard: str | None
    policies: bool


def sweep_and_report(experiments: list[Experiment], where: Where) -> int:
    """Run experiments into a store and write the report; return the exit status.

    A shard is only a part, so it writes no report.
    """
    from praemia.statistics.stored_runs import gather

    before = num_stored(where.out)
    store, failures = sweep(experiments, where)
    after = num_stored(where.out)
    studies, damaged = gather(store, experiments) if where.shard is None else ([], [])
    if studies:
        publish_report(studies, damaged, where.out, is_new=after != before)
    return report_failures(failures)


def num_stored(folder: Path) -> int:
    """Return how many runs are stored in a folder, which need not exist yet."""
    from praemia.experiments.store import Store

    return len(Store(folder).files())


def publish_report(studies: list[Study], damaged: list[str], folder: Path, *, is_new: bool = True) -> None:
    """Write the report, and the figures unless they are there and nothing is new; say where they are."""
    from praemia.report.page import publish_studies

    report, figures = folder / "report.html", folder / "figures"
    click.echo("writing the report", err=True)
    with compiling_notice():
        publish_studies(studies, damaged, report, figures=is_new or not figures.is_dir())
    click.echo(f"the report is {report}, the figures are in {figures}")


def sweep(experiments: Iterable[Experiment], where: Where) -> tuple[Store, list[Failure]]:
    """Do the missing runs of some experiments; return the store and the failures."""
    from praemia.experiments.runner import run_into_store
    from praemia.experiments.store import Store

    part = parse_shard(where.shard)
    store = Store.create(where.out)
    # Experiments may share a run: it is done once.
    work = {store.path_of(job): job for experiment in experiments for job in experiment.jobs()}
    jobs = list(work.values())
    with advice_on_interrupt(lambda: stored(store, jobs)), job_progress() as progress:
        failures = run_into_store(
            jobs,
            store,
            num_workers=where.jobs,
            address=where.engine,
            shard=part,
            keep_policies=where.policies,
            progress=progress,
        )
    return store, failures


@contextmanager
def advice_on_interrupt(advice: Callable[[], str]) -> Iterator[None]:
    """Make Ctrl-C say what to do next."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(advice()) from None


def stored(store: Store, jobs: list[Job]) -> str:
    """Say how many runs are stored; they are not repeated."""
    done = sum(map(store.has, jobs))
    return f"run again to go on: {done} of {plural(len(jobs), 'run')} are stored in {store.folder}"


def report_failures(failures: Iterable[Failure]) -> int:
    """Print which learners failed, one line each; return the exit status."""
    counted = Counter((failure.message, failure.is_bad_plan) for failure in failures)
    for (message, _), count in counted.items():
        click.echo(f"error: {message}" + (f", in {count} runs" if count > 1 else ""), err=True)
    if any(is_bad_plan for _, is_bad_plan in counted):
        return FAILURE
    return LEARNER_FAILED if counted else 0
