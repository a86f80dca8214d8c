"""Whatever happens to a sweep, its runs end byte for byte as if nothing had."""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sweeps import (
    BEFORE_HOLDING,
    NUM_RUNS,
    PATIENCE,
    arguments,
    contents,
    finish,
    kill_all,
    run_here,
    start,
    wait_for_runs,
    write_experiment,
)

from praemia.cli import execute
from praemia.experiments.loading import load_experiment
from praemia.experiments.store import StoredRuns
from praemia.simulation import Run


def test_two_workers_give_the_bytes_of_one_also_if_one_is_killed(
    experiment: Path, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    store, hold = tmp_path / "store", tmp_path / "hold"
    sweep = start(experiment, store, "--jobs", "2", hold=hold)
    wait_for_runs(store, 3, sweep)
    children = subprocess.run(["pgrep", "-P", str(sweep.pid), "-f", "spawn_main"], capture_output=True, text=True)
    os.kill(int(children.stdout.split()[-1]), signal.SIGKILL)
    hold.unlink()
    finish(sweep)
    assert contents(store) == undisturbed


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks for processes in /proc")
def test_no_worker_outlives_a_command_that_is_killed(experiment: Path, tmp_path: Path) -> None:
    """Workers, and the process that tracks their resources, are those in its session."""

    def session() -> set[int]:
        found = set()
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                fields = stat.read_text().rpartition(")")[2].split()
                if int(fields[3]) == sweep.pid and fields[0] != "Z":
                    found.add(int(stat.parent.name))
        return found

    sweep = start(experiment, tmp_path / "store", "--jobs", "2", hold=tmp_path / "hold")
    wait_for_runs(tmp_path / "store", 3, sweep)
    assert len(session()) >= 3
    sweep.kill()
    sweep.wait()
    deadline = time.monotonic() + 10.0
    while session() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not session()
    sweep.communicate()


def test_three_shards_into_one_folder_give_the_whole(
    experiment: Path, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    store = tmp_path / "store"
    for index in (1, 2, 3):
        run_here(experiment, store, "--shard", f"{index}/3")
    assert contents(store) == undisturbed


@pytest.mark.parametrize("times", [1, pytest.param(3, marks=pytest.mark.slow)], ids=["once", "again-and-again"])
def test_a_sweep_that_was_killed_ends_like_the_undisturbed_one(
    times: int, experiment: Path, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    store = tmp_path / "store"
    moments = random.Random(7)
    reached = 0
    for _ in range(times):
        sweep = start(experiment, store, "--jobs", "2", hold=tmp_path / "hold")
        reached = min(BEFORE_HOLDING, reached + moments.randint(1, 8))
        wait_for_runs(store, reached, sweep)
        kill_all(sweep)
        kept = contents(store)
        assert reached <= len(kept) < NUM_RUNS
        assert kept.items() <= undisturbed.items(), "what a killed sweep leaves is whole"
    run_here(experiment, store)
    assert contents(store) == undisturbed


def test_an_interrupted_sweep_keeps_what_is_finished_and_says_so_in_one_line(
    experiment: Path, undisturbed: dict[str, bytes], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / "store"
    sweep = start(experiment, store, "--jobs", "1", hold=tmp_path / "hold")
    wait_for_runs(store, 4, sweep)
    os.kill(sweep.pid, signal.SIGINT)
    _, errors = sweep.communicate(timeout=PATIENCE)
    assert sweep.returncode == 130
    kept = len(contents(store))
    assert errors.splitlines()[-1] == (
        f"error: interrupted; rerun to resume: {kept} of {NUM_RUNS} runs are stored in {store}"
    )
    assert "Traceback" not in errors
    assert not list(store.rglob("*.partial"))
    assert contents(store).items() <= undisturbed.items()
    run_here(experiment, store)
    assert f"{kept} of {NUM_RUNS} runs are already stored" in capfd.readouterr().err
    assert contents(store) == undisturbed


@pytest.mark.skipif(not shutil.which("pgrep"), reason="needs pgrep")
def test_ctrl_c_in_a_terminal_while_workers_start_is_one_line(experiment: Path, tmp_path: Path) -> None:
    """A terminal interrupts all processes of a group, again and again if the user does."""
    sweep = start(experiment, tmp_path / "store", "--jobs", "2", hold=tmp_path / "hold")
    while subprocess.run(["pgrep", "-P", str(sweep.pid), "-f", "spawn_main"], capture_output=True).returncode:
        assert sweep.poll() is None
    for _ in range(3):
        os.killpg(sweep.pid, signal.SIGINT)
        time.sleep(0.05)
    _, errors = sweep.communicate(timeout=PATIENCE)
    assert sweep.returncode == 130
    assert [line for line in errors.splitlines() if line] == [errors.splitlines()[-1]]
    assert errors.splitlines()[-1].startswith("error: interrupted")


@pytest.mark.slow
def test_two_sweeps_into_one_store_do_not_damage_it(
    experiment: Path, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    store = tmp_path / "store"
    both = [start(experiment, store, "--jobs", "1") for _ in range(2)]
    for sweep in both:
        finish(sweep)
    assert contents(store) == undisturbed


def test_a_damaged_run_is_reported_and_done_again(
    experiment: Path, undisturbed: dict[str, bytes], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / "store"
    for place, run in undisturbed.items():
        StoredRuns.create(store).write(Run.from_bytes(run, place))
    victims = sorted(store.glob("*/run-*.npz"))[:3]
    victims[0].write_bytes(victims[0].read_bytes()[:100])
    victims[1].write_bytes(b"")
    victims[2].write_bytes(sorted(store.glob("*/run-*.npz"))[-1].read_bytes())
    run_here(experiment, store)
    said = capfd.readouterr().err
    assert all(str(victim) in said for victim in victims)
    assert f"{NUM_RUNS - 3} of {NUM_RUNS} runs are already stored" in said
    assert contents(store) == undisturbed


def test_a_folder_that_cannot_be_written_any_more_is_one_message_and_what_is_finished_is_kept(
    experiment: Path, undisturbed: dict[str, bytes], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A file stands where a folder of the second task would be made: permissions do not bind every user."""
    store = tmp_path / "store"
    run_here(experiment, store, "--shard", "1/9")
    jobs = load_experiment(experiment, allow_code=True).jobs()
    blocked = StoredRuns(store).path_of(jobs[NUM_RUNS // 2]).parent
    shutil.rmtree(blocked, ignore_errors=True)
    blocked.write_text("in the way")
    capfd.readouterr()
    assert execute(arguments(experiment, store, "--jobs", "1")) == 2
    errors = [line for line in capfd.readouterr().err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert str(blocked) in errors[0]
    first_task = {str(StoredRuns(Path()).path_of(job)) for job in jobs[: NUM_RUNS // 2]}
    assert first_task <= contents(store).keys() <= undisturbed.keys()
    assert all(undisturbed[place] == run for place, run in contents(store).items())
    assert not list(store.rglob("*.partial"))
    blocked.unlink()
    run_here(experiment, store)
    assert contents(store) == undisturbed


def test_a_clock_that_jumps_changes_nothing(
    experiment: Path, undisturbed: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    days = itertools.cycle((0.0, 400.0, -400.0))
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + 86_400.0 * next(days))
    run_here(experiment, tmp_path / "store")
    assert contents(tmp_path / "store") == undisturbed


def test_a_disk_that_is_full_ends_in_one_message_and_leaves_no_half_run(tmp_path: Path) -> None:
    store = tmp_path / "store"
    code = (
        "import resource, sys; from praemia.cli import main; "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (900, 900)); main(sys.argv[1:])"
    )
    told = arguments(write_experiment(tmp_path), store, "--jobs", "1")
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code, *told], capture_output=True, text=True, timeout=PATIENCE, env=environment
    )
    assert done.returncode == 2
    assert "error: " in done.stderr
    assert "Traceback" not in done.stderr
    assert contents(store) == {}
    assert not list(store.rglob("*.partial"))
