"""How long inferring a machine takes: 10,000 traces of random play. Run with: python benchmarks/infer_traces.py"""

from __future__ import annotations

import time

import numpy as np

import praemia
from praemia.inference.player import play_episodes

TASKS = (
    praemia.envs.riverswim(5, 20),
    praemia.envs.riverswim_prm(5, 20),
    praemia.envs.warehouse(3, 20),
)


def main() -> None:
    for task in TASKS:
        traces = play_episodes(task, 10_000, np.random.default_rng(0)).traces(task)
        began = time.perf_counter()
        found = praemia.infer(traces)
        seconds = time.perf_counter() - began
        steps = f"10,000 traces of {task.horizon} steps"
        print(f"{task.name:<16} {steps}: {seconds:5.1f} s, {found.machine.num_states} states")


if __name__ == "__main__":
    main()
