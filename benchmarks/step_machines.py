"""Time one step of 4,096 machines as NumPy arrays, beside a Python loop over as many wrappers.

python benchmarks/step_machines.py [--copies 4096] [--steps 200]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np

import praemia

NAMES = ["left", "flag"]
LABELS = {code: [name for i, name in enumerate(NAMES) if code >> i & 1] for code in range(4)}


class Silent(gymnasium.Env[Any, Any]):
    """An environment whose observation is its action."""

    observation_space = action_space = gymnasium.spaces.Discrete(4)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        return action, 0.0, False, False, {}


def seconds(step: Callable[[Any], object], copies: int, steps: int) -> float:
    """Return the median time of a step."""
    taken = []
    for labels in np.random.default_rng(1).integers(4, size=(steps, copies)):
        began = time.perf_counter()
        step(labels)
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--copies", type=int, default=4096)
    parser.add_argument("--steps", type=int, default=200)
    chosen = parser.parse_args()
    machine = praemia.RewardMachine.from_ltlf("F(left & X F flag)").with_chance({"left": 0.8})
    envs = [praemia.MachineWrapper(Silent(), LABELS, machine) for _ in range(chosen.copies)]
    for seed, env in enumerate(envs):
        env.reset(seed=seed)
    arrays, rng = machine.to_arrays(NAMES), np.random.default_rng(0)
    states = rng.integers(len(arrays.states), size=chosen.copies)
    loop = seconds(
        lambda labels: [env.step(label) for env, label in zip(envs, labels.tolist(), strict=True)],
        chosen.copies,
        max(1, chosen.steps // 20),
    )
    batch = seconds(lambda labels: arrays.step(states, labels, rng), chosen.copies, chosen.steps)
    print(f"wrappers {1e3 * loop:.2f} ms a step, arrays {1e3 * batch:.2f} ms: {loop / batch:.0f} times as fast")


if __name__ == "__main__":
    main()
