"""What the commands that run experiments share: do what is missing, into a store, with progress."""

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


@dataclass(frozen=True)
class Where:
    """Where runs are done and kept, as the options of several commands say."""

    out: Path
    jobs: int | None
    engine: str | None
    shard: str | None
    policies: bool


def sweep_and_report(experiments: list[Experiment], where: Where) -> int:
    """Run experiments into a store; then write the report, and the figures if there is anything new.

    A shard is only a part, so it writes no report. Return the exit status.
    """
    from praemia.report.page import publish, write_report

    before = sum(1 for _ in where.out.glob("*/*/run-*.npz"))
    store, failures = sweep(experiments, where)
    after = len(store.files())
    if where.shard is not None or (failures and after == 0):
        return told(failures)
    report = where.out / "report.html"
    click.echo("writing the report", err=True)
    with compiling_notice():
        if after == before and (where.out / "figures").is_dir():
            write_report(store, experiments, report)
        else:
            publish(store, experiments, report)
    click.echo(f"the report is {report}, the figures are in {where.out / 'figures'}")
    return told(failures)


def sweep(experiments: Iterable[Experiment], where: Where) -> tuple[Store, list[Failure]]:
    """Run experiments into a store; return it, and what failed."""
    from praemia.experiments.runner import run_into_store
    from praemia.experiments.store import Store

    part = parse_shard(where.shard)
    store = Store.create(where.out)
    # Experiments share runs: each is done once.
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
    """Have Ctrl-C say what to do next."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(advice()) from None


def stored(store: Store, jobs: list[Job]) -> str:
    """Say how many runs are kept, and that they need not be done again."""
    done = sum(map(store.has, jobs))
    return f"run again to go on: {done} of {plural(len(jobs), 'run')} are stored in {store.folder}"


def told(failures: Iterable[Failure]) -> int:
    """Tell which learners failed, each in one line; return the exit status."""
    counted = Counter((failure.message, failure.is_bad_plan) for failure in failures)
    for (message, _), count in counted.items():
        click.echo(f"error: {message}" + (f", in {count} runs" if count > 1 else ""), err=True)
    if any(is_bad_plan for _, is_bad_plan in counted):
        return FAILURE
    return LEARNER_FAILED if counted else 0
