"""Time a run of UCBVI-PRM beside the same algorithm in plain Python (docs/concepts/ucbvi-prm-line-by-line.md).

    python benchmarks/plain_python.py

The plain run is too slow to finish. It plays its first episodes with as many plans as fit in them, and is extrapolated
to the number of plans of our run; playing is a negligible part. The two take turns.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import plain_ucbvi_prm as plain

from praemia import envs, simulate


def main() -> None:
    """Measure in turns and print the times and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--length", type=int, default=60, help="episodes of each plain run")
    parser.add_argument("--episodes", type=int, default=10_000)
    chosen = parser.parse_args()
    task, ours, theirs = envs.make("warehouse-5"), [], []
    simulate(task, "ucbvi-prm", 20)
    for _ in range(chosen.turns):
        began = time.perf_counter()
        run = simulate(task, "ucbvi-prm", chosen.episodes, 1)
        ours.append(time.perf_counter() - began)
        began = time.perf_counter()
        started = plain.run(task, chosen.episodes, 1, length=chosen.length)
        theirs.append((time.perf_counter() - began) / len(started.plan_episodes) * run.num_plans)
    ratio = median(their / our for our, their in zip(ours, theirs, strict=True))
    print(f"ours {median(ours):.3f} s, plain Python {median(theirs):.0f} s, {ratio:,.0f} ×")


if __name__ == "__main__":
    main()
