"""Bad luck on random tasks: Headroom's mean, 95 % and worst run over UCBVI-PRM's.

python benchmarks/tails.py [--runs 64] [--episodes 5000] [--seeds 6]

Ratios are geometric means over tasks, with 95 % intervals over tasks; generated tasks are held-out ones of the league.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import numpy as np

from praemia import envs, learners, simulate
from praemia._support.text_tables import Table, number
from praemia.statistics.intervals import ratio_over_groups

KINDS = ("sparse", "dense", "actions")
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
    parser.add_argument("--seeds", type=int, default=6, help="tasks of the first kind; two fewer of each other kind")
    asked = parser.parse_args()
    random = tuple(f"random-20x4x5-{seed}" for seed in range(asked.seeds))
    generated = tuple(f"generated-{kind}-{seed}" for kind in KINDS for seed in range(max(1, asked.seeds - 2)))
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for task in (*random, *generated):
        print(f"playing {task}", file=sys.stderr)
        ours, others = (final_regrets(task, name, asked.runs, asked.episodes) for name in (OURS, REFERENCE))
        found[task] = {name: (measure(ours), measure(others)) for name, measure in MEASURES.items()}
    rows = [[task, *(f"{number(a)} / {number(b)}" for a, b in found[task].values())] for task in found]
    print(f"{OURS} / {REFERENCE}, {asked.runs} runs of {asked.episodes:,} episodes\n")
    print(Table(("task", *MEASURES), rows))
    ratios = []
    for group, tasks in (("random-20x4x5", random), ("generated", generated), ("all", (*random, *generated))):
        intervals = [
            ratio_over_groups([[float(np.log(np.divide(*found[task][name])))] for task in tasks]) for name in MEASURES
        ]
        cells = (f"{number(i.estimate)} ({number(i.low)} – {number(i.high)})" for i in intervals)
        ratios.append((group, *cells))
    print(f"\n{Table(('ratio', *MEASURES), ratios)}")


if __name__ == "__main__":
    main()
