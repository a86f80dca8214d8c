"""Time reward-free exploration, and compare its two methods for the same number of episodes.

    python benchmarks/bench_explore.py [--tasks warehouse-5 …] [--episodes 1000 …] [--seeds 8]

EULER's search episodes count: each method plays the same *total* number of episodes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from machine_family import machine_family

from praemia.envs import make
from praemia.exploration import Dataset, explore, plan_from
from praemia.tasks.task import Task

ROUNDS, NUM_MACHINES = 3, 8


def seconds(call: Callable[[], object]) -> float:
    """Return the shortest processor time of a few calls."""

    def once() -> float:
        began = time.process_time()
        call()
        return time.process_time() - began

    return min(once() for _ in range(ROUNDS))


def losses(task: Task, data: list[Dataset]) -> tuple[float, float, float]:
    """Return the mean and the largest loss over machines and seeds, and the mean certificate ÷ the largest loss."""
    machines = machine_family(task.machine.propositions, NUM_MACHINES).values()
    plans = [plan_from(dataset, machine) for dataset in data for machine in machines]
    found = [plan.gap(task) for plan in plans]
    return float(np.mean(found)), max(found), float(np.mean([plan.certificate.share for plan in plans]))


def ways(task: Task, total: int) -> dict[str, dict[str, Any]]:
    """Return the arguments with which each method plays so many episodes."""
    search = max(1, total // 2 // task.num_observations)
    return {
        "uncertainty": {"num_episodes": total},
        "euler": {"method": "euler", "policy_episodes": search, "num_episodes": total // 2},
    }


def main() -> None:
    """Print a line for each number of episodes and method, after the times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", nargs="+", default=["riverswim-10", "warehouse-4", "warehouse-5"])
    parser.add_argument("--episodes", type=int, nargs="+", default=[1_000, 3_000, 10_000, 30_000])
    parser.add_argument("--seeds", type=int, default=8)
    chosen = parser.parse_args()
    for name in chosen.tasks:
        task = make(name)
        print(f"\n{name}: {NUM_MACHINES} machines, {chosen.seeds} seeds; mean, largest loss, share proven, s")
        for total in chosen.episodes:
            for method, arguments in ways(task, total).items():
                data = [explore(task, seed=seed, **arguments) for seed in range(chosen.seeds)]
                mean, worst, share = losses(task, data)
                spent = seconds(partial(explore, task, **arguments))
                print(f"{total:>7,} episodes  {method:<12} {mean:.6f}  {worst:.6f}  {share:.3f}  {spent:7.2f} s")
        spent = seconds(partial(plan_from, explore(task, num_episodes=chosen.episodes[0]), task.machine))
        print(f"a plan with its certificate: {1e3 * spent:.1f} ms")


if __name__ == "__main__":
    main()
