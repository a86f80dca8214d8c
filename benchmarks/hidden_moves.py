"""From which horizon and how many traces on the warehouse's machine is fitted, and what the plan for it is worth.

Random play, five data sets each. Nothing shows whether the gripper took the item, so the machine has hidden moves; what
tells is an episode in which, after an item, two deliveries are tried before any is paid. A plan for the fitted machine
is valued in the true task, in which each true state is called by the name of the fitted state that stands for it.
Run with: python benchmarks/hidden_moves.py [size horizon traces]
"""

from __future__ import annotations

import sys
import time

import numpy as np

import praemia
from praemia.inference import Inference
from praemia.inference.comparing import compare_with_truth
from praemia.inference.player import Played, play_episodes
from praemia.inference.reading import traces_from_arrays
from praemia.tasks.task import Task

HORIZONS = ((3, 9), (3, 12), (3, 20), (3, 30), (4, 12), (4, 24), (4, 40), (5, 15), (5, 40), (5, 60))
NUM_TRACES = (10_000, 40_000)
DATA_SETS = 5


def telling_episodes(task: Task, played: Played) -> int:
    """Return how many episodes show what tells."""
    item, delivery = (task.mdp.label_sets.index(frozenset({name})) for name in ("item", "delivery"))
    tries = played.labels == delivery
    with_item = tries & (np.cumsum(played.labels == item, axis=1) > 0)
    before_pay = np.cumsum(played.rewards, axis=1) - played.rewards == 0
    return int(((with_item & before_pay).sum(axis=1) > 1).sum())


def value_of_plan(task: Task, found: Inference) -> float:
    """Return what the plan for a fitted machine is worth; a state that none stands for acts as the initial one."""
    partners = compare_with_truth(found, task.machine).partners
    stands_for = {true: number for number, names in enumerate(partners.values()) for true in names}
    plan = praemia.solve(task.with_machine(found.machine))
    policy = plan.policy[:, [stands_for.get(state, 0) for state in task.machine.states]]
    return praemia.evaluate(task, policy).value


def main() -> None:
    asked = [int(word) for word in sys.argv[1:]]
    settings = [asked] if asked else [(*pair, number) for pair in HORIZONS for number in NUM_TRACES]
    print(
        f"{'task':<12} {'horizon':>7} {'traces':>7} {'tell':>6}  {'fitted':<7} {'least value / optimum':<21} {'s':>5}"
    )
    for size, horizon, num_traces in settings:
        task = praemia.envs.warehouse(size, horizon)
        optimum, ratios, telling, seconds = praemia.solve(task).value, [], [], []
        for seed in range(DATA_SETS):
            played = play_episodes(task, num_traces, np.random.default_rng(seed))
            telling.append(telling_episodes(task, played))
            began = time.perf_counter()
            found = praemia.infer(traces_from_arrays(played.labels, played.rewards, task.mdp.label_sets))
            seconds.append(time.perf_counter() - began)
            if found.is_fitted:
                ratios.append(value_of_plan(task, found) / optimum)
        row = f"{task.name:<12} {horizon:>7} {num_traces:>7,} {np.mean(telling):>6.0f}"
        least = f"{min(ratios):.4f}" if ratios else ""
        print(f"{row}  {len(ratios)} of {DATA_SETS}  {least:<21} {np.mean(seconds):>5.1f}", flush=True)


if __name__ == "__main__":
    main()
