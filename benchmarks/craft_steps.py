"""Craft's longest task on the suite's ten maps: steps until headroom's plan is worth .95 of the optimum, for good.

    python benchmarks/craft_steps.py [--steps 100000] [--maps 10]     # about a minute of one core for each map

``praemia experiment craft`` plays the same with a budget of two million steps, which CRM needs.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from praemia import Headroom, simulate
from praemia.experiments.loading import load_experiment
from praemia.statistics.steps import steps_to
from praemia.text_tables import Table


def main() -> None:
    """Play a run on each map and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--maps", type=int, default=10)
    asked = parser.parse_args()
    rows, settled = [], []
    for setting in load_experiment("craft").groups[0].settings[: asked.maps]:
        began = time.process_time()
        task = setting.task.make()
        run = simulate(task, Headroom(), num_steps=asked.steps, seed=(0, 0))
        settled.append(steps_to(run, 0.95))
        rows.append((setting.task.name, f"{settled[-1]:,.0f}", f"{time.process_time() - began:.0f}"))
        print(*rows[-1], flush=True)
    print(f"\n{Table(('map', 'steps to .95', 'seconds'), rows)}\nmedian: {np.median(settled):,.0f}")


if __name__ == "__main__":
    main()
