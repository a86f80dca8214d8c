"""Time a step in a black box: MountainCar in 120 cells, alone with random actions, and played by learners.

    python benchmarks/box_speed.py          # about a minute of one core

``random`` plans once, so it shows the cost of a step; for the others planning is part of the time.
"""

from __future__ import annotations

import argparse
import time
import warnings

import gymnasium

import praemia
from praemia.errors import PraemiaWarning

HORIZON = 200


def car() -> praemia.BlackBox:
    """Return the car that has to reach the left hill, which counts with probability .8, and then the flag."""
    env = gymnasium.make("MountainCar-v0")
    labels = praemia.labels.predicates(
        {"left": "position < -1.0", "flag": "position >= 0.5"}, names=["position", "velocity"]
    )
    machine = praemia.RewardMachine.from_ltlf("F(left & F flag)").with_chance({"left": 0.8})
    cells = praemia.envs.cells(env.observation_space, [12, 10])  # type: ignore[arg-type]
    return praemia.BlackBox(env, labels, machine, HORIZON, encode=cells, until_done=True)


def alone(num_episodes: int) -> float:
    """Return the processor time of a step of the environment."""
    env, steps = gymnasium.make("MountainCar-v0", max_episode_steps=HORIZON), 0
    actions = [env.action_space.sample() for _ in range(HORIZON)]
    began = time.process_time()
    for _ in range(num_episodes):
        env.reset()
        for action in actions:
            _, _, terminated, truncated, _ = env.step(action)
            steps += 1
            if terminated or truncated:
                break
    return (time.process_time() - began) / steps


def learned(name: str, num_episodes: int) -> float:
    """Return the processor time of a step of a run."""
    began = time.process_time()
    run = praemia.simulate(car(), name, num_episodes)
    return (time.process_time() - began) / int(run.steps.sum())


def main() -> None:
    """Print a line for each; the best of three."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=120)
    episodes = parser.parse_args().episodes
    warnings.simplefilter("ignore", PraemiaWarning)  # a random policy never reaches the flag
    unit = min(alone(episodes) for _ in range(3))
    print(f"the environment alone: {1e6 * unit:.1f} µs a step")
    for name in ("random", "ucbvi-prm", "headroom"):
        learned(name, 2)  # compiled before anything is timed
        print(f"{name}: {min(learned(name, episodes) for _ in range(3)) / unit:.2f} × that")


if __name__ == "__main__":
    main()
