"""The sweep that nobody disturbed, once for all tests that compare with it, and a real Dask cluster."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sweeps import NUM_RUNS, PATIENCE, contents, holding, run_here, write_experiment


@pytest.fixture(scope="session")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_experiment(tmp_path_factory.mktemp("experiment"))


@pytest.fixture(scope="session")
def undisturbed(experiment: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    store = tmp_path_factory.mktemp("undisturbed") / "store"
    run_here(experiment, store)
    runs = contents(store)
    assert len(runs) == NUM_RUNS
    return runs


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[Path, list[subprocess.Popen[bytes]]]]:
    """Start a scheduler and two workers on the loopback address; give the scheduler file and all three.

    Jobs that wait do so while there is a file ``hold`` in the test's folder.
    """
    address = tmp_path / "engine.json"
    dask = [sys.executable, "-m", "dask"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": holding(tmp_path / "hold")}
    listen = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(address)]
    scheduler = subprocess.Popen([*dask, "scheduler", *listen], **quiet)
    deadline = time.monotonic() + PATIENCE
    while not address.is_file():
        assert time.monotonic() < deadline, "the scheduler did not start"
        time.sleep(0.05)
    serve = ["--scheduler-file", str(address), "--nworkers", "1", "--nthreads", "1", "--no-dashboard", "--no-nanny"]
    workers = [
        subprocess.Popen([*dask, "worker", *serve, "--local-directory", str(tmp_path / f"w{i}")], **quiet)
        for i in range(2)
    ]
    workers.append(scheduler)
    yield address, workers
    for process in workers:
        process.kill()
        process.wait()
