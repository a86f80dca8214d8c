"""Measurements on this machine, each a small record of plain numbers. Times are the least of several repeats."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from typing import Any

from praemia import envs, learners
from praemia.benchmarking.roofline import bandwidth, bytes_per_step, seconds_of
from praemia.benchmarking.tasks import grid_task
from praemia.learners.base import Learner
from praemia.models.task import Task
from praemia.planning.backward import choose_threads
from praemia.planning.exact import solve
from praemia.simulation.loop import run_loop
from praemia.simulation.simulate import simulate
from praemia.simulation.task_world import TaskWorld

ENOUGH = 1 << 62  # sums per step that are always worth sharing among threads
WARM_EPISODES = 2_000
FIRST_CALL = """
import time
began = time.perf_counter()
from praemia import envs, learners, simulate
imported = time.perf_counter()
simulate(envs.make("warehouse-4"), learners.make("{learner}"), 10)
print(imported - began, time.perf_counter() - imported)
"""


def all_threads() -> int:
    """Return the number of threads that large tasks use by default."""
    return choose_threads(None, ENOUGH)


def planning(task: Task, threads: int, repeats: int, bytes_per_second: float) -> dict[str, float]:
    """Measure exact planning against the time that moving its bytes takes at least."""
    taken = seconds_of(lambda: solve(task, keep_values=False, threads=threads), repeats)
    best = min(taken)
    size = task.num_observations * task.num_machine_states * task.horizon
    limit = bytes_per_step(task) * task.horizon / bytes_per_second
    return {
        "threads": threads,
        "seconds": best,
        "median_seconds": statistics.median(taken),
        "ns_per_state_and_step": 1e9 * best / size,
        "times_the_limit": best / limit,
        "percent_of_bandwidth": 100.0 * limit / best,
    }


def exact_planning(side: int = 200, num_machine_states: int = 20, horizon: int = 40) -> dict[str, Any]:
    """Measure exact planning on a grid of 40,000 observations, with one thread and with all."""
    task = grid_task(side, num_machine_states, horizon)
    solve(grid_task(5, num_machine_states, 2), threads=1)
    solve(grid_task(5, num_machine_states, 2), threads=2)
    counts = sorted({1, all_threads()})
    moved = {threads: bandwidth(threads) for threads in counts}
    return {
        "observations": task.num_observations,
        "machine_states": num_machine_states,
        "horizon": horizon,
        "bytes_per_second": {str(threads): speed for threads, speed in moved.items()},
        "runs": [planning(task, threads, 5, moved[threads]) for threads in counts],
    }


def steps_per_second(num_episodes: int = 400_000, repeats: int = 5) -> dict[str, float]:
    """Measure playing a fixed policy in the 5 × 5 warehouse: drawing, moving, paying and counting, no plans."""
    task = envs.make("warehouse-5")
    part = num_episodes // repeats
    player = learners.make("optimal")  # it plans once; whether a plan is due is found out all the same
    world = TaskWorld(task, player, WARM_EPISODES + repeats * part, (0,), valued=False)
    run_loop(world, WARM_EPISODES)
    taken = seconds_of(lambda: run_loop(world, world.played + part), repeats)
    speeds = sorted(part * task.horizon / seconds for seconds in taken)
    return {"best": speeds[-1], "median": statistics.median(speeds), "worst": speeds[0]}


def run_times(name: str, num_episodes: int = 10_000, repeats: int = 5) -> dict[str, float]:
    """Measure whole runs in the 5 × 5 warehouse, with their plans and the exact value of each."""
    task, learner = envs.make("warehouse-5"), learners.make(name)
    simulate(task, learner, 20)
    taken = seconds_of(lambda: simulate(task, learner, num_episodes, 1), repeats)
    plans = simulate(task, learner, num_episodes, 1).num_plans
    return {"seconds": min(taken), "median_seconds": statistics.median(taken), "plans": plans}


def plan_times(task: Task, learner: Learner, num_episodes: int = 300, repeats: int = 30) -> dict[str, float]:
    """Measure one plan of a learner, from what it knows after some episodes."""
    world = TaskWorld(task, learner, num_episodes, (0,), valued=False)
    run_loop(world, num_episodes)
    world.replan()  # the first call loads what is compiled
    taken = seconds_of(world.replan, repeats)
    return {"seconds": min(taken), "median_seconds": statistics.median(taken)}


def first_call(learner: str = "ucbvi-prm") -> dict[str, float]:
    """Measure, in processes of their own, importing and a first short run: with an empty cache, then a full one."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        (imported, cold), (_, warm) = (_first_call(environment, learner) for _ in range(2))
    return {"import_seconds": imported, "empty_cache_seconds": cold, "full_cache_seconds": warm}


def _first_call(environment: dict[str, str], learner: str) -> tuple[float, float]:
    command = [sys.executable, "-c", FIRST_CALL.format(learner=learner)]
    ran = subprocess.run(command, env=environment, capture_output=True, check=True, text=True)
    imported, first = map(float, ran.stdout.split())
    return imported, first
