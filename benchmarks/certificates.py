"""Measure how loose certificates are: the bound, the likely loss and the true loss of plans from the same data.

python benchmarks/certificates.py [--tasks warehouse-4 …] [--episodes 300 1000 …]
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

import numpy as np
from machine_family import machine_family

from praemia.envs import make
from praemia.exploration import Dataset, explore, plan_from
from praemia.machines.labels import Labelling, LabelRule

TASKS = ("warehouse-4", "warehouse-5", "riverswim-10")
BUDGETS = (300, 1_000, 3_000, 10_000)
NUM_MACHINES = 4


def hidden(dataset: Dataset) -> Dataset:
    """Return the data as a black box would have it: only the labels of transitions that were seen are known."""
    o, a = np.divmod(dataset.pairs, dataset.num_actions)
    numbers, sets = dataset.labelling.of(o, a, dataset.successors)
    seen = zip(numbers.tolist(), o.tolist(), a.tolist(), dataset.successors.tolist(), strict=True)
    rules = tuple(LabelRule(sets[number], *step) for number, *step in seen if sets[number])
    return replace(dataset, labels_known=False, labelling=Labelling(rules))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tasks", nargs="+", default=TASKS)
    parser.add_argument("--episodes", type=int, nargs="+", default=BUDGETS)
    chosen = parser.parse_args()
    for name in chosen.tasks:
        task = make(name)
        machines = list(machine_family(task.machine.propositions, NUM_MACHINES).values())
        print(f"\n{name}, mean over {NUM_MACHINES} machines: proven; proven with hidden labels; likely loss; true loss")
        for episodes in chosen.episodes:
            data = explore(task, num_episodes=episodes, seed=0)
            plans = [plan_from(data, machine) for machine in machines]
            unknown = [plan_from(hidden(data), machine).certificate.bound for machine in machines]
            columns: list[list[Any]] = [
                [plan.certificate.bound for plan in plans],
                unknown,
                [plan.likely_loss for plan in plans],
                [plan.gap(task) for plan in plans],
            ]
            most = float(np.mean([plan.certificate.largest for plan in plans]))
            numbers = "  ".join(f"{sum(column) / len(column):.4f}" for column in columns)
            print(f"{episodes:>7,} episodes  {numbers}  of at most {most:.2f}")


if __name__ == "__main__":
    main()
