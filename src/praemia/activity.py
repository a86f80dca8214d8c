"""What workers are doing: how far the run is that each is playing, and whether anything is being compiled.

Each worker writes to its own place on a board, an array in shared memory, without locks: a worker that is killed
cannot block the others. The progress display reads the board several times a second.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.context import BaseContext
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

OnProgress: TypeAlias = Callable[[int, int], None]  # how much is done so far, and of how much
# The share of the run in progress that is done (0 without a run), and how many kernels are being compiled.
PLACE = np.dtype([("share", np.float64), ("compiling", np.int64)])


class Progress:
    """What is called while jobs are done, to show their progress; this one shows nothing."""

    def start(self, jobs: list[Any], todo: list[Any]) -> None:
        """Take note of all jobs, and of those whose runs are not stored yet."""

    def done(self) -> None:
        """Take note that a job is finished."""


SILENCE = Progress()


class _Own:
    """This process's place, and the board that it reads: its workers' where it has any, else its own place."""

    place: NDArray[np.void] = np.zeros(1, PLACE)
    board: NDArray[np.void] = place
    listener: Any = None
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
    """Return the seconds of a clock that stands still while Numba compiles."""
    watch_compiling()
    return time.perf_counter() - _Own.seconds_compiling


def watch_compiling() -> None:
    """Note on the board whenever Numba compiles something; loading from its cache does not count."""
    from numba.core import event

    class Notes(event.Listener):
        depth, began = 0, 0.0

        def on_start(self, event: Any) -> None:
            self.began = self.began if self.depth else time.perf_counter()
            self.depth += 1
            _Own.place["compiling"] += 1

        def on_end(self, event: Any) -> None:
            self.depth -= 1
            _Own.seconds_compiling += 0.0 if self.depth else time.perf_counter() - self.began
            _Own.place["compiling"] -= 1

    if _Own.listener is None:
        _Own.listener = Notes()
        event.register("numba:compile", _Own.listener)  # type: ignore[no-untyped-call]
