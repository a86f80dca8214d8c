"""The same work on a real Dask cluster of two workers, one of which dies."""

from __future__ import annotations

import signal
import socket
import subprocess
from pathlib import Path

import pytest
from sweeps import PATIENCE, arguments, contents, finish, start, wait_for_runs

from praemia.cli import execute
from praemia.experiments import runner


def test_a_cluster_that_loses_a_worker_gives_the_same_bytes(
    experiment: Path,
    undisturbed: dict[str, bytes],
    cluster: tuple[Path, list[subprocess.Popen[bytes]]],
    tmp_path: Path,
) -> None:
    address, workers = cluster
    store, hold = tmp_path / "store", tmp_path / "hold"
    sweep = start(experiment, store, "--engine", str(address), hold=hold)
    wait_for_runs(store, 5, sweep)
    workers[0].send_signal(signal.SIGKILL)
    hold.unlink()
    finish(sweep)
    assert contents(store) == undisturbed


def test_a_scheduler_that_dies_is_one_message_and_what_is_finished_is_kept(
    experiment: Path,
    undisturbed: dict[str, bytes],
    cluster: tuple[Path, list[subprocess.Popen[bytes]]],
    tmp_path: Path,
) -> None:
    address, processes = cluster
    sweep = start(experiment, tmp_path / "store", "--engine", str(address), hold=tmp_path / "hold")
    wait_for_runs(tmp_path / "store", 5, sweep)
    processes[-1].send_signal(signal.SIGKILL)
    (tmp_path / "hold").unlink()
    _, errors = sweep.communicate(timeout=PATIENCE)
    assert sweep.returncode == 2
    assert [line.partition(" (")[0] for line in errors.splitlines() if "all tasks" not in line] == [
        f"error: no engine at '{address}'"
    ]
    assert contents(tmp_path / "store").items() <= undisturbed.items()


def test_an_engine_that_is_not_there_is_one_message_that_says_how_to_start_one(
    experiment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(runner, "CONNECT_SECONDS", 0.1)
    with socket.socket() as taken:  # nobody listens there, and nobody else can
        taken.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        assert execute(arguments(experiment, tmp_path / "store", "--engine", address)) == 2
    errors = capfd.readouterr().err
    assert address in errors
    assert "dask scheduler" in errors
    assert "Traceback" not in errors
    assert not (tmp_path / "store").exists()
