"""How long inferring a machine takes: 10,000 traces of random play. Run with: python benchmarks/infer_traces.py"""

from __future__ import annotations

import time

import numpy as np

import praemia
from praemia.inference.player import play_episodes
from praemia.inference.reading import traces_from_arrays

TASKS = (
    praemia.envs.riverswim(5, 20),
    praemia.envs.riverswim_prm(5, 20),
    praemia.envs.warehouse(3, 20),
)


def main() -> None:
    for task in TASKS:
        played = play_episodes(task, 10_000, np.random.default_rng(0))
        began = time.perf_counter()
        inference = praemia.infer(traces_from_arrays(played.labels, played.rewards, task.mdp.label_sets))
        seconds = time.perf_counter() - began
        steps = f"10,000 traces of {task.horizon} steps"
        print(f"{task.name:<16} {steps}: {seconds:5.1f} s, {inference.machine.num_states} states")


if __name__ == "__main__":
    main()
