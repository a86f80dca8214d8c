"""What it costs not to know the machine: regret when its chances and rewards are learned, over that when it is known.

python benchmarks/learned_machine.py [--tasks riverswim-5 …] [--runs 16] [--episodes 10000]
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

from praemia import envs, learners, simulate
from praemia._support.text_tables import Table, number
from praemia.statistics.intervals import quotient_interval

TASKS = ("riverswim-5", "riverswim-10", "riverswim-15", "warehouse-3", "warehouse-4", "warehouse-5", "riverswim-prm-5")
LEARNERS = ("headroom", "ucbvi-prm", "psrl")


def final_regrets(task: str, name: str, runs: int, episodes: int, **parameters: bool) -> np.ndarray:
    """Return the final regret of each run."""
    learner, world = learners.make(name, **parameters), envs.make(task)
    return np.array([simulate(world, learner, episodes, (0, run)).regret[-1] for run in range(runs)])


def main() -> None:
    """Print a line for each task and learner."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", nargs="+", default=TASKS)
    parser.add_argument("--runs", type=int, default=16)
    parser.add_argument("--episodes", type=int, default=10_000)
    asked = parser.parse_args()
    size, rows = (asked.runs, asked.episodes), []
    for task in asked.tasks:
        for name in LEARNERS:
            print(f"playing {name} on {task}", file=sys.stderr)
            known = final_regrets(task, name, *size)
            learned = final_regrets(task, name, *size, learn_machine=True)
            moves = final_regrets(task, name, *size, learn_machine=True, moves_known=True)
            ratio = quotient_interval([learned, known], (1, -1))
            cells = (known.mean(), learned.mean(), moves.mean(), ratio.estimate, ratio.low, ratio.high)
            rows.append((task, name, *map(number, cells)))
    print(Table(("task", "learner", "known", "learned", "moves known", "ratio", "95% low", "95% high"), rows))


if __name__ == "__main__":
    main()
