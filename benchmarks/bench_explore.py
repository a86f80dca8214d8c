"""Time reward-free exploration, and compare its two methods for the same number of episodes.

    python -m pytest benchmarks/bench_explore.py -s

EULER's search episodes count: each method plays the same *total* number of episodes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from machine_family import machine_family

from praemia.envs import make
from praemia.exploration import Dataset, explore, plan_from
from praemia.tasks.task import Task

NUM_SEEDS = 8


@pytest.mark.parametrize("method", ["uncertainty", "euler"])
def test_explore_warehouse_5(benchmark: Any, method: str) -> None:
    """10,000 episodes; EULER's 25 runs of 1,000 episodes come before them."""
    task = make("warehouse-5")
    explore(task, num_episodes=5, method=method)  # compile first
    arguments = {"num_episodes": 10_000, "method": method}
    dataset = benchmark.pedantic(explore, (task,), arguments, rounds=3, iterations=1)
    print(f"\n{dataset.coverage()}")


def test_plan_from_warehouse_5(benchmark: Any) -> None:
    """A plan with its certificate, from explored data."""
    task = make("warehouse-5")
    dataset = explore(task, num_episodes=1000)
    plan_from(dataset, task.machine)  # compile first
    plan = benchmark(plan_from, dataset, task.machine)
    print(f"\n{plan.value}; {plan.certificate.text(dataset)}")


def losses(task: Task, data: list[Dataset]) -> tuple[float, float, float]:
    """Return the mean and the largest loss over machines and seeds, and the mean certificate ÷ the largest loss."""
    machines = machine_family(task.machine.propositions, 8).values()
    plans = [plan_from(dataset, machine) for dataset in data for machine in machines]
    found = [plan.gap(task) for plan in plans]
    return float(np.mean(found)), max(found), float(np.mean([plan.certificate.share for plan in plans]))


@pytest.mark.parametrize("name", ["riverswim-10", "warehouse-4", "warehouse-5"])
def test_the_two_methods_at_equal_episodes(name: str) -> None:
    task = make(name)
    print(f"\n{task.name}: 8 machines, {NUM_SEEDS} seeds; mean loss, largest loss, mean certificate as a share")
    for total in (1_000, 3_000, 10_000, 30_000):
        search = max(1, total // 2 // task.num_observations)
        ways: dict[str, dict[str, Any]] = {
            "uncertainty": {"num_episodes": total},
            "euler": {"method": "euler", "policy_episodes": search, "num_episodes": total // 2},
        }
        for label, arguments in ways.items():
            mean, worst, share = losses(task, [explore(task, seed=seed, **arguments) for seed in range(NUM_SEEDS)])
            print(f"{total:>7,} episodes  {label:<12} {mean:.6f}  {worst:.6f}  {share:.3f}")
