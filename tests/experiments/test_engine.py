"""The same work on a real Dask cluster of two workers, one of which dies."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sweeps import contents, finish, start, wait_for_runs


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[Path, list[subprocess.Popen[bytes]]]]:
    """Start a scheduler and two workers on the loopback address; give the scheduler file and the workers."""
    address = tmp_path / "engine.json"
    dask = [sys.executable, "-m", "dask"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    listen = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(address)]
    scheduler = subprocess.Popen([*dask, "scheduler", *listen], **quiet)
    deadline = time.monotonic() + 60
    while not address.is_file() and time.monotonic() < deadline:
        time.sleep(0.05)
    serve = ["--scheduler-file", str(address), "--nworkers", "1", "--nthreads", "1", "--no-dashboard", "--no-nanny"]
    workers = [
        subprocess.Popen([*dask, "worker", *serve, "--local-directory", str(tmp_path / f"w{i}")], **quiet)
        for i in range(2)
    ]
    yield address, workers
    for process in (*workers, scheduler):
        process.kill()
        process.wait()


def test_a_cluster_that_loses_a_worker_gives_the_same_bytes(
    experiment: Path,
    undisturbed: dict[str, bytes],
    cluster: tuple[Path, list[subprocess.Popen[bytes]]],
    tmp_path: Path,
) -> None:
    address, workers = cluster
    store = tmp_path / "store"
    sweep = start(experiment, store, "--engine", str(address))
    wait_for_runs(store, 5, sweep)
    workers[0].send_signal(signal.SIGKILL)
    finish(sweep)
    assert contents(store) == undisturbed


def test_an_engine_that_is_not_there_is_one_message_that_says_how_to_start_one(
    experiment: Path, tmp_path: Path
) -> None:
    sweep = start(experiment, tmp_path / "store", "--engine", "tcp://127.0.0.1:9")
    _, errors = sweep.communicate(timeout=120)
    assert sweep.returncode == 2
    assert "tcp://127.0.0.1:9" in errors
    assert "dask scheduler" in errors
    assert "Traceback" not in errors
    assert contents(tmp_path / "store") == {}


@pytest.mark.parametrize("address", ["nowhere", "", "."])
def test_an_address_that_makes_no_sense_is_refused_at_once(address: str, experiment: Path, tmp_path: Path) -> None:
    sweep = start(experiment, tmp_path / "store", "--engine", address)
    _, errors = sweep.communicate(timeout=60)
    assert sweep.returncode == 2
    assert errors.startswith("error: no engine at")
