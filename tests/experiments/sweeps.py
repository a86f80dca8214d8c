"""A small sweep, run through the real command in processes of its own, for the tests of the runner."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from praemia.cli import execute

EXPERIMENT = """
tasks: [riverswim-5, warehouse-3]
learners: [ucbvi-prm, {learner: crm, title: crm}, patient.py:Patient]
runs: 3
episodes: 300
"""
NUM_RUNS = 2 * 3 * 3
BEFORE_HOLDING = 3 * 3 + 2  # runs that are finished whatever is held: the first task's, and two before its first plan
PATIENCE = 600.0  # seconds until a test gives up: far more than anything takes on a busy machine
HOLD = "PRAEMIA_TEST_HOLD"

# In the second task it waits for as long as a file is there, so that no sweep ends before it was disturbed.
PATIENT = f"""
import os, time
from typing import ClassVar

import numpy as np

from praemia import Learner, LearnerPlan


class Patient(Learner):
    name: ClassVar[str] = "patient"

    def plan(self, experience, previous, rng):
        spec = experience.spec
        while spec.num_observations > 5 and os.path.exists(os.environ.get("{HOLD}", "")):
            time.sleep(0.01)
        shape = (spec.horizon, spec.num_machine_states, spec.num_observations)
        return LearnerPlan(rng.integers(spec.num_actions, size=shape))
"""


def write_experiment(folder: Path) -> Path:
    (folder / "patient.py").write_text(PATIENT)
    path = folder / "small.yaml"
    path.write_text(EXPERIMENT)
    return path


def arguments(experiment: Path, out: Path, *options: str) -> list[str]:
    """Return what to tell the command. A shard writes no report: the runs alone are what these tests are about."""
    shard = () if "--shard" in options else ("--shard", "1/1")
    return ["experiment", str(experiment), "--allow-code", "--out", str(out), *shard, *options]


def start(experiment: Path, out: Path, *options: str, hold: Path | None = None) -> subprocess.Popen[str]:
    """Start a sweep in a process of its own; with ``hold`` it ends only after ``release(hold)``."""
    # Ctrl-C is handled as usual also where the tests run in the background, with it ignored.
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from praemia.cli import main; main(sys.argv[1:])"
    )
    if hold is not None:
        hold.touch()
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments(experiment, out, *options)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=holding(hold),
    )


def holding(hold: Path | None) -> dict[str, str]:
    """Return the environment of processes that wait while a file is there."""
    return {**os.environ, HOLD: "" if hold is None else str(hold)}


def run_here(experiment: Path, out: Path, *options: str) -> None:
    """Run a sweep in this process, undisturbed."""
    assert execute(arguments(experiment, out, "--jobs", "1", *options)) == 0


def finish(process: subprocess.Popen[str]) -> str:
    """Wait for a sweep to end well and return what it said on standard error."""
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    return errors


def contents(store: Path) -> dict[str, bytes]:
    """Return the bytes of every run in a store, by its place."""
    return {str(path.relative_to(store)): path.read_bytes() for path in sorted(store.glob("*/run-*.npz"))}


def wait_for_runs(store: Path, count: int, process: subprocess.Popen[str] | None = None) -> None:
    deadline = time.monotonic() + PATIENCE
    while len(list(store.glob("*/run-*.npz"))) < count:
        assert time.monotonic() < deadline, "no run was finished in time"
        assert process is None or process.poll() is None, "the sweep ended too early to be disturbed"
        time.sleep(0.01)


def kill_all(process: subprocess.Popen[str]) -> None:
    """Kill a sweep with its workers, as a machine that fails would."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
