"""The time left: right for steady work, near for work that starts slowly, and never the time of compiling."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from praemia.cli import progress
from praemia.cli.progress import CountProgress, StillWorking, TimeLeft

TICK = 0.1


def watched(share: Callable[[float], float], until: float, total: float = 1.0) -> TimeLeft:
    """Watch work whose share at a time is given, by one worker."""
    time_left = TimeLeft(total)
    for tick in range(1, round(until / TICK) + 1):
        time_left.note(total * share(tick * TICK), TICK, 1, 0)
    return time_left


@given(duration=st.floats(20, 1000), part=st.floats(0.1, 0.9), total=st.sampled_from([1, 16, 100]))
def test_steady_work_is_foreseen(duration: float, part: float, total: int) -> None:
    at = round(part * duration, 1)
    found = watched(lambda time: time / duration, at, total).seconds()
    assert found == pytest.approx(duration - at, rel=1e-6)


@given(part=st.floats(0.25, 0.9))
def test_work_that_starts_slowly_is_foreseen_within_a_factor_of_three(part: float) -> None:
    """A share that grows as the square of the time: at the first tenth of the time a hundredth is done."""
    at = round(part * 60, 1)
    found = watched(lambda time: (time / 60) ** 2, at).seconds()
    assert found is not None
    assert 1 / 3 < found / (60 - at) < 3


def test_nothing_is_said_before_anything_is_known() -> None:
    assert TimeLeft(4).seconds() is None
    assert str(watched(lambda time: time / 1000, 20)) == "", "two per cent of one run"
    assert watched(lambda time: time / 1000, 20, total=100).seconds() == pytest.approx(980), "two runs of a hundred"


def test_compiling_does_not_count() -> None:
    time_left = TimeLeft(10)
    for _ in range(300):
        time_left.note(0, TICK, 0, 2)
    for tick in range(1, 51):
        time_left.note(0.5 * tick * TICK, TICK, 2, 0)
    assert time_left.seconds() == pytest.approx(15)


def test_workers_that_tell_only_their_results_are_timed_by_them() -> None:
    time_left = TimeLeft(10)
    time_left.note(0, 20.0, 0, 0)
    for tick in range(1, 5):
        time_left.note(tick, 3.0, 0, 0)
    assert time_left.seconds() == pytest.approx(18)


@pytest.mark.parametrize(
    ("duration", "text"), [(60, "about 30 s left"), (600, "about 5 min left"), (36_000, "about 5.0 h left")]
)
def test_it_is_said_in_a_fitting_unit(duration: int, text: str) -> None:
    time_left = TimeLeft(1)
    for tick in range(1, 101):
        time_left.note(tick / 200, duration / 200, 1, 0)
    assert str(time_left) == text


def test_counted_work_has_a_line_from_the_second_call_to_the_last_but_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "QUIET_SECONDS", 0.0)
    report = CountProgress("draws")
    for done in (1, 500, 2_000):
        report(done, 2_000, " (reach item)")
    assert capsys.readouterr().err == "500 of 2,000 draws (reach item)\n"


def test_work_that_counts_nothing_tells_how_long_it_takes_once_it_has_begun(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [100.0]
    monkeypatch.setattr("praemia.cli.progress.time.monotonic", lambda: now[0])
    report = StillWorking("asking")
    for clock in (110.0, 111.0, 112.5, 113.0, 118.0):
        now[0] = clock
        if clock == 110.0:
            report.tick()  # not begun
            report.start()
        report.tick()
    assert capsys.readouterr().err == "asking: 2 s\nasking: 8 s\n"
