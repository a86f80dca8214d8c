"""Measure how the cost of a plan grows: time against observed successors × machine states × horizon.

    python benchmarks/plan_cost.py [--learners ucbvi-prm headroom] [--sweeps horizon …] [--rounds 7]

Grids with a chain machine in which every transition was seen a few times. Varies one size at a time, then all, and fits
x in time ~ work^x on a log–log scale to the best time of several rounds, in which the sizes take turns.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from grid_tasks import grid_task

from praemia import learners
from praemia.kernels.counts import ROWS, SLOTS, TRANSITION, TRANSITIONS
from praemia.kernels.records import ROW
from praemia.simulation.task_world import TaskWorld

SWEEPS = {
    "observations": [(side, 16, 30) for side in (10, 20, 40, 80, 160)],
    "machine states": [(40, states, 30) for states in (8, 16, 32, 64, 128)],
    "horizon": [(40, 16, steps) for steps in (8, 16, 32, 64, 128, 256)],
    "all": [(10, 8, 10), (20, 12, 20), (40, 16, 40), (60, 24, 60), (80, 32, 80)],
}
VISITS = 3


def known_world(name: str, size: tuple[int, int, int]) -> tuple[int, TaskWorld]:
    """Return the work of a plan, and a world in which every transition was seen a few times."""
    world = TaskWorld(grid_task(*size), learners.make(name), 1000, (0,), valued=False)
    arrays, edges = world.arrays, np.diff(world.arrays.indptr)
    size_of_all, num_rows = len(arrays.edges), len(arrays.extra_rows)
    counts = world.counts._replace(
        transitions=np.zeros(size_of_all + size[2], dtype=TRANSITION), rows=np.zeros(num_rows + size[2], dtype=ROW)
    )
    seen, rows = counts.transitions[:size_of_all], counts.rows[:num_rows]
    seen["count"], seen["pair"] = VISITS, np.repeat(np.arange(len(edges)), edges)
    seen["next"] = np.arange(2, size_of_all + 2)
    seen["next"][arrays.indptr[1:] - 1] = 0
    for name in ("row", "target", "label"):
        seen[name] = arrays.edges[name]
    rows["label"], rows["target"] = arrays.extra_rows["label"], arrays.extra_rows["target"]
    counts.first[:], counts.visits[:] = arrays.indptr[:-1] + 1, VISITS * edges
    counts.slots[:], counts.is_met[:] = np.arange(len(edges)), True
    counts.totals[TRANSITIONS], counts.totals[ROWS], counts.totals[SLOTS] = size_of_all, num_rows, len(edges)
    world.counts = counts
    return size_of_all * size[1] * size[2], world


def fit(name: str, sizes: list[tuple[int, int, int]], rounds: int) -> tuple[float, list[float]]:
    """Return the exponent, and the nanoseconds per unit of work of each size."""
    worlds = [known_world(name, size) for size in sizes]
    best = [np.inf] * len(worlds)
    for _ in range(rounds):
        for i, (_, world) in enumerate(worlds):
            began = time.perf_counter()
            world.replan()
            best[i] = min(best[i], time.perf_counter() - began)
    work = [work for work, _ in worlds]
    exponent = float(np.polyfit(np.log(work), np.log(best), 1)[0])
    return exponent, [1e9 * seconds / units for seconds, units in zip(best, work, strict=True)]


def main() -> None:
    """Fit and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--learners", nargs="+", default=["ucbvi-prm", "headroom"])
    parser.add_argument("--sweeps", nargs="+", choices=SWEEPS, default=list(SWEEPS))
    parser.add_argument("--rounds", type=int, default=7)
    chosen = parser.parse_args()
    for name in chosen.learners:
        for varied in chosen.sweeps:
            exponent, cost = fit(name, SWEEPS[varied], chosen.rounds)
            shown = ", ".join(f"{ns:.2f}" for ns in cost)
            print(f"{name:12} {varied:16} exponent {exponent:.3f}   ns per successor, machine state and step: {shown}")


if __name__ == "__main__":
    main()
