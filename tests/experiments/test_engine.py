"""The same work on a real Dask cluster of two workers, one of which dies."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest
from sweeps import PATIENCE, contents, finish, start, wait_for_runs


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
    _, errors = sweep.communicate(timeout=PATIENCE)
    assert sweep.returncode == 2
    assert "tcp://127.0.0.1:9" in errors
    assert "dask scheduler" in errors
    assert "Traceback" not in errors
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("address", ["nowhere", "", "."])
def test_an_address_that_makes_no_sense_is_refused_at_once(address: str, experiment: Path, tmp_path: Path) -> None:
    sweep = start(experiment, tmp_path / "store", "--engine", address)
    _, errors = sweep.communicate(timeout=PATIENCE)
    assert sweep.returncode == 2
    assert errors.startswith("error: no engine at")
    assert not (tmp_path / "store").exists()
