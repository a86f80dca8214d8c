"""Say when code is being compiled: a learner's first run waits some seconds for it, once."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import click

from praemia import activity

TICK_SECONDS = 0.1
QUIET_SECONDS = 0.5  # shorter compilations are not mentioned
BREAK_SECONDS = 5.0  # shorter breaks between kernels do not end the notice
LINE_SECONDS = 15.0
MESSAGE = "compiling, once"


class Notice(Protocol):
    """Something that can show that code is being compiled."""

    def show(self, seconds: float) -> None: ...

    def hide(self) -> None: ...


@contextmanager
def compiling_notice(notice: Notice | None = None) -> Iterator[None]:
    """Say so while code is being compiled: by default with a spinner on a terminal, and with lines elsewhere."""
    from praemia.kernels.compiling import Announcement

    activity.watch_compiling()
    Announcement.is_wanted = False
    shown = notice or (Spinner() if sys.stderr.isatty() else Line())
    began = last = -BREAK_SECONDS

    def look() -> None:
        nonlocal began, last
        now = time.monotonic()
        if any(place.is_compiling for place in activity.places()):
            began, last = began if now - last < BREAK_SECONDS else now, now
            if now - began >= QUIET_SECONDS:
                shown.show(now - began)
        elif now - last >= QUIET_SECONDS:
            shown.hide()

    try:
        with ticking(look):
            yield
    finally:
        shown.hide()


class Line:
    """A line when compiling starts, and another one every 15 seconds."""

    def __init__(self) -> None:
        self._said: float | None = None  # how long it had taken when the last line was printed

    def show(self, seconds: float) -> None:
        if self._said is None:
            click.echo(f"{MESSAGE}: later runs start without this wait", err=True)
        elif seconds >= self._said + LINE_SECONDS:
            click.echo(f"still compiling: {seconds:.0f} s", err=True)
        elif seconds >= self._said:
            return
        self._said = seconds

    def hide(self) -> None:
        pass


class Spinner:
    """A spinner with the seconds, shown only while code is being compiled."""

    def __init__(self) -> None:
        self._status: Any = None

    def show(self, seconds: float) -> None:
        from rich.console import Console
        from rich.status import Status

        if self._status is None:
            self._status = Status(MESSAGE, console=Console(stderr=True))
            self._status.start()
        self._status.update(f"{MESSAGE}: {seconds:.0f} s")

    def hide(self) -> None:
        if self._status is not None:
            self._status.stop()
        self._status = None


class Row:
    """A row of an existing progress display."""

    def __init__(self, bars: Any) -> None:
        self._bars = bars
        self._row = bars.add_task(MESSAGE, total=None, visible=False, runs="", left="")

    def show(self, seconds: float) -> None:
        self._bars.update(self._row, visible=True, runs=f"{seconds:.0f} s")

    def hide(self) -> None:
        self._bars.update(self._row, visible=False)


@contextmanager
def ticking(tick: Callable[[], None]) -> Iterator[None]:
    """Call a function several times a second, in a thread of its own, and once more at the end."""
    is_over = threading.Event()

    def repeat() -> None:
        while not is_over.wait(TICK_SECONDS):
            tick()

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
        tick()
