"""A first run: what the user sees while it compiles, while it goes on, when it is stopped, and at the end."""

from __future__ import annotations

import json
import multiprocessing
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from numba import njit
from numba.core import event

from praemia import activity, envs, learners
from praemia.cli import execute, progress
from praemia.experiments import runner
from praemia.simulation import task_world


def test_the_board_says_when_something_is_compiled() -> None:
    activity.watch_compiling()
    numbers: list[int] = []

    class Look(event.Listener):
        def on_start(self, event: Any) -> None:
            numbers.append(int(activity.read_board()["compiling"][0]))

        def on_end(self, event: Any) -> None:
            pass

    with event.install_listener("numba:compile", Look()):
        assert njit(lambda x: x + 1.0)(1.0) == 2.0
    assert numbers
    assert all(numbers)
    assert activity.read_board()["compiling"][0] == 0


def test_the_board_says_how_far_a_run_is() -> None:
    with activity.report_progress(200) as report:
        report(50)
        assert activity.read_board()["share"].tolist() == [0.25]
    assert activity.read_board()["share"].tolist() == [0.0]


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


def test_a_single_run_moves(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Time goes on whenever the run says how far it is: after each small piece of work."""
    displays: list[progress.Display] = []

    class Noted(progress.Display):
        def __init__(self) -> None:
            super().__init__()
            displays.append(self)

    @contextmanager
    def report_progress(*run: Any) -> Iterator[Callable[[int], None]]:
        with activity.report_progress(*run) as report:
            yield lambda played: [report(played), *(shown.tick() for shown in displays)]  # type: ignore[func-returns-value]

    monkeypatch.setattr(progress, "Display", Noted)
    monkeypatch.setattr(runner, "report_progress", report_progress)
    monkeypatch.setattr(task_world, "SLICE_SECONDS", 0.0)
    monkeypatch.setattr(progress, "TICK_SECONDS", 60.0)
    monkeypatch.setattr(progress, "FIRST_SECONDS", 0.0)
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    assert execute(["run", "warehouse-5", "--runs", "1", "--jobs", "1", "--episodes", "1000"]) == 0
    lines = capsys.readouterr().err.splitlines()
    shares = [int(line.split(", ")[1].split("%")[0]) for line in lines if line.startswith("warehouse-5: 0/1 run, ")]
    assert len(set(shares)) >= 3, lines
    assert shares == sorted(shares)


def test_headroom_is_the_learner_of_a_first_run_and_one_run_has_no_spread(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["run", "riverswim-5", "--episodes", "20", "--runs", "1"]) == 0
    shown = capsys.readouterr().out
    assert "20 episodes, 1 run," in shown
    assert shown.splitlines()[3].startswith("headroom")
    assert "±" not in shown
    assert execute(["run", "riverswim-5", "--episodes", "20", "--runs", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["learners"][0]["regret_std"] is None


@pytest.mark.parametrize("keeps", [False, True])
def test_a_run_that_is_stopped_says_what_is_kept(
    keeps: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    done: list[object] = []

    def stop_after_two(display: progress.Display) -> None:
        done.append(display)
        if len(done) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(progress.Display, "done", stop_after_two)
    store = ["--out", str(tmp_path / "store")] if keeps else []
    assert execute(["run", "riverswim-5", "--learner", "optimal", "--episodes", "10", "--runs", "5", *store]) == 130
    advice = f"run again to go on: 2 of 5 runs are stored in {tmp_path / 'store'}"
    if not keeps:
        advice = "nothing is stored; --out FOLDER keeps each run that is finished"
    assert capsys.readouterr().err.splitlines()[-1] == f"error: interrupted; {advice}"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("headrom", "(did you mean 'headroom'?)"),
        ("ucrl2-rm", "(did you mean 'ucrl2-rm-l' or 'ucrl2-rm-b'?)"),
        ("zzz", "(`praemia learners` lists them; file.py:Class names your own)"),
    ],
)
def test_an_unknown_learner_is_answered_with_the_near_ones_or_where_to_look(
    name: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["run", "riverswim-5", "--learner", name]) == 2
    assert capsys.readouterr().err == f"error: unknown learner {name!r} {said}\n"
    assert name not in learners.names()
    assert "riverswim-5" in envs.names()
