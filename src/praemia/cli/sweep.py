"""What the commands that run experiments share: do the missing runs, with progress, and write the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import click

from praemia.cli import FAILURE, LEARNER_FAILED
from praemia.cli.common import Where, command_text, parse_shard, plural
from praemia.cli.compiling import compiling_notice
from praemia.cli.progress import job_progress

if TYPE_CHECKING:
    from praemia.experiments.runner import Failure
    from praemia.experiments.settings import Experiment, Job
    from praemia.experiments.store import Store
    from praemia.statistics.stored_runs import Study


class Sweep(NamedTuple):
    """What a sweep left behind."""

    store: Store
    experiments: list[Experiment]  # with the command that asked for them
    failures: list[Failure]
    has_new_runs: bool


def sweep(experiments: Iterable[Experiment], where: Where) -> Sweep:
    """Record what is asked for and do the missing runs."""
    from praemia.experiments.runner import run_into_store
    from praemia.experiments.store import Store

    assert where.out is not None
    part = parse_shard(where.shard)
    store = Store.create(where.out)
    asked = [replace(experiment, command=command_text()) for experiment in experiments]
    # Experiments may share a run: it is done once.
    jobs = list({store.path_of(job): job for experiment in asked for job in experiment.jobs()}.values())
    before = len(store.files())
    with advice_on_interrupt(lambda: stored(store, jobs)), job_progress() as progress:
        store.ask(asked)
        failures = run_into_store(
            jobs,
            store,
            num_workers=where.jobs,
            address=where.engine,
            shard=part,
            keep_policies=where.policies,
            progress=progress,
        )
    return Sweep(store, asked, failures, len(store.files()) != before)


def publish(done: Sweep, studies: list[Study], damaged: list[str]) -> None:
    """Write the report on some studies and say where it is.

    Figures that are there are not drawn again where nothing is new.
    """
    from praemia.report.page import write_report

    report, figures = done.store.folder / "report.html", done.store.folder / "figures"
    click.echo("writing the report", err=True)
    with compiling_notice():
        write_report(studies, damaged, report, figures=done.has_new_runs or not figures.is_dir())
    quiet = bool(click.get_current_context().params.get("as_json"))
    click.echo(f"the report is {report}, the figures are in {figures}", err=quiet)


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
