"""The seconds of a run do not contain compiling."""

from __future__ import annotations

import pytest
from numba.core import event

from praemia._support import activity


def test_the_clock_of_runs_stands_still_while_numba_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(activity.time, "perf_counter", lambda: now[0])
    before = activity.working_time()
    now[0] = 1.0
    with event.trigger_event("numba:compiler_lock"):  # from looking in the cache to storing there
        now[0] = 5.0
        with event.trigger_event("numba:compiler_lock"):  # a function that the first one calls
            now[0] = 6.0
        now[0] = 7.0
    now[0] = 9.0
    assert activity.working_time() - before == 3.0
