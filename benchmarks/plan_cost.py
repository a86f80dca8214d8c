"""What a plan costs as the problem grows: time against observed successors × machine states × horizon.

    python benchmarks/plan_cost.py

Grids with a chain machine in which every transition was seen a few times. One size is varied at a time, then all;
x is fitted in time ~ work^x on a log–log scale to the least time of several rounds, in which the sizes take turns.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from praemia import learners
from praemia.benchmarking.tasks import grid_task
from praemia.learners.base import Experience
from praemia.models.task import Task
from praemia.simulation.tally import Tally

BASE = (40, 16, 30)  # side, machine states, horizon
SWEEPS = {
    "observations": [(side, 16, 30) for side in (10, 20, 40, 80, 160)],
    "machine states": [(40, states, 30) for states in (8, 16, 32, 64, 128)],
    "horizon": [(40, 16, steps) for steps in (8, 16, 32, 64, 128, 256)],
    "all": [(10, 8, 10), (20, 12, 20), (40, 16, 40), (60, 24, 60), (80, 32, 80)],
}
VISITS = 3


def known_task(task: Task) -> Experience:
    """Return the experience of a learner that saw every transition three times."""
    tally = Tally.of(task, on_product=False, uses_steps=True)
    arrays, edges = tally.arrays, np.diff(task.mdp.indptr)
    arrays.entries[:] = VISITS
    arrays.visits[:] = VISITS * edges
    arrays.slots[:] = arrays.pairs[:] = np.arange(len(edges))
    arrays.active[:] = np.arange(task.num_observations)
    arrays.is_active[:] = 1
    arrays.sizes[:] = len(edges), task.num_observations
    return Experience(spec=tally.spec, num_episodes=1000, seen=tally.seen(), steps=arrays.steps)


def planner(name: str, size: tuple[int, int, int]) -> tuple[int, Callable[[], object]]:
    """Return the work of a plan, and a function that makes one."""
    task = grid_task(size[0], size[1], size[2])
    learner, experience = learners.make(name), known_task(task)
    first = learner.plan(experience, None, np.random.default_rng(0))
    work = len(experience.seen.counts) * task.num_machine_states * task.horizon
    return work, lambda: learner.plan(experience, first, np.random.default_rng(0))


def fit(name: str, sizes: list[tuple[int, int, int]], rounds: int) -> tuple[float, list[float]]:
    """Return the exponent, and the nanoseconds per unit of work of each size."""
    plans = [planner(name, size) for size in sizes]
    best = [np.inf] * len(plans)
    for _ in range(rounds):
        for i, (_, plan) in enumerate(plans):
            began = time.perf_counter()
            plan()
            best[i] = min(best[i], time.perf_counter() - began)
    work = [work for work, _ in plans]
    exponent = float(np.polyfit(np.log(work), np.log(best), 1)[0])
    return exponent, [1e9 * seconds / units for seconds, units in zip(best, work, strict=True)]


def main() -> None:
    """Fit and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--learners", nargs="+", default=["ucbvi-prm", "headroom"])
    parser.add_argument("--rounds", type=int, default=7)
    chosen = parser.parse_args()
    for name in chosen.learners:
        for varied, sizes in SWEEPS.items():
            exponent, cost = fit(name, sizes, chosen.rounds)
            shown = ", ".join(f"{ns:.2f}" for ns in cost)
            print(f"{name:12} {varied:16} exponent {exponent:.3f}   ns per successor, machine state and step: {shown}")


if __name__ == "__main__":
    main()
