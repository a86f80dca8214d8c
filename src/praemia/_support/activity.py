"""What is going on: how far workers are, and the display of it on standard error.

Each worker writes to its own place on a board, an array in shared memory, without locks: a worker that is killed
cannot block the others. A display reads the board several times a second. On a terminal it is rich's, elsewhere a line
is printed now and then; work that takes less than two seconds is not mentioned.
"""

from __future__ import annotations

import multiprocessing
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import timedelta
from multiprocessing.context import BaseContext
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from praemia._support.text_tables import are, plural
from praemia.errors import visible

if TYPE_CHECKING:
    from rich.progress import Task, TaskID

OnProgress: TypeAlias = Callable[[int, int], None]  # how much is done so far, and of how much
# The share of the run in progress that is done (0 without a run), and how many kernels are being compiled.
PLACE = np.dtype([("share", np.float64), ("compiling", np.int64)])
TICK_SECONDS = 0.1
FIRST_SECONDS = 2.0  # until work is mentioned
LINE_SECONDS = 5.0  # between two lines
BREAK_SECONDS = 1.0  # shorter breaks between two kernels do not end the notice
SMALL_PART = 0.01  # of the work: what is done before counts for no estimate
COMPILING = "compiling, first time only"


class _Own:
    """This process's place, and the board that it reads: its workers' where it has any, else its own place."""

    place: NDArray[np.void] = np.zeros(1, PLACE)
    board: NDArray[np.void] = place
    is_watching = False
    is_displayed = False
    seconds_compiling = 0.0


def read_board() -> NDArray[np.void]:
    """Return what this process or its workers are doing, a ``PLACE`` for each."""
    return _Own.board.copy()


@contextmanager
def report_progress(length: int) -> Iterator[Callable[[int], None]]:
    """Yield the function that reports how many episodes, or steps, of a run were played."""
    place = _Own.place

    def report(played: int) -> None:
        place["share"] = played / length

    try:
        yield report
    finally:
        place["share"] = 0.0


@contextmanager
def shared_board(context: BaseContext, num_workers: int) -> Iterator[tuple[Any, ...]]:
    """Make a board for worker processes; yield the arguments of ``join_board``, which each of them calls first."""
    memory = context.RawArray("b", PLACE.itemsize * num_workers)
    _Own.board = np.frombuffer(memory, PLACE)
    try:
        yield memory, context.Value("i", 0)
    finally:
        _Own.board = _Own.place


def join_board(memory: Any, num_taken: Any) -> None:
    """Take the next place on a board, in a worker process."""
    with num_taken.get_lock():
        number, num_taken.value = num_taken.value, num_taken.value + 1
    board = np.frombuffer(memory, PLACE)
    start = number % len(board)
    _Own.place = _Own.board = board[start : start + 1]
    watch_compiling()


def working_time() -> float:
    """Return the seconds of a clock that stands still while Numba compiles, or loads and stores what it compiled."""
    watch_compiling()
    return time.perf_counter() - _Own.seconds_compiling


def watch_compiling() -> None:
    """Note on the board whenever Numba compiles something; loading from its cache does not count there."""
    from numba.core import event

    class Notes(event.Listener):
        def on_start(self, event: Any) -> None:
            _Own.place["compiling"] += 1

        def on_end(self, event: Any) -> None:
            _Own.place["compiling"] -= 1

    class Clock(event.Listener):
        depth, began = 0, 0.0

        def on_start(self, event: Any) -> None:
            self.began = self.began if self.depth else time.perf_counter()
            self.depth += 1

        def on_end(self, event: Any) -> None:
            self.depth -= 1
            _Own.seconds_compiling += 0.0 if self.depth else time.perf_counter() - self.began

    if not _Own.is_watching:
        _Own.is_watching = True
        event.register("numba:compile", Notes())  # type: ignore[no-untyped-call]
        event.register("numba:compiler_lock", Clock())  # type: ignore[no-untyped-call]


class Display:
    """What is going on: each piece of work is a row of rich's progress display."""

    def __init__(self, first_seconds: float = FIRST_SECONDS) -> None:
        from rich import progress
        from rich.console import Console

        self.bars = progress.Progress(
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TaskProgressColumn(),
            progress.TimeElapsedColumn(),
            progress.TextColumn("{task.fields[left]}"),
            console=Console(stderr=True),
            auto_refresh=False,
            transient=True,
        )
        self._is_terminal = sys.stderr is not None and sys.stderr.isatty()
        self._first_seconds, self._next_line = first_seconds, 0.0
        self._shown: Task | None = None  # the row that the last line was about
        self._compiling: TaskID | None = None
        self._last_compiled = 0.0
        self._runs: TaskID | None = None
        self._finished = 0  # runs

    def count(self, what: str) -> Callable[..., None]:
        """Return the function to call with how many are done, of how many, and the part of the work in hand."""
        row: TaskID | None = None

        def report(done: int, total: int) -> None:
            nonlocal row
            if row is None:
                row = self._add(what, total)
            elif done < self._row(row).completed:  # it began again
                self.bars.reset(row, total=total, first=0, since=None, left="")
            self.bars.update(row, completed=done)

        return report

    def work(self, what: str) -> None:
        """Show for how long something takes whose end is not known."""
        if all(row.description != what for row in self.bars.tasks):
            self._add(what, None)

    def start(self, jobs: list[Any], todo: list[Any]) -> None:
        """Show a row for all runs."""
        self._finished = len(jobs) - len(todo)
        if self._finished:
            say(f"{self._finished} of {plural(len(jobs), 'run')} {are(len(jobs))} already stored")
        tasks = {job.task.name for job in jobs}
        what = tasks.pop() if len(tasks) == 1 else "all tasks"
        self._runs = self._add(f"{what}, runs", len(jobs), self._finished)

    def done(self) -> None:
        """Note that a run is finished."""
        self._finished += 1

    def tick(self) -> None:
        """Look at what the workers are doing, and show it."""
        board, now = read_board(), time.monotonic()
        if (board["compiling"] > 0).any():
            self._last_compiled = now
            if self._compiling is None:
                self._compiling = self._add(COMPILING, None)
        elif self._compiling is not None and now > self._last_compiled + BREAK_SECONDS:
            self.bars.remove_task(self._compiling)
            self._compiling = None
        if self._runs is not None:  # a run's share is taken back a moment before the run counts as finished
            completed = max(self._row(self._runs).completed, self._finished + float(board["share"].sum()))
            self.bars.update(self._runs, completed=completed)
        for row in self.bars.tasks:
            self._estimate(row)
        rows = [row for row in self.bars.tasks if not row.finished and (row.elapsed or 0.0) >= self._first_seconds]
        if rows and self._is_terminal:
            self.bars.start()
            self.bars.refresh()
        elif rows and now >= self._next_line:
            self._next_line, self._shown = now + LINE_SECONDS, rows[-1]
            say(_line(rows[-1]))

    def stop(self) -> None:
        """Show the end of the work: bars vanish, and the last line is not one of work that goes on."""
        self._last_compiled = -BREAK_SECONDS
        self.tick()
        if self.bars.live.is_started:
            self.bars.stop()
        if self._shown is not None and self._shown.finished:
            say(_line(self._shown))

    def _add(self, what: str, total: int | None, completed: int = 0) -> TaskID:
        return self.bars.add_task(visible(what), total=total, completed=completed, first=completed, since=None, left="")

    def _estimate(self, row: Task) -> None:
        """Note how long a row will take, by its speed since a hundredth of it was done.

        What comes before is the time in which workers start and compile.
        """
        if row.total is None:
            return
        part, now = SMALL_PART * (row.total - row.fields["first"]), self.bars.get_time()
        began, done = row.fields["since"] or (now, row.fields["first"])
        if row.completed < done + part:
            return
        if row.fields["since"] is None:
            self.bars.update(row.id, since=(now, row.completed))
            return
        seconds = round((row.total - row.completed) / (row.completed - done) * (now - began))
        self.bars.update(row.id, left=f"about {timedelta(seconds=seconds)} left" if seconds else "")

    def _row(self, row: TaskID) -> Task:
        return next(task for task in self.bars.tasks if task.id == row)


def _line(row: Task) -> str:
    """Write a row as a line: what is done, and the time that is left or that it has taken."""
    if row.total is None:
        return f"{row.description}: {row.elapsed or 0.0:.0f} s"
    left = row.fields["left"] and f", {row.fields['left']}"
    return f"{row.description}: {int(row.completed):,} of {int(row.total):,}, {row.percentage:.0f}%{left}"


def say(line: str) -> None:
    """Print a line on standard error, above the bars where there are any; work goes on if nobody can read it."""
    with suppress(OSError):
        if sys.stderr is not None:
            print(visible(line), file=sys.stderr, flush=True)


@contextmanager
def display(first_seconds: float = FIRST_SECONDS) -> Iterator[Display]:
    """Show the progress of what is done meanwhile, and when code is being compiled."""
    from praemia.kernels.compiling import Announcement

    watch_compiling()
    Announcement.is_wanted = False  # the display has a notice of its own
    screen, is_over, was_displayed = Display(first_seconds), threading.Event(), _Own.is_displayed

    def repeat() -> None:
        while not is_over.wait(TICK_SECONDS):
            screen.tick()

    thread = threading.Thread(target=repeat, daemon=True)
    _Own.is_displayed = True
    thread.start()
    try:
        yield screen
    finally:
        is_over.set()
        thread.join()
        screen.stop()
        _Own.is_displayed = was_displayed


@contextmanager
def displayed_count(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Yield the function to call with how many are done: they are shown unless something else shows progress."""
    began = time.monotonic()
    with ExitStack() as stack:
        counts: list[Callable[..., None]] = []

        def report(done: int) -> None:
            is_late = time.monotonic() - began > FIRST_SECONDS
            if is_late and not counts and not _Own.is_displayed and multiprocessing.parent_process() is None:
                counts.append(stack.enter_context(display(first_seconds=0.0)).count(what))
            for count in counts:
                count(done, total)

        yield report
