"""A small sweep, run through the real command in processes of its own, for the tests of the runner."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

EXPERIMENT = """
tasks: [riverswim-5, warehouse-3]
learners: [ucbvi-prm, ucbvi, {learner: crm, title: crm}]
runs: 6
episodes: 1500
"""
NUM_RUNS = 2 * 3 * 6
PATIENCE = 600.0  # seconds until a test gives up: far more than anything takes on a busy machine


def write_experiment(folder: Path) -> Path:
    path = folder / "small.yaml"
    path.write_text(EXPERIMENT)
    return path


def command(experiment: Path, out: Path, *options: str) -> list[str]:
    # Ctrl-C is handled as usual also where the tests run in the background, with it ignored.
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from praemia.cli import main; main(sys.argv[1:])"
    )
    # A shard writes no report: the runs alone are what these tests are about.
    shard = () if "--shard" in options else ("--shard", "1/1")
    return [sys.executable, "-c", code, "experiment", str(experiment), "--out", str(out), *shard, *options]


def start(experiment: Path, out: Path, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command(experiment, out, *options),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def finish(process: subprocess.Popen[str]) -> str:
    """Wait for a sweep to end well and return what it said on standard error."""
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    return errors


def contents(store: Path) -> dict[str, bytes]:
    """Return the bytes of every run in a store, by its place."""
    return {str(path.relative_to(store)): path.read_bytes() for path in sorted(store.glob("*/*/run-*.npz"))}


def wait_for_runs(store: Path, count: int, process: subprocess.Popen[str] | None = None) -> None:
    deadline = time.monotonic() + PATIENCE
    while len(list(store.glob("*/*/run-*.npz"))) < count:
        assert time.monotonic() < deadline, "no run was finished in time"
        assert process is None or process.poll() is None, "the sweep ended too early to be disturbed"
        time.sleep(0.01)


def kill_all(process: subprocess.Popen[str]) -> None:
    """Kill a sweep with its workers, as a machine that fails would."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
