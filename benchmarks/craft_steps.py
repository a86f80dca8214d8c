"""Craft's longest task on the suite's ten maps: steps until headroom's plan is worth .95 of the optimum, for good.

    python benchmarks/craft_steps.py [--steps 100000]     # about a minute of one core for each map

``praemia league --suite craft`` plays the same with a budget of two million steps, which CRM needs.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from praemia import Headroom, envs, simulate
from praemia.experiments import suites
from praemia.statistics.suite_lines import steps_to
from praemia.text_tables import Table


def main() -> None:
    """Play a run on each map and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=100_000)
    asked = parser.parse_args()
    rows, settled = [], []
    for item in suites.find("craft").benchmarks:
        began = time.process_time()
        task = envs.make(item.task).with_horizon(item.horizon)
        run = simulate(task, Headroom(), num_steps=asked.steps, seed=(0, 0))
        settled.append(steps_to(run, 0.95))
        rows.append((item.task, f"{settled[-1]:,.0f}", f"{time.process_time() - began:.0f}"))
        print(*rows[-1], flush=True)
    print(f"\n{Table(('map', 'steps to .95', 'seconds'), rows)}\nmedian: {np.median(settled):,.0f}")


if __name__ == "__main__":
    main()
