"""Progress on standard error: live bars on a terminal, plain lines elsewhere, with the time left."""

from __future__ import annotations

import sys
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from praemia import activity
from praemia.cli.compiling import Row, compiling_notice, ticking

if TYPE_CHECKING:
    from praemia.experiments.settings import Job


ENOUGH_SECONDS = 1.0  # of work before the first estimate
# If no run is finished, this share of the work must be: a run starts slowly, because it plans often at first.
ENOUGH_WORK = 0.05
LATELY = 0.75  # the speed is measured over the last quarter of the time


class TimeLeft:
    """Estimate the time left from how many runs are done, counting parts of runs.

    The clock stops while workers compile, or load compiled code.
    """

    def __init__(self, total: float) -> None:
        self._total = total
        self._clock, self._work = [0.0], [0.0]

    def note(self, work: float, seconds: float, num_working: int, num_waiting: int) -> None:
        """Record how much is done, and how many workers worked or waited in the seconds since the last record."""
        active = num_working + num_waiting
        # Workers of a cluster report nothing but results; local ones that report nothing are still starting.
        alone = 1.0 if work > 0 else 0.0
        passed = seconds * (num_working / active if active else alone)
        self._clock.append(self._clock[-1] + passed)
        self._work.append(work)

    def seconds(self) -> float | None:
        """Return the time left in seconds; None while it is too early to tell."""
        now, work = self._clock[-1], self._work[-1]
        if now < ENOUGH_SECONDS or work < min(1.0, ENOUGH_WORK * self._total):
            return None
        since = bisect_right(self._clock, LATELY * now) - 1
        lately = work - self._work[since]
        passed = now - self._clock[since]
        speed = lately / passed if lately > 0 else work / now
        return (self._total - work) / speed

    def __str__(self) -> str:
        left = self.seconds()
        if left is None:
            return ""
        if left < 90:
            return f"about {left:.0f} s left"
        minutes = round(left / 60)
        return f"about {minutes} min left" if minutes < 90 else f"about {left / 3600:.1f} h left"


FIRST_SECONDS, PLAIN_SECONDS = 2.0, 5.0  # until the first plain line, and between later ones
QUIET_SECONDS = 2.0  # work that takes less prints no line


class PlainProgress:
    """A line now and then, with what is done and the time left."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._total, self._left = Counter[str](), Counter[str]()
        self._todo = 0
        self._time_left = TimeLeft(0)
        self._last, self._next_line = time.monotonic(), time.monotonic() + FIRST_SECONDS

    def start(self, jobs: list[Job], todo: list[Job]) -> None:
        self._total, self._left = (Counter(job.task.name for job in some) for some in (jobs, todo))
        self._names = {activity.name_key(name): name for name in self._total}
        self._todo = len(todo)
        self._time_left = TimeLeft(self._todo)
        if len(todo) < len(jobs):
            self._say(f"{len(jobs) - len(todo)} of {len(jobs)} runs are already stored")

    def done(self, job: Job) -> None:
        self._left[job.task.name] -= 1

    def damage(self, message: str) -> None:
        self._say(f"warning: {message}; this run is repeated")

    def tick(self) -> None:
        """Look at what the workers are doing, and show it."""
        now, places = time.monotonic(), activity.places()
        shares = dict.fromkeys(self._total, 0.0)  # of the runs in progress, added up for each task
        for place in places:
            if place.name in self._names:
                shares[self._names[place.name]] += place.share
        working = sum(place.name != 0 and place.share > 0 and not place.is_compiling for place in places)
        waiting = sum(place.name != 0 or place.is_compiling for place in places) - working
        work = self._todo - self._left.total() + sum(shares.values())
        self._time_left.note(work, now - self._last, working, waiting)
        self._last = now
        self._show(shares, now)

    def _show(self, shares: dict[str, float], now: float) -> None:
        total, left = self._total.total(), self._left.total()
        if not left or now < self._next_line:
            return
        self._next_line = now + PLAIN_SECONDS
        share = (total - left + sum(shares.values())) / total
        if share > 0:
            self._say(", ".join(filter(None, [f"{total - left}/{total} runs", f"{share:.0%}", str(self._time_left)])))

    def _say(self, line: str) -> None:
        click.echo(line, err=True)


class LiveProgress(PlainProgress):
    """A bar for each setting."""

    def __init__(self, bars: Any) -> None:
        super().__init__()
        self._bars = bars
        self._rows: dict[str, Any] = {}
        self._sum: Any = None  # the row of all tasks together, if there are several

    def start(self, jobs: list[Job], todo: list[Job]) -> None:
        super().start(jobs, todo)
        self._rows = {name: self._add(name, total) for name, total in self._total.items()}
        self._sum = self._add("all", len(jobs)) if len(self._rows) > 1 else None

    def _add(self, title: str, total: int) -> Any:
        return self._bars.add_task(title, total=total, runs="", left="")

    def _show(self, shares: dict[str, float], now: float) -> None:
        alone = "" if self._sum is not None else str(self._time_left)
        for name, row in self._rows.items():
            self._update(row, self._total[name], self._left[name], shares.get(name, 0.0), alone)
        if self._sum is not None:
            whole = self._total.total(), self._left.total(), sum(shares.values())
            self._update(self._sum, *whole, str(self._time_left))

    def _update(self, row: Any, total: int, left: int, share: float, time_left: str) -> None:
        done = total - left
        runs = f"{done}/{total} runs"
        self._bars.update(row, completed=done + share, runs=runs, left=time_left if left else "")

    def _say(self, line: str) -> None:
        self._bars.console.print(line, markup=False, highlight=False)


class CountProgress:
    """A line now and then for work that counts something: how many are done, and the time left."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._time_left: TimeLeft | None = None
        self._first, self._last, self._next_line = 0, 0.0, 0.0

    def __call__(self, done: int, total: int, about: str = "") -> None:
        """Note that some of all are done; ``about`` names the part of the work in hand."""
        now = time.monotonic()
        if self._time_left is None:  # what came before includes compiling, which says nothing about the speed
            self._time_left = TimeLeft(total - done)
            self._first, self._last, self._next_line = done, now, now + QUIET_SECONDS
            return
        self._time_left.note(done - self._first, now - self._last, 1, 0)
        self._last = now
        if now >= self._next_line and done < total:
            self._next_line = now + QUIET_SECONDS
            parts = (f"{done:,} of {total:,} {self._what}{about}", str(self._time_left))
            click.echo(", ".join(filter(None, parts)), err=True)


class StillWorking:
    """A line now and then, once started, for work that counts nothing: what is being done, and for how long."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._began, self._next_line = 0.0, float("inf")

    def start(self) -> None:
        self._began = time.monotonic()
        self._next_line = self._began + QUIET_SECONDS

    def tick(self) -> None:
        now = time.monotonic()
        if now >= self._next_line:
            self._next_line = now + PLAIN_SECONDS
            click.echo(f"{self._what}: {now - self._began:.0f} s", err=True)


@contextmanager
def job_progress() -> Iterator[PlainProgress]:
    """Yield the progress display that suits standard error: bars on a terminal, lines elsewhere."""
    if not sys.stderr.isatty():
        progress = PlainProgress()
        with compiling_notice(), ticking(progress.tick):
            yield progress
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[runs]}"),
        TaskProgressColumn(),
        TextColumn("{task.fields[left]}"),
    )
    with Progress(*columns, console=Console(stderr=True)) as bars:
        live = LiveProgress(bars)
        with ticking(live.tick), compiling_notice(Row(bars)):
            yield live
