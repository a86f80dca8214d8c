"""What a plan costs as the problem grows: time against observed successors × machine states × horizon.

    python benchmarks/plan_cost.py

Grids with a chain machine in which every transition was seen a few times, and once more since the plan before, so that
nothing of that plan can be reused. One size is varied at a time, then all; x is fitted in time ~ work^x on a log–log
scale to the least time of several rounds, in which the sizes take turns.

Then what reusing the plan before saves UCBVI-PRM in real runs: the last plans of a run, made both ways in turns.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from praemia import envs, learners
from praemia.benchmarking.roofline import seconds_of
from praemia.benchmarking.tasks import grid_task
from praemia.learners.base import Experience, LearnerPlan
from praemia.models.task import Task
from praemia.simulation.game import Game
from praemia.simulation.tally import Tally

BASE = (40, 16, 30)  # side, machine states, horizon
SWEEPS = {
    "observations": [(side, 16, 30) for side in (10, 20, 40, 80, 160)],
    "machine states": [(40, states, 30) for states in (8, 16, 32, 64, 128)],
    "horizon": [(40, 16, steps) for steps in (8, 16, 32, 64, 128, 256)],
    "all": [(10, 8, 10), (20, 12, 20), (40, 16, 40), (60, 24, 60), (80, 32, 80)],
}
REUSED_IN = ("warehouse-5", "warehouse-15", "rooms-21")


def known_task(task: Task, visits: int) -> Experience:
    """Return the experience of a learner that saw every transition so many times."""
    tally = Tally.of(task, on_product=False, uses_steps=True)
    arrays, edges = tally.arrays, np.diff(task.mdp.indptr)
    arrays.entries[:] = visits
    arrays.visits[:] = visits * edges
    arrays.slots[:] = arrays.pairs[:] = np.arange(len(edges))
    arrays.active[:] = np.arange(task.num_observations)
    arrays.is_active[:] = 1
    arrays.sizes[:] = len(edges), task.num_observations
    return Experience(spec=tally.spec, num_episodes=1000, seen=tally.seen(), steps=arrays.steps)


def planner(name: str, size: tuple[int, int, int]) -> tuple[int, Callable[[], object]]:
    """Return the work of a plan, and a function that makes one."""
    task = grid_task(size[0], size[1], size[2])
    learner, experience = learners.make(name), known_task(task, 3)
    first = learner.plan(known_task(task, 2), None, np.random.default_rng(0))
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


def saved_by_reuse(name: str, num_episodes: int = 300, last: int = 30) -> list[float]:
    """Return the time of a full plan over that of one that reuses the plan before, for the last plans of a run."""
    task, learner = envs.make(name), learners.make("ucbvi-prm")
    game = Game.start(task, learner, num_episodes, (0,))
    plan: LearnerPlan | None = None
    ratios: list[float] = []
    while game.played < num_episodes:
        experience, before = game.experience(), plan
        plan = learner.plan(experience, before, game.learner_rng)
        if game.played >= num_episodes - last and before is not None:
            action_values, visits = before.memory
            forgetful = replace(before, memory=(action_values, np.zeros_like(visits)))
            both = [
                min(seconds_of(partial(learner.plan, experience, it, game.learner_rng), 5))
                for it in (forgetful, before)
            ]
            ratios.append(both[0] / both[1])
        game.play(plan.policy)
    return ratios


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
    for name in REUSED_IN:
        ratios = sorted(saved_by_reuse(name))
        middle = ratios[len(ratios) // 2]
        spread = f"({ratios[0]:.2f} – {ratios[-1]:.2f})"
        print(f"{name:12} a full plan takes {middle:.2f} × {spread} as long as one that reuses the plan before")


if __name__ == "__main__":
    main()
