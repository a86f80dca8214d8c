"""Bad luck on random tasks: Headroom's mean, 95 % and worst run over UCBVI-PRM's, on random kernels of every kind.

python benchmarks/tails.py [--runs 64] [--episodes 5000]

Ratios are geometric means over tasks, with 95 % intervals over tasks; drawn tasks are untouched ones of the league.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import numpy as np

from praemia import envs, learners, simulate
from praemia.statistics.intervals import ratio_over_groups
from praemia.text_tables import Table, number

RANDOM = tuple(f"random-20x4x5-{seed}" for seed in range(6))
DRAWN = tuple(f"generated-{kind}-{seed}" for kind in ("sparse", "dense", "actions") for seed in range(4))
OURS, REFERENCE = "headroom", "ucbvi-prm"
MEASURES: dict[str, Callable[[np.ndarray], float]] = {
    "mean": lambda final: float(final.mean()),
    "95 % run": lambda final: float(np.quantile(final, 0.95)),
    "worst run": lambda final: float(final.max()),
}


def final_regrets(task: str, name: str, runs: int, episodes: int) -> np.ndarray:
    """Return the final regret of each run."""
    learner, world = learners.make(name), envs.make(task)
    return np.array([simulate(world, learner, episodes, (11, run)).regret[-1] for run in range(runs)])


def main() -> None:
    """Print both learners' numbers on every task, and the ratios over groups of tasks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=64)
    parser.add_argument("--episodes", type=int, default=5_000)
    asked = parser.parse_args()
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for task in (*RANDOM, *DRAWN):
        print(f"playing {task}", file=sys.stderr)
        ours, others = (final_regrets(task, name, asked.runs, asked.episodes) for name in (OURS, REFERENCE))
        found[task] = {name: (measure(ours), measure(others)) for name, measure in MEASURES.items()}
    rows = [[task, *(f"{number(a)} / {number(b)}" for a, b in found[task].values())] for task in found]
    print(f"{OURS} / {REFERENCE}, {asked.runs} runs of {asked.episodes:,} episodes\n")
    print(Table(("task", *MEASURES), rows))
    ratios = []
    for group, tasks in (("random-20x4x5", RANDOM), ("drawn", DRAWN), ("all", (*RANDOM, *DRAWN))):
        intervals = [
            ratio_over_groups([[float(np.log(np.divide(*found[task][name])))] for task in tasks]) for name in MEASURES
        ]
        cells = (f"{number(i.estimate)} ({number(i.low)} – {number(i.high)})" for i in intervals)
        ratios.append((group, *cells))
    print(f"\n{Table(('ratio', *MEASURES), ratios)}")


if __name__ == "__main__":
    main()
