"""Ctrl-C at a moment of our choice.

Python raises Ctrl-C wherever it comes, also while a compiled function takes its arguments or gives its results. Numba
does not expect that: the process can crash, and small plans spend much of their time there. So while a learner is at
play Ctrl-C is only noted, and raised between two plans.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupts_held() -> Iterator[Callable[[], None]]:
    """Hold Ctrl-C back; give a function that raises it if it came. Only the main thread receives it at all."""
    came: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        if came:  # the user insists
            raise KeyboardInterrupt
        came.append(number)

    def raise_if_it_came() -> None:
        if came:
            came.clear()
            raise KeyboardInterrupt

    usual = signal.getsignal(signal.SIGINT)
    in_charge = threading.current_thread() is threading.main_thread() and usual is signal.default_int_handler
    if in_charge:
        signal.signal(signal.SIGINT, note)
    try:
        yield raise_if_it_came
    finally:
        if in_charge:
            signal.signal(signal.SIGINT, usual)
    raise_if_it_came()
