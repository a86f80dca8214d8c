"""Headroom against every other learner, as they are and when they too replan within episodes: regret ÷ the learner's.

    python benchmarks/against_all.py                     # about 15 minutes of one core
    python benchmarks/against_all.py psrl eqo --tasks 2

Every learner has its usual setting. *At once* it makes a plan as soon as its own rule says that one is due, and not
before the next episode. Ratios below 1 favour headroom: geometric means over held-out generated tasks of all kinds,
every kind counting once, with 95 % intervals over tasks within kinds.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

import numpy as np

from praemia import Task, learners, simulate
from praemia.envs.generated_tasks import KINDS, generated_task
from praemia.experiments.loading import load_experiment
from praemia.statistics.intervals import ratio_within_groups
from praemia.text_tables import Table, number

FIRST_SEED = 500
OURS, AT_ONCE = "headroom", "-at-once"
LEAST = 1e-2  # a regret below this counts as this


def mean_regret(task: Task, learner: learners.Learner, runs: int, episodes: int) -> float:
    """Return the mean of the final regrets."""
    return max(LEAST, float(np.mean([simulate(task, learner, episodes, (93, run)).regret[-1] for run in range(runs)])))


def main() -> None:
    """Play and print a line for each learner."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "learners",
        nargs="*",
        default=[own.name for own in load_experiment("league").groups[0].choices if own.name == own.title != OURS],
    )
    parser.add_argument("--tasks", type=int, default=4, help="of each kind")
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--episodes", type=int, default=3_000)
    asked = parser.parse_args()
    tasks = {kind: [generated_task(kind, FIRST_SEED + i) for i in range(asked.tasks)] for kind in KINDS}
    length = (asked.runs, asked.episodes)
    ours = {task.name: mean_regret(task, learners.make(OURS), *length) for group in tasks.values() for task in group}
    rows = []
    for name in asked.learners:
        usual, cells = learners.make(name), []
        for learner in (usual, replace(usual, replan=usual.replan + AT_ONCE)):
            print(f"playing {name}, {learner.replan}", file=sys.stderr)
            logs = [
                [float(np.log(ours[task.name] / mean_regret(task, learner, *length))) for task in group]
                for group in tasks.values()
            ]
            ratio = ratio_within_groups(logs)
            cells += [number(ratio.estimate), f"{number(ratio.low)} – {number(ratio.high)}"]
        rows.append((name, *cells))
    print(
        f"{asked.tasks} tasks of each kind, {asked.runs} runs of {asked.episodes:,} episodes: headroom ÷ the learner\n"
    )
    print(Table(("learner", "as it is", "95 %", "at once", "95 %"), rows))


if __name__ == "__main__":
    main()
