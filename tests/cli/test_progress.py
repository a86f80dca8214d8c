"""Progress: nothing of short work, a line now and then of longer work, and bars on a terminal."""

from __future__ import annotations

import io
import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from numba import njit
from numba.core import event

import praemia
from praemia._support import activity
from praemia._support.activity import Display
from praemia.cli import execute
from praemia.experiments.jobs import Job, TaskText, learner_choices


class Clock:
    """A clock that tests set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr("praemia._support.activity.time.monotonic", lambda: self.now)

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


def test_work_is_mentioned_after_two_seconds_then_every_five_and_at_its_end(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = clock.display()
    report = shown.count("draws (reach item)")
    for second in range(9):
        clock.now = 100.0 + second
        report(100 * second, 800)
        shown.tick()
    shown.stop()
    assert capsys.readouterr().err.splitlines() == [
        "draws (reach item): 200 of 800, 25%, about 0:00:06 left",
        "draws (reach item): 700 of 800, 88%, about 0:00:01 left",
        "draws (reach item): 800 of 800, 100%",
    ]


def test_no_time_is_estimated_from_what_came_before_the_first_hundredth(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = clock.display()
    report = shown.count("episodes")
    for seconds, done in ((0, 0), (1000, 1), (1010, 20), (1020, 40)):  # workers start, and compile
        clock.now = 100.0 + seconds
        report(done, 1000)
        shown.tick()
    assert capsys.readouterr().err.splitlines() == [
        "episodes: 1 of 1,000, 0%",
        "episodes: 20 of 1,000, 2%",
        "episodes: 40 of 1,000, 4%, about 0:08:00 left",
    ]


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


def test_work_without_a_known_end_says_how_long_it_takes_and_work_that_begins_anew_is_counted_from_there(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = clock.display()
    report = shown.count("episodes")
    for done in (10, 40, 5):
        report(done, 40)
    clock.now += 3.0
    shown.tick()
    shown.work("searching")
    clock.now += 6.0
    shown.tick()
    assert capsys.readouterr().err == "episodes: 5 of 40, 12%\nsearching: 6 s\n"


def test_compiling_is_one_notice_although_kernels_follow_one_another(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = clock.display()
    for second in range(20):
        clock.now = 100.0 + second
        activity._Own.place["compiling"] = int(second in (0, 1, 2, 4, 5, 6, 7, 8, 15))
        shown.tick()
    activity._Own.place["compiling"] = 0
    shown.stop()
    assert capsys.readouterr().err.splitlines() == [
        "compiling, first time only: 2 s",
        "compiling, first time only: 7 s",
    ]


def test_a_row_moves_within_runs_and_tasks_share_it(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    shown, all_jobs = clock.display(), jobs("riverswim-5", "warehouse-3")
    shown.start(all_jobs, all_jobs[1:])
    (row,) = shown.bars.tasks
    with activity.report_progress(100) as report:
        report(50)
        shown.tick()
    assert row.completed == 1.5
    clock.now += 3.0
    shown.tick()  # the run is over, but not yet counted as finished
    assert row.completed == 1.5
    assert capsys.readouterr().err == "1 of 4 runs are already stored\nall tasks, runs: 1 of 4, 38%\n"
    for _ in range(3):
        shown.done()
    shown.tick()
    assert row.finished


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
    activity.say("a line")
    shown.stop()
    for text in ("4/8", "50%", "a line"):
        assert text in terminal.getvalue()
    assert sys.stderr is terminal


class Ticking(Display):
    """Look at the board whenever there is progress."""

    def count(self, what: str) -> Callable[..., None]:
        report = super().count(what)
        return lambda *now: (report(*now), self.tick())[1]


def test_simulate_shows_its_progress_unless_it_is_shown_elsewhere(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(activity, "FIRST_SECONDS", -1.0)
    monkeypatch.setattr(activity, "TICK_SECONDS", 60.0)
    monkeypatch.setattr(activity, "Display", Ticking)
    monkeypatch.setattr("praemia.simulation.loop.SLICE_SECONDS", 0.0)  # however fast the run is
    task = praemia.envs.make("riverswim-5")
    with activity.displayed_count("steps", 9) as report:
        report(3)
    assert capsys.readouterr().err.startswith("steps: 3 of 9, 33%\n")
    praemia.simulate(task, "ucbvi-prm", 50, on_progress=lambda done: None)
    with activity.display(first_seconds=1e9):
        praemia.simulate(task, "ucbvi-prm", 50)
    assert capsys.readouterr().err == ""
    praemia.simulate(task, "ucbvi-prm", 50)
    assert capsys.readouterr().err.splitlines()[-1].startswith("episodes: ")


def test_a_closed_standard_error_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    with activity.display() as shown:
        shown.count("steps")(1, 2)
        activity.say("nobody reads this")


def test_the_board_says_when_something_is_compiled() -> None:
    activity.watch_compiling()
    numbers: list[int] = []

    class Look(event.Listener):
        def on_start(self, event: object) -> None:
            numbers.append(int(activity.read_board()["compiling"][0]))

        def on_end(self, event: object) -> None:
            pass

    with event.install_listener("numba:compile", Look()):
        assert njit(lambda x: x + 1.0)(1.0) == 2.0
    assert numbers
    assert all(numbers)
    assert activity.read_board()["compiling"][0] == 0


def hold_place(share: int, hold: Path) -> None:
    with activity.report_progress(100) as report:
        report(share)
        while hold.exists():
            time.sleep(0.01)


def test_workers_write_on_the_board_that_their_parent_reads(tmp_path: Path) -> None:
    context, hold = multiprocessing.get_context("spawn"), tmp_path / "hold"
    hold.touch()
    with activity.shared_board(context, 2) as board:
        shares: set[float] = set()
        with ProcessPoolExecutor(2, context, initializer=activity.join_board, initargs=board) as pool:
            waiting = [pool.submit(hold_place, share, hold) for share in (25, 75)]
            while not {0.25, 0.75} <= shares and not any(future.done() for future in waiting):
                shares |= set(activity.read_board()["share"].tolist())
                time.sleep(0.01)
            hold.unlink()
            for future in waiting:
                future.result()
        assert {0.25, 0.75} <= shares
    assert len(activity.read_board()) == 1


@pytest.mark.parametrize("keeps", [False, True])
def test_a_run_that_is_stopped_says_what_is_kept(
    keeps: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    done: list[object] = []

    def stop_after_two(display: Display) -> None:
        done.append(display)
        if len(done) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(Display, "done", stop_after_two)
    store = ["--out", str(tmp_path / "store")] if keeps else []
    assert execute(["run", "riverswim-5", "--learner", "optimal", "--episodes", "10", "--runs", "5", *store]) == 130
    advice = f"rerun to resume: 2 of 5 runs are stored in {tmp_path / 'store'}"
    if not keeps:
        advice = "nothing is stored; --out FOLDER keeps each run that is finished"
    assert capsys.readouterr().err.splitlines()[-1] == f"error: interrupted; {advice}"


TERMINAL = """
import os, pty, sys
status = pty.spawn([sys.executable, "-c", {code!r}])
sys.exit(os.waitstatus_to_exitcode(status))
"""
PYTHON_USER = "import praemia; print(praemia.solve(praemia.envs.make('riverswim-5')).value > 0)"


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
    assert both.count("compiling, first time only") == int(on_terminal)
    assert "True" in both
