"""Progress on standard error: bars on a terminal, a line now and then elsewhere, with the time left.

Work that takes less than two seconds is not mentioned. The time left is computed from the speed so far; time in which
code was compiled says nothing about it and is not counted.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from praemia import activity
from praemia.cli.output import echo
from praemia.errors import visible
from praemia.text_tables import are, plural

if TYPE_CHECKING:
    from rich.progress import Task, TaskID

    from praemia.experiments.jobs import Job

TICK_SECONDS = 0.1
FIRST_SECONDS = 2.0  # until work is mentioned
LEAST_SECONDS = 1.0  # of work, to tell its speed from
LINE_SECONDS = 5.0  # between two lines
BREAK_SECONDS = 1.0  # shorter breaks between two kernels do not end the notice
COMPILING, PROMISE = "compiling, once", "later runs start without this wait"


class Display(activity.Progress):
    """What is going on: each piece of work is a row of rich's progress display.

    On a terminal the rows are shown as bars. Elsewhere the last row is printed as a line, now and then.
    """

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            TaskProgressColumn,
            TextColumn,
            TimeElapsedColumn,
        )

        self.bars = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.fields[count]}", markup=False),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            console=Console(stderr=True),
            transient=True,
        )
        self._is_terminal = sys.stderr.isatty()
        self._next_line = 0.0
        self._told: Task | None = None  # the row that the last line was about
        self._compiling: TaskID | None = None
        self._last_compiled = 0.0
        self._last_tick, self._compiled = time.monotonic(), 0.0  # seconds of compiling, up to the last tick
        self._runs: TaskID | None = None
        self._finished = 0  # runs

    def count(self, what: str) -> Callable[..., None]:
        """Return the function to call with how many are done, of how many, and the part of the work in hand."""
        row: TaskID | None = None

        def report(done: int, total: int, about: str = "") -> None:
            nonlocal row
            if row is None:  # what came before includes compiling, which says nothing about the speed
                row = self._add(what, total, done)
            if done < self._task(row).completed:  # it began anew
                self.bars.reset(row, total=total, began=(self._worked, 0))
            self.bars.update(row, description=f"{what}{about}", completed=done, count=f"{done:,} of {total:,}")

        return report

    def work(self, what: str) -> None:
        """Show for how long something takes that counts nothing."""
        if all(row.description != visible(what) for row in self.bars.tasks):
            self._add(what)

    def start(self, jobs: list[Job], todo: list[Job]) -> None:
        """Show a row for all runs."""
        self._finished = len(jobs) - len(todo)
        if self._finished:
            say(f"{self._finished} of {plural(len(jobs), 'run')} {are(len(jobs))} already stored")
        tasks = {job.task.name for job in jobs}
        self._runs = self._add(tasks.pop() if len(tasks) == 1 else "all tasks", len(jobs), self._finished)

    def done(self) -> None:
        """Note that a run is finished."""
        self._finished += 1

    def tick(self) -> None:
        """Look at what the workers are doing, and show it."""
        board, now = activity.read_board(), time.monotonic()
        is_compiling = bool((board["compiling"] > 0).any())
        self._compiled += now - self._last_tick if is_compiling else 0.0
        self._last_tick = now
        self._look_for_compiling(is_compiling)
        self._look_for_runs(float(board["share"].sum()))
        for row in self.bars.tasks:
            row.fields["left"] = self._time_left(row)
        rows = [row for row in self.bars.tasks if not row.finished and (row.elapsed or 0.0) >= FIRST_SECONDS]
        if not rows:
            return
        if self._is_terminal:
            for row in rows:
                row.visible = True
            self.bars.start()
        elif now >= self._next_line and (rows[-1].total is None or rows[-1].completed):
            self._next_line, self._told = now + LINE_SECONDS, rows[-1]
            say(_line(rows[-1]))
            if rows[-1].id == self._compiling:
                rows[-1].fields["count"] = ""  # the promise is made once

    def stop(self) -> None:
        """Show the end of the work: bars vanish, and the last line is not one of work that goes on."""
        self.tick()
        self._look_for_compiling(False, at_once=True)
        if self.bars.live.is_started:
            self.bars.stop()
        if self._told is not None and self._told.finished:
            self._told.fields["left"] = ""
            say(_line(self._told))

    def _add(self, what: str, total: float | None = None, completed: int = 0, count: str = "") -> TaskID:
        began = (self._worked, completed)
        texts = {"count": count, "left": ""}
        return self.bars.add_task(visible(what), True, total, completed, visible=False, began=began, **texts)

    @property
    def _worked(self) -> float:
        """A clock that stands still while something is compiled."""
        return time.monotonic() - self._compiled

    def _time_left(self, row: Task) -> str:
        """Say how long a row still takes at its speed so far; nothing, as long as that is not known."""
        if row.completed <= row.fields["began"][1]:  # what comes before the first progress says nothing about the speed
            row.fields["began"] = (self._worked, row.completed)
        worked, completed = self._worked - row.fields["began"][0], row.completed - row.fields["began"][1]
        if row.total is None or worked < LEAST_SECONDS or completed <= 0.0:
            return ""
        return f"{_duration((row.total - row.completed) * worked / completed)} left"

    def _task(self, row: TaskID) -> Task:
        return next(task for task in self.bars.tasks if task.id == row)

    def _look_for_compiling(self, is_compiling: bool, *, at_once: bool = False) -> None:
        now = time.monotonic()
        if is_compiling:
            self._last_compiled = now
            if self._compiling is None:
                self._compiling = self._add(COMPILING, count=PROMISE)
        elif self._compiling is not None and (at_once or now > self._last_compiled + BREAK_SECONDS):
            self.bars.remove_task(self._compiling)
            self._compiling = None

    def _look_for_runs(self, shares: float) -> None:
        if self._runs is not None:
            task = self._task(self._runs)
            # A run's share is taken back a moment before the run counts as finished.
            completed = max(task.completed, self._finished + shares)
            count = f"{self._finished}/{plural(round(task.total or 0), 'run')}"
            self.bars.update(self._runs, completed=completed, count=count)


def _line(row: Task) -> str:
    """Write a row as a line: what is done, and the time that is left or that it has taken."""
    if row.total is None:
        return f"{row.description}: " + (row.fields["count"] or f"{row.elapsed or 0.0:.0f} s")
    left = f", about {row.fields['left']}" if row.fields["left"] else ""
    return f"{row.description}: {row.fields['count']}, {row.percentage:.0f}%{left}"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5_400 else f"{seconds / 3_600:.1f} h"


def say(line: str) -> None:
    """Print a line on standard error, above the bars where there are any."""
    echo(line, err=True)


@contextmanager
def display() -> Iterator[Display]:
    """Show the progress of what is done meanwhile, and when code is being compiled."""
    from praemia.kernels.compiling import Announcement

    activity.watch_compiling()
    Announcement.is_wanted = False  # the display has a notice of its own
    screen, is_over = Display(), threading.Event()

    def repeat() -> None:
        while not is_over.wait(TICK_SECONDS):
            screen.tick()

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield screen
    finally:
        is_over.set()
        thread.join()
        screen.stop()
