"""Steps a second in a black box: MountainCar in 120 cells, alone, played by praemia, and learned in 120 episodes.

    python benchmarks/box_speed.py          # about a minute of one core

The environment alone is played with random actions. ``random`` plans once, so that what remains is the cost of a step:
indices, labels, the machine, counts. For learners the time of planning is printed apart. All ratios are within one run
of this script, over processor time; each is the best of three, since other programs only ever make things slower.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import gymnasium

import praemia
from praemia.errors import PraemiaWarning
from praemia.learners import Learner, make
from praemia.simulation.loop import World
from praemia.text_tables import Table

HORIZON, EPISODES = 200, 120


def car() -> praemia.BlackBox:
    """Return the car that has to reach the left hill, which counts with probability .8, and then the flag."""
    env = gymnasium.make("MountainCar-v0")
    labels = praemia.labels.predicates(
        {"left": "position < -1.0", "flag": "position >= 0.5"}, names=["position", "velocity"]
    )
    machine = praemia.RewardMachine.from_ltlf("F(left & F flag)").with_chance({"left": 0.8})
    space: Any = env.observation_space
    cells = praemia.envs.cells(space, [12, 10])
    return praemia.BlackBox(env, labels, machine, HORIZON, encode=cells, until_done=True)


def alone(num_episodes: int) -> tuple[int, float, float]:
    """Play the environment with random actions; return the steps, the seconds and those of planning, 0."""
    env, count = gymnasium.make("MountainCar-v0"), 0
    env.action_space.seed(0)
    env.reset(seed=0)
    actions = [env.action_space.sample() for _ in range(HORIZON)]
    began = time.process_time()
    for _ in range(num_episodes):
        env.reset()
        for action in actions:
            _, _, terminated, truncated, _ = env.step(action)
            count += 1
            if terminated or truncated:
                break
    return count, time.process_time() - began, 0.0


def learned(learner: Learner, num_episodes: int) -> tuple[int, float, float]:
    """Learn; return the steps, the seconds, and those of planning."""
    planning, plan = [0.0], World.replan

    def timed(world: World) -> None:
        began = time.process_time()
        plan(world)
        planning[0] += time.process_time() - began

    World.replan = timed  # type: ignore[method-assign, assignment]
    began = time.process_time()
    run = praemia.simulate(car(), learner, num_episodes)
    seconds = time.process_time() - began
    World.replan = plan  # type: ignore[method-assign]
    return int(run.steps.sum()), seconds, planning[0]


def best(play: Callable[[], tuple[int, float, float]]) -> tuple[int, float, float]:
    """Return the fastest of three."""
    return min((play() for _ in range(3)), key=lambda found: found[1] / found[0])


def main() -> None:
    """Print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=EPISODES)
    episodes = parser.parse_args().episodes
    warnings.simplefilter("ignore", PraemiaWarning)  # a random policy never reaches the flag
    for name in ("random", "ucbvi-prm", "headroom"):
        learned(make(name), 2)  # compiled before anything is timed
    each = {"the environment alone": best(lambda: alone(episodes))}
    for name in ("random", "ucbvi-prm", "headroom"):
        each[name] = best(lambda name=name: learned(make(name), episodes))  # type: ignore[misc]
    steps, seconds, _ = each["the environment alone"]
    unit = seconds / steps
    rows = [
        (
            name,
            f"{steps:,}",
            f"{steps / seconds:,.0f}",
            f"{seconds / steps / unit:.2f}",
            f"{(seconds - planning) / steps / unit:.2f}",
            f"{planning:.2f}",
        )
        for name, (steps, seconds, planning) in each.items()
    ]
    header = ("what is played", "steps", "steps per second", "× alone", "× alone, plans apart", "seconds of planning")
    print(Table(header, rows))


if __name__ == "__main__":
    main()
