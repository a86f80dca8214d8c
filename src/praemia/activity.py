"""What workers are doing: how far each run in progress is, and whether anything is being compiled.

Each worker writes to its own place on a board, an array in shared memory, without locks: a worker that is killed
cannot block the others. The progress display reads the board several times a second.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, MutableSequence
from contextlib import contextmanager
from multiprocessing.context import BaseContext
from typing import Any, NamedTuple

_SIZE = 3  # numbers of a place: the run's name as a checksum (0: none), the share that is done, kernels being compiled
_NAME, _SHARE, _COMPILING = range(_SIZE)


class Place(NamedTuple):
    """What one worker is doing: the checksum of a run's name (0: no run), the share of the run that is done."""

    name: int
    share: float
    is_compiling: bool


class _Own:
    """This process's board, and which place on it is its own."""

    board: MutableSequence[float] = [0.0] * _SIZE
    start = 0
    shown: MutableSequence[float] = board
    listener: Any = None


def name_key(name: str) -> int:
    """Return the checksum by which the board names a run."""
    return zlib.crc32(name.encode())


def places() -> list[Place]:
    """Return what this process and its workers are doing."""
    numbers = list(_Own.shown)
    return [
        Place(int(numbers[i + _NAME]), numbers[i + _SHARE], numbers[i + _COMPILING] > 0)
        for i in range(0, len(numbers), _SIZE)
    ]


@contextmanager
def run_in_hand(name: str, num_episodes: int) -> Iterator[Callable[[int], None]]:
    """Mark a run as in progress on the board; yield the function that reports how many episodes were played."""
    board, start = _Own.board, _Own.start

    def note(played: int) -> None:
        board[start + _SHARE] = played / num_episodes

    note(0)
    board[start + _NAME] = float(name_key(name))
    try:
        yield note
    finally:
        board[start + _NAME] = 0.0


@contextmanager
def shared_board(context: BaseContext, num_workers: int) -> Iterator[tuple[Any, ...]]:
    """Make a board for worker processes; yield the arguments of ``join_board``, which each of them calls first."""
    board = context.RawArray("d", _SIZE * num_workers)
    _Own.shown = board
    try:
        yield board, context.Value("i", 0)
    finally:
        _Own.shown = _Own.board


def join_board(board: Any, taken: Any) -> None:
    """Take the next place on a board, in a worker process."""
    with taken.get_lock():
        number, taken.value = taken.value, taken.value + 1
    _Own.board = _Own.shown = board
    _Own.start = _SIZE * (number % (len(board) // _SIZE))
    watch_compiling()


def watch_compiling() -> None:
    """Note on the board whenever Numba compiles something; loading from its cache does not count."""
    from numba.core import event

    class Notes(event.Listener):
        def on_start(self, event: Any) -> None:
            _Own.board[_Own.start + _COMPILING] += 1

        def on_end(self, event: Any) -> None:
            _Own.board[_Own.start + _COMPILING] -= 1

    if _Own.listener is None:
        _Own.listener = Notes()
        event.register("numba:compile", _Own.listener)  # type: ignore[no-untyped-call]
