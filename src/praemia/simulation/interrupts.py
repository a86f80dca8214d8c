"""Hold Ctrl-C back until it can be raised safely.

Python may raise KeyboardInterrupt anywhere, also while a compiled function unpacks its arguments or packs its results.
Numba does not expect that, and the process can crash; with small plans, much of the time is spent there. So while a
learner plays, Ctrl-C is only noted, and raised between two plans.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupts_held() -> Iterator[Callable[[], None]]:
    """Hold Ctrl-C back; yield a function that raises it if it came. Only the main thread ever receives it."""
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
