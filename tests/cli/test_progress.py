"""Progress: nothing of short work, a line now and then of longer work, and bars on a terminal."""

from __future__ import annotations

import io
import os
import subprocess
import sys

import pytest

from praemia import activity
from praemia.cli import progress
from praemia.cli.progress import Display
from praemia.experiments.jobs import Job, TaskText, learner_choices
from praemia.experiments.runner import run_in_memory


class Clock:
    """A clock that tests set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr("praemia.cli.progress.time.monotonic", lambda: self.now)

    def display(self) -> Display:
        shown = Display()
        shown.bars.get_time = lambda: self.now
        return shown


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def jobs(*tasks: str) -> list[Job]:
    (choice,) = learner_choices(["optimal"], {})
    return [Job(TaskText.of(task), choice, 100, (0, run)) for task in tasks for run in range(2)]


def test_work_is_mentioned_after_two_seconds_and_then_every_five(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = clock.display()
    report = shown.count("draws")
    for second in range(9):
        clock.now = 100.0 + second
        report(100 * second, 2_000, " (reach item)")
        shown.tick()
    assert capsys.readouterr().err.splitlines() == [
        "draws (reach item): 200 of 2,000, 10%, about 18 s left",
        "draws (reach item): 700 of 2,000, 35%, about 13 s left",
    ]


def test_the_last_line_is_of_finished_work(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    shown = clock.display()
    report = shown.count("episodes")
    for second in range(5):
        clock.now = 100.0 + second
        report(100 * second, 400)
        shown.tick()
    shown.stop()
    assert capsys.readouterr().err.splitlines() == [
        "episodes: 200 of 400, 50%, about 2 s left",
        "episodes: 400 of 400, 100%",
    ]


def test_a_count_that_does_not_move_is_told_again(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    shown = clock.display()
    report = shown.count("draws")
    report(0, 2_000)
    clock.now += 2.0
    report(200, 2_000)
    for _ in range(2):
        shown.tick()
        clock.now += 5.0
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(",000,")[0] for line in lines] == ["draws: 200 of 2"] * 2


@pytest.mark.parametrize(("total", "left"), [(100, "about 50 s"), (700, "about 11 min"), (36_050, "about 10.0 h")])
def test_the_time_left_is_that_of_steady_work_in_a_fitting_unit(
    total: int, left: str, clock: Clock, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = clock.display()
    report = shown.count("steps")
    for second in range(51):
        clock.now = 100.0 + second
        report(second, total)
    shown.tick()
    assert capsys.readouterr().err.endswith(f", {left} left\n")


def test_finished_work_and_short_work_are_not_mentioned(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    shown = clock.display()
    report = shown.count("draws")
    report(1, 10)
    clock.now += 1.9
    shown.tick()
    clock.now += 10.0
    report(10, 10)
    shown.stop()
    assert capsys.readouterr().err == ""


def test_work_that_counts_nothing_tells_how_long_it_takes_once_it_has_begun(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = clock.display()
    for now in (110.0, 111.0, 112.5, 113.0, 118.0):
        clock.now = now
        if now == 110.0:
            shown.tick()  # not begun
            shown.work("asking")
        shown.tick()
    assert capsys.readouterr().err == "asking: 2 s\nasking: 8 s\n"


def test_work_that_begins_anew_is_counted_from_there(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    shown = clock.display()
    report = shown.count("episodes")
    for done in (10, 40, 5):
        report(done, 40)
    clock.now += 3.0
    shown.tick()
    assert capsys.readouterr().err == "episodes: 5 of 40, 12%, about 21 s left\n"


def compiling_lines(clock: Clock, seconds: list[int], until: int) -> None:
    """Tick every second, while something is compiled in some of them."""
    shown = clock.display()
    for second in range(until):
        clock.now = 100.0 + second
        activity._Own.place["compiling"] = int(second in seconds)
        shown.tick()
    activity._Own.place["compiling"] = 0
    shown.stop()


def test_compiling_is_one_notice_although_kernels_follow_one_another(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    compiling_lines(clock, [0, 1, 2, 4, 5, 6, 7, 8], 20)
    assert capsys.readouterr().err.splitlines() == [
        "compiling, once: later runs start without this wait",
        "compiling, once: 7 s",
    ]


def test_time_of_compiling_does_not_count_into_the_time_left(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    shown = clock.display()
    report = shown.count("steps")
    for second in range(50):
        clock.now = 100.0 + second
        is_compiling = second in range(10, 40)
        activity._Own.place["compiling"] = int(is_compiling)
        report(second if second < 10 else max(9, second - 30), 100)
        shown.tick()
    assert capsys.readouterr().err.splitlines()[-1] == "steps: 17 of 100, 17%, about 83 s left"


def test_short_compiling_is_not_mentioned(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    compiling_lines(clock, [1, 8, 15], 20)
    assert capsys.readouterr().err == ""


def test_rows_move_within_runs_and_end_full() -> None:
    shown, all_jobs = Display(), jobs("riverswim-5")
    shown.start(all_jobs, all_jobs[1:])
    with activity.report_progress(100) as report:
        report(50)
        shown.tick()
    (row,) = shown.bars.tasks
    assert (row.completed, row.fields["count"]) == (1.5, "1/2 runs")
    shown.tick()  # the run is over, but not yet counted as finished
    assert row.completed == 1.5
    run_in_memory(all_jobs[1:], num_workers=1, progress=Finishing(shown))
    shown.tick()
    assert row.finished


class Finishing(activity.Progress):
    """Pass on what is finished, and not the start."""

    def __init__(self, shown: Display) -> None:
        self.done = shown.done  # type: ignore[method-assign]


def test_several_tasks_share_one_row(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    shown, all_jobs = clock.display(), jobs("riverswim-5", "warehouse-3")
    shown.start(all_jobs, all_jobs[1:])
    assert [row.description for row in shown.bars.tasks] == ["all tasks"]
    clock.now += 3.0
    shown.tick()
    assert capsys.readouterr().err == "1 of 4 runs are already stored\nall tasks: 1/4 runs, 25%\n"


def test_on_a_terminal_there_are_bars_and_lines_are_printed_above_them(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    shown = clock.display()
    report = shown.count("frames")
    report(1, 8)
    assert terminal.getvalue() == ""
    clock.now += 2.5
    report(4, 8)
    shown.tick()
    progress.say("a line")
    shown.stop()
    text = terminal.getvalue()
    assert "4 of 8" in text
    assert "50%" in text
    assert "a line" in text
    assert sys.stderr is terminal


TERMINAL = """
import os, pty, sys
status = pty.spawn([sys.executable, "-c", {code!r}])
sys.exit(os.waitstatus_to_exitcode(status))
"""
PYTHON_USER = """
import sys
from numba.core import event
import praemia
task = praemia.envs.make("riverswim-5")
print(praemia.solve(task).value > 0)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("on_terminal", [True, False])
def test_users_of_python_see_that_code_is_compiled_on_a_terminal_and_nothing_elsewhere(
    on_terminal: bool, tmp_path: object
) -> None:
    code = TERMINAL.format(code=PYTHON_USER) if on_terminal else PYTHON_USER
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_DISABLE_JIT": "0"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    both = done.stdout + done.stderr
    assert both.count("compiling, once") == int(on_terminal)
    assert "True" in both
