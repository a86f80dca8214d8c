"""Many processes that write to one new store at once; some are killed. Run by ``test_store_races`` as a script.

Children are forked, so that all are at work within milliseconds. Each writes one run, reads it back, and exits with 0.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from pathlib import Path

import numpy as np

from praemia.errors import PraemiaError
from praemia.experiments.jobs import Job, LearnerChoice, TaskText
from praemia.experiments.store import StoredRuns
from praemia.simulation import Run

NUM_RUNS = 5  # fewer than processes: each run is written by several at once


def made_up(number: int) -> Run:
    """Return a run that nobody played: what it says does not matter here."""
    learner = LearnerChoice("random", {"replan": "doubling"}, "random")
    job = Job(TaskText.builtin("riverswim-5"), learner, 400, (0, number % NUM_RUNS))
    return Run(
        task=job.task.name,
        learner=learner.name,
        parameters=dict(learner.parameters),
        seed=job.seed,
        num_episodes=400,
        optimal_value=1.0,
        plan_episodes=np.array([0]),
        plan_values=np.array([0.5]),
        optimistic_values=np.array([np.nan]),
        returns=np.random.default_rng(job.seed).random(400),
        steps=np.ones(400, dtype=np.int64),
        seconds=0.5,
        task_text=job.task.text,
    )


def write(folder: Path, number: int) -> int:
    """Write a run to a store that may not be there yet and read it back; return an exit status."""
    run = made_up(number)
    try:
        store = StoredRuns.create(folder)
        store.write(run)
        same = store.read(Job.of(run)).to_bytes() == run.to_bytes()
    except (PraemiaError, OSError) as error:
        print(f"process {number}: {type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0 if same else 3


def started(folder: Path, number: int) -> int:
    """Fork a child that writes; return its id."""
    child = os.fork()
    if child == 0:
        status = 9
        try:
            status = write(folder, number)
        finally:
            sys.stderr.flush()
            os._exit(status)
    return child


def race(folder: Path, num_processes: int, share_killed: float, moments: random.Random) -> None:
    """Have many processes write at once, kill some at random moments, and look at what they leave."""
    children = [started(folder, number) for number in range(num_processes)]
    for child in moments.sample(children, round(share_killed * num_processes)):
        time.sleep(moments.expovariate(1 / 0.001))
        os.kill(child, signal.SIGKILL)
    for child in children:
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert status == 0 or (share_killed > 0 and status == -signal.SIGKILL), f"a process ended with {status}"
    assert not share_killed or all(write(folder, number) == 0 for number in range(NUM_RUNS))  # what is missing
    store = StoredRuns.open(folder)
    runs = {run.seed: run.to_bytes() for run in store.runs()}
    assert not store.damaged, store.damaged
    assert runs == {run.seed: run.to_bytes() for run in map(made_up, range(NUM_RUNS))}
    if not share_killed:
        assert not list(folder.rglob("*.partial"))


if __name__ == "__main__":
    place, num_folders, processes = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    chance = random.Random(7)
    for share in (0.0, 0.5):
        for index in range(num_folders):
            race(place / f"store-{share}-{index}", processes, share, chance)
    print("done")
