"""What each detail of the released code does to the published steps of the office.

    python benchmarks/published_variants.py [--variant released …] [--method CRM …] [--exp 1 2 3 4 5] [--runs 10]

For each variant and method, by errand of the first building: the mean number of steps until the published test is
passed, divided by the published figure; in brackets how many runs did not pass it within four times that figure.
`released` is the released code as it is; every other variant differs from it, or from `threshold 30`, as it says.
"""

from __future__ import annotations

import argparse

import numpy as np
from released_learners import METHODS, Protocol, steps_to_pass, world_of

from praemia import envs
from praemia.experiments.loading import load_experiment

DISCOUNT = 0.95
VARIANTS = {
    "released": Protocol(),
    "discount .95": Protocol(),
    "episodes as in our suite": Protocol(horizon=0),
    "tests with new numbers": Protocol(same_numbers=False),
    "tests every 1,000 steps only": Protocol(test_shorter=False),
    "unknown pairs worth 1/(1 − γ)": Protocol(optimism=1.0),
    "value iteration to 1e-6": Protocol(tolerance=1e-6),
    "known pairs counted on": Protocol(stop_counting=False),
    "pairs known in all states": Protocol(by_triple=False),
    "threshold 30": Protocol(threshold=30),
    "threshold 30, pairs known in all states": Protocol(threshold=30, by_triple=False),
    "discount .95, threshold 30, pairs known in all states": Protocol(threshold=30, by_triple=False),
    "rate .2": Protocol(rate=0.2),
    "discount .95, rate .2": Protocol(rate=0.2),
}


def ratio(variant: str, exp: int, method: str, num_runs: int, length: float) -> str:
    """Return our steps ÷ the published ones, and how many runs never passed."""
    name = f"office-map1-exp{exp}"
    setting = next(own for own in load_experiment("office").groups[0].settings if own.task.name == name)
    task, protocol, published = envs.make(name), VARIANTS[variant], setting.published[method]
    if variant.startswith("discount"):
        task = task.with_discount(DISCOUNT)
    if protocol.horizon == 0:
        protocol = protocol._replace(horizon=setting.task.make().max_steps)
    world, number = world_of(task), METHODS.index(method)
    budget = int(length * published)
    steps = np.array([steps_to_pass(world, number, protocol, budget, seed) for seed in range(num_runs)])
    passed = steps[np.isfinite(steps)]
    late = f" ({num_runs - len(passed)})" if len(passed) < num_runs else ""
    return f"{passed.mean() / published:.2f}{late}" if len(passed) else f"–{late}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--variant", nargs="+", choices=list(VARIANTS), default=list(VARIANTS))
    parser.add_argument("--method", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--exp", nargs="+", type=int, default=[1, 2, 3, 4, 5])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--length", type=float, default=4.0, help="of a run, in published steps")
    chosen = parser.parse_args()
    print("| variant | method |" + "".join(f" exp{exp} |" for exp in chosen.exp))
    print("|---|---|" + "---|" * len(chosen.exp))
    for variant in chosen.variant:
        for method in chosen.method:
            print(f"| {variant} | {method} |", end="", flush=True)
            for exp in chosen.exp:
                print(f" {ratio(variant, exp, method, chosen.runs, chosen.length)} |", end="", flush=True)
            print(flush=True)


if __name__ == "__main__":
    main()
