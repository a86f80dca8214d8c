"""Time one step of 4,096 machines: as arrays in NumPy, torch and JAX, beside a Python loop over as many wrappers.

python benchmarks/step_machines.py [--copies 4096] [--steps 200]

torch and JAX are timed where they are installed. The loop's time holds that of its environments, which do nothing.
Times are the median of the steps, after some to warm up, and ratios are of one run.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from typing import Any

import gymnasium
import numpy as np

import praemia

WARM_UP = 3
NAMES = ["left", "flag"]
LABELS = {code: [name for i, name in enumerate(NAMES) if code >> i & 1] for code in range(4)}


class Silent(gymnasium.Env[Any, Any]):
    """An environment that observes its action, and nothing else."""

    observation_space = action_space = gymnasium.spaces.Discrete(4)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        return action, 0.0, False, False, {}


def wrappers(machine: praemia.RewardMachine, copies: int) -> Callable[[Any], None]:
    envs = [praemia.MachineWrapper(Silent(), LABELS, machine) for _ in range(copies)]
    for seed, env in enumerate(envs):
        env.reset(seed=seed)

    def step(labels: Any) -> None:
        for env, label in zip(envs, labels.tolist(), strict=True):
            env.step(label)

    return step


def in_numpy(machine: praemia.RewardMachine, copies: int) -> Callable[[Any], None]:
    arrays, rng = machine.to_arrays(NAMES), np.random.default_rng(0)
    states = np.full(copies, arrays.initial)

    def step(labels: Any) -> None:
        nonlocal states
        states, _ = arrays.step(states, labels, rng)

    return step


def in_torch(machine: praemia.RewardMachine, copies: int) -> Callable[[Any], None]:
    import torch

    torch.set_num_threads(1)  # for batches of this size threads wait for each other
    arrays = machine.to_arrays(NAMES)
    targets, probs, rewards = (torch.tensor(part) for part in (arrays.targets, arrays.probs, arrays.rewards))
    states = torch.full((copies,), arrays.initial)

    def step(labels: Any) -> None:
        nonlocal states
        label = torch.from_numpy(labels)
        outcome = torch.multinomial(probs[states, label], 1)[:, 0]
        states, _ = targets[states, label, outcome], rewards[states, label, outcome]

    return step


def in_jax(machine: praemia.RewardMachine, copies: int) -> Callable[[Any], None]:
    import jax

    arrays = machine.to_arrays(NAMES)
    targets, rewards = jax.numpy.array(arrays.targets), jax.numpy.array(arrays.rewards)
    logits = jax.numpy.log(arrays.probs)

    def move(key: Any, states: Any, labels: Any) -> Any:
        key, used = jax.random.split(key)
        outcome = jax.random.categorical(used, logits[states, labels])
        return key, targets[states, labels, outcome], rewards[states, labels, outcome]

    moved = jax.jit(move)
    key, states = jax.random.key(0), jax.numpy.full(copies, arrays.initial)

    def step(labels: Any) -> None:
        nonlocal key, states
        key, states, reward = moved(key, states, labels)
        reward.block_until_ready()

    return step


def seconds(step: Callable[[Any], None], copies: int, steps: int) -> float:
    """Return the median time of a step."""

    def times() -> Iterator[float]:
        for labels in np.random.default_rng(1).integers(4, size=(WARM_UP + steps, copies)):
            begin = time.perf_counter()
            step(labels)
            yield time.perf_counter() - begin

    return statistics.median(list(times())[WARM_UP:])


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--copies", type=int, default=4096)
    parser.add_argument("--steps", type=int, default=200)
    options = parser.parse_args(arguments)
    machine = praemia.RewardMachine.from_ltlf("F(left & X F flag)").with_chance({"left": 0.8})
    loop = seconds(wrappers(machine, options.copies), options.copies, max(1, options.steps // 20))
    print(f"wrappers  {1e3 * loop:8.2f} ms a step")
    for name, make in {"numpy": in_numpy, "torch": in_torch, "jax": in_jax}.items():
        if find_spec(name) is None:
            print(f"{name:8}  not installed")
        else:
            own = seconds(make(machine, options.copies), options.copies, options.steps)
            print(f"{name:8}  {1e3 * own:8.2f} ms a step, {loop / own:6.0f} times as fast")


if __name__ == "__main__":
    main()
