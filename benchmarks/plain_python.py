"""Compare a run of UCBVI-PRM with the same algorithm in plain Python (docs/concepts/ucbvi-prm-line-by-line.md).

    python benchmarks/plain_python.py

The plain run is too slow to finish, so its time is extrapolated from its first episodes: every plan does the same sums
and every episode the same steps, so a run takes (plans) × (time of a plan) + (episodes) × (time of an episode). The
number of plans is that of our run with the same rule. The two take turns, and ratios are taken within a turn. Our time
includes what the plain run does not do: the optimum, and the exact value of every plan.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import plain_ucbvi_prm as plain

from praemia import envs, learners, simulate
from praemia.tasks.task import Task


def plain_times(task: Task, length: int, episodes: int) -> tuple[float, float]:
    """Return the time of a plan and of an episode, from the first episodes of a plain run."""
    spent = {"plan": 0.0, "play": 0.0}
    counts = {"plan": 0, "play": 0}
    originals = {name: getattr(plain, name) for name in ("plan", "greedy", "play")}

    def timed(name: str, kind: str) -> None:
        def call(*arguments: object) -> object:
            began = time.perf_counter()
            result = originals[name](*arguments)
            spent[kind] += time.perf_counter() - began
            counts[kind] += name != "greedy"
            return result

        setattr(plain, name, call)

    for name, kind in (("plan", "plan"), ("greedy", "plan"), ("play", "play")):
        timed(name, kind)
    try:
        plain.run(task, episodes, 1, length=length)
    finally:
        for name, function in originals.items():
            setattr(plain, name, function)
    return spent["plan"] / counts["plan"], spent["play"] / counts["play"]


def our_seconds(task: Task, replan: str, episodes: int) -> tuple[float, int]:
    """Return the least time of three runs, and the number of plans."""
    learner, taken = learners.make("ucbvi-prm", replan=replan), []
    for _ in range(3 if replan == "doubling" else 1):
        began = time.perf_counter()
        run = simulate(task, learner, episodes, 1)
        taken.append(time.perf_counter() - began)
    return min(taken), run.num_plans


def main() -> None:
    """Measure in turns and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--length", type=int, default=60, help="episodes of each plain run")
    parser.add_argument("--episodes", type=int, default=10_000)
    chosen = parser.parse_args()
    task = envs.make("warehouse-5")
    simulate(task, learners.make("ucbvi-prm"), 20)
    ratios: dict[str, list[float]] = {"doubling": [], "episode": []}
    for _ in range(chosen.turns):
        plan, episode = plain_times(task, chosen.length, chosen.episodes)
        print(f"plain: {1e3 * plan:.1f} ms a plan, {1e3 * episode:.3f} ms an episode")
        for replan, found in ratios.items():
            ours, plans = our_seconds(task, replan, chosen.episodes)
            theirs = plans * plan + chosen.episodes * episode
            found.append(theirs / ours)
            print(f"{replan}: ours {ours:.3f} s with {plans} plans, plain {theirs:.0f} s, {theirs / ours:,.0f} ×")
    for replan, found in ratios.items():
        print(f"{replan}: {median(found):,.0f} × ({min(found):,.0f} – {max(found):,.0f})")


if __name__ == "__main__":
    main()
