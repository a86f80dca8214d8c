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

from praemia import activity, envs, learners
from praemia.cli import compiling, execute, progress
from praemia.experiments import runner
from praemia.experiments.experiment_file import learner_choices, task_text
from praemia.experiments.runner import run_in_memory
from praemia.experiments.settings import Setting
from praemia.simulation import task_world


def compile_something(number: float) -> float:
    return float(njit(lambda x: x + number)(1.0))


def places_while_compiling() -> list[bool]:
    """Compile something in this process; return what the board said meanwhile, and afterwards."""
    seen: list[bool] = []
    with compiling.ticking(lambda: seen.append(activity.places()[0].is_compiling)):
        for _ in range(50):
            if True in seen:
                break
            compile_something(len(seen) / 7)
    return [True in seen, seen[-1]]


def test_the_board_says_when_something_is_compiled() -> None:
    activity.watch_compiling()
    assert places_while_compiling() == [True, False]


def test_the_board_says_how_far_a_run_is() -> None:
    before = activity.places()
    with activity.run_in_hand("warehouse-3", 200) as note:
        note(50)
        assert activity.places() == [activity.Place(activity.name_key("warehouse-3"), 0.25, False)]
    assert activity.places()[0].name == before[0].name == 0


def hold_place(share: int, hold: Path) -> None:
    with activity.run_in_hand("elsewhere", 100) as note:
        note(share)
        while hold.exists():
            time.sleep(0.01)


def test_workers_write_on_the_board_that_their_parent_reads(tmp_path: Path) -> None:
    context, hold = multiprocessing.get_context("spawn"), tmp_path / "hold"
    hold.touch()
    with activity.shared_board(context, 2) as board:
        seen: set[float] = set()
        with ProcessPoolExecutor(2, context, initializer=activity.join_board, initargs=board) as pool:
            waiting = [pool.submit(hold_place, share, hold) for share in (25, 75)]
            while not {0.25, 0.75} <= seen and not any(future.done() for future in waiting):
                seen |= {place.share for place in activity.places() if place.name == activity.name_key("elsewhere")}
                time.sleep(0.01)
            hold.unlink()
            for future in waiting:
                future.result()
        assert {0.25, 0.75} <= seen
    assert len(activity.places()) == 1


class Notes:
    """What a notice was told."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.is_shown = False

    def show(self, seconds: float) -> None:
        self.seconds.append(seconds)
        self.is_shown = True

    def hide(self) -> None:
        self.is_shown = False


def test_compiling_that_lasts_is_told_and_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "QUIET_SECONDS", 0.0)
    notes = Notes()
    with compiling.compiling_notice(notes):
        for number in range(50):
            if notes.seconds:
                break
            compile_something(number / 3)
    assert notes.seconds
    assert not notes.is_shown


def test_a_line_is_said_at_first_and_then_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    line = compiling.Line()
    for second in range(1, 40):
        line.show(float(second))
    assert capsys.readouterr().err.splitlines() == [
        "compiling, once: later runs start without this wait",
        "still compiling: 16 s",
        "still compiling: 31 s",
    ]


def test_on_a_terminal_it_is_a_row_that_comes_and_goes() -> None:
    from rich.console import Console
    from rich.progress import Progress

    bars = Progress(console=Console(quiet=True))
    row = compiling.Row(bars)
    assert not bars.tasks[0].visible
    row.show(3.2)
    assert bars.tasks[0].visible
    assert bars.tasks[0].fields["runs"] == "3 s"
    row.hide()
    assert not bars.tasks[0].visible


def test_a_single_run_moves(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Time goes on whenever the run says how far it is: after each small piece of work."""
    ticks: list[Callable[[], None]] = []

    @contextmanager
    def ticking(tick: Callable[[], None]) -> Iterator[None]:
        ticks.append(tick)
        yield

    @contextmanager
    def run_in_hand(*run: Any) -> Iterator[Callable[[int], None]]:
        with activity.run_in_hand(*run) as note:
            yield lambda played: [note(played), *(tick() for tick in ticks)]  # type: ignore[func-returns-value]

    monkeypatch.setattr(progress, "ticking", ticking)
    monkeypatch.setattr(runner, "run_in_hand", run_in_hand)
    monkeypatch.setattr(task_world, "SLICE_SECONDS", 0.0)
    monkeypatch.setattr(progress, "FIRST_SECONDS", 0.0)
    monkeypatch.setattr(progress, "PLAIN_SECONDS", 0.0)
    assert execute(["run", "warehouse-5", "--runs", "1", "--jobs", "1", "--episodes", "1000"]) == 0
    lines = capsys.readouterr().err.splitlines()
    shares = [int(line.split(", ")[1].split("%")[0]) for line in lines if line.startswith("0/1 runs, ")]
    assert len(set(shares)) >= 3, lines
    assert shares == sorted(shares)


def test_bars_move_within_runs_and_end_full() -> None:
    from rich.console import Console
    from rich.progress import Progress

    setting = Setting(task_text("riverswim-5"), learner_choices(["optimal"], {}), 2, 100, 0)
    bars = Progress(console=Console(quiet=True))
    live = progress.LiveProgress(bars)
    jobs = setting.jobs()
    live.start(jobs, jobs[1:])
    with activity.run_in_hand("riverswim-5", 100) as note:
        note(50)
        live.tick()
        assert bars.tasks[0].completed == 1.5
        assert bars.tasks[0].fields["runs"] == "1/2 runs"
    run_in_memory(jobs[1:], num_workers=1, progress=live)
    live.tick()
    assert bars.tasks[-1].finished


def test_headroom_is_the_learner_of_a_first_run_and_one_run_has_no_spread(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["run", "riverswim-5", "--episodes", "20", "--runs", "1"]) == 0
    shown = capsys.readouterr().out
    assert "20 episodes, 1 run," in shown
    assert shown.splitlines()[3].startswith("headroom")
    assert " ± – " in shown
    assert execute(["run", "riverswim-5", "--episodes", "20", "--runs", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["learners"][0]["regret_std"] is None


@pytest.mark.parametrize("keeps", [False, True])
def test_a_run_that_is_stopped_says_what_is_kept(
    keeps: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    done: list[object] = []

    def stop_after_two(self: progress.PlainProgress, job: object) -> None:
        done.append(job)
        if len(done) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(progress.PlainProgress, "done", stop_after_two)
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
