"""From which horizon and how many traces on the warehouse's machine is told to lie outside the class.

Random play, five data sets each. Run with: python benchmarks/outside_the_class.py
"""

from __future__ import annotations

import numpy as np

import praemia
from praemia.inference.episode_sampler import Played, Sampler
from praemia.inference.reading import traces_from_arrays
from praemia.tasks.task import Task

SETTINGS = ((3, 9), (3, 12), (3, 20), (3, 30), (4, 12), (4, 24), (4, 40), (5, 15), (5, 40), (5, 60))
NUM_TRACES = (10_000, 40_000)
DATA_SETS = 5


def after_a_failure(task: Task, played: Played) -> int:
    """Return how many episodes show what tells: a delivery that did not pay after an item, and then another one."""
    item, delivery = (task.mdp.label_sets.index(frozenset({name})) for name in ("item", "delivery"))
    tries = played.labels == delivery
    with_item = tries & (np.cumsum(played.labels == item, axis=1) > 0)
    before_pay = np.cumsum(played.rewards, axis=1) - played.rewards == 0
    return int(((with_item & before_pay).sum(axis=1) > 1).sum())


def main() -> None:
    print(f"{'task':<12} {'horizon':>7} {'traces':>7} {'tell':>6}  told")
    for size, horizon in SETTINGS:
        task = praemia.envs.warehouse(size, horizon)
        for num_traces in NUM_TRACES:
            told, telling = 0, []
            for seed in range(DATA_SETS):
                played = Sampler(task).play(num_traces, np.random.default_rng(seed))
                found = praemia.infer(traces_from_arrays(played.labels, played.rewards, task.mdp.label_sets))
                told += found.outside_class is not None
                telling.append(after_a_failure(task, played))
            row = f"{task.name:<12} {horizon:>7} {num_traces:>7,} {np.mean(telling):>6.0f}"
            print(f"{row}  {told} of {DATA_SETS}", flush=True)


if __name__ == "__main__":
    main()
