"""Progress on standard error: a live line per setting on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from praemia.experiments.settings import Job

PLAIN_SECONDS = 5.0  # a plain line no more often than this
QUIET_SECONDS = 2.0  # what takes less long needs no line


class PlainProgress:
    """A line now and then, with what is done and the time left."""

    def __init__(self) -> None:
        self._began = self._last = time.monotonic()
        self._total = self._done = 0

    def start(self, jobs: list[Job], todo: list[Job]) -> None:
        self._total = len(todo)
        if len(todo) < len(jobs):
            click.echo(f"{len(jobs) - len(todo)} of {len(jobs)} runs are there already", err=True)

    def done(self, job: Job) -> None:
        self._done += 1
        now = time.monotonic()
        if now - self._last >= PLAIN_SECONDS or self._done == self._total:
            self._last = now
            left = (now - self._began) / self._done * (self._total - self._done)
            click.echo(f"{self._done}/{self._total} runs, now {job.task.name}, about {left:.0f} s left", err=True)

    def damage(self, message: str) -> None:
        click.echo(f"warning: {message}; it is done again", err=True)


class LiveProgress(PlainProgress):
    """A bar for each setting."""

    def __init__(self, bars: Any) -> None:
        super().__init__()
        self._bars = bars
        self._tasks: dict[str, Any] = {}

    def start(self, jobs: list[Job], todo: list[Job]) -> None:
        names = [job.task.name for job in jobs]
        left = [job.task.name for job in todo]
        for name in dict.fromkeys(names):
            total = names.count(name)
            self._tasks[name] = self._bars.add_task(name, total=total, completed=total - left.count(name))

    def done(self, job: Job) -> None:
        self._bars.advance(self._tasks[job.task.name])

    def damage(self, message: str) -> None:
        self._bars.console.print(f"warning: {message}; it is done again", markup=False, highlight=False)


class DrawProgress:
    """A line now and then about draws from the posterior, machine by machine."""

    def __init__(self, num_machines: int) -> None:
        self._last = time.monotonic()
        self._number, self._num_machines = 0, num_machines

    def __call__(self, machine: str) -> Callable[[int, int], None]:
        self._number += 1

        def report(done: int, total: int) -> None:
            now = time.monotonic()
            if now - self._last >= QUIET_SECONDS:
                self._last = now
                place = f"machine {self._number} of {self._num_machines}"
                click.echo(f"{place} ({machine}): {done:,} of {total:,} draws", err=True)

        return report


@contextmanager
def job_progress() -> Iterator[PlainProgress]:
    """Give something to report jobs to, fit for where standard error goes."""
    if not sys.stderr.isatty():
        yield PlainProgress()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bars:
        yield LiveProgress(bars)
