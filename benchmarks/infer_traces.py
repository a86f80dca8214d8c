"""How long inferring a machine takes from traces of random play: python benchmarks/infer_traces.py [--traces 10000]"""

from __future__ import annotations

import argparse
import time

import numpy as np

import praemia

TASKS = (
    praemia.envs.riverswim(5, 20),
    praemia.envs.riverswim_prm(5, 20),
    praemia.envs.warehouse(3, 20),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--traces", type=int, default=10_000)
    num_traces = parser.parse_args().traces
    for task in TASKS:
        shape = (task.max_steps, task.num_machine_states, task.num_observations, task.num_actions)
        uniform = np.full(shape, 1 / task.num_actions)
        episodes = (praemia.rollout(task, uniform, seed=seed) for seed in range(num_traces))
        traces = [[(step.label, step.reward) for step in episode] for episode in episodes]
        began = time.perf_counter()
        inference = praemia.infer(traces)
        seconds = time.perf_counter() - began
        steps = f"{num_traces:,} traces of {task.horizon} steps"
        print(f"{task.name:<16} {steps}: {seconds:5.1f} s, {inference.machine.num_states} states")


if __name__ == "__main__":
    main()
