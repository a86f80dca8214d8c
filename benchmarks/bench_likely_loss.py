"""Measure whether the likely loss is calibrated, and how fast it is.

    python benchmarks/bench_likely_loss.py coverage     1,080 plans; writes docs/pictures/likely-loss.svg
    python benchmarks/bench_likely_loss.py speed        200 draws on the 5×5 warehouse

Coverage counts how often the true loss is at most the likely one. Plans share datasets, so no intervals are given.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from machine_family import machine_family
from plotting import GREY, new_figure, render, tidy

from praemia.envs import make, random_task
from praemia.exploration import explore, plan_from
from praemia.exploration.estimate import Estimate
from praemia.exploration.likely_loss import likely_loss
from praemia.planning.exact import evaluate, solve
from praemia.tasks.task import Task

PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "likely-loss.svg"
BUILT_IN = ("warehouse-3", "warehouse-4", "riverswim-5", "riverswim-10", "flower-10")
NUM_RANDOM = 30
LEVELS = (0.5, 0.8, 0.95)
NUM_MACHINES = 4
LOOKS: dict[int, dict[str, Any]] = {  # of Okabe and Ito's palette
    100: {"color": "#D55E00", "marker": "D", "linestyle": ":"},
    300: {"color": "#009E73", "marker": "s", "linestyle": "--"},
    1_000: {"color": "#0072B2", "marker": "o"},
}
ROUNDING = 1e-9


def studied(share: float) -> Iterator[tuple[str, Task, range]]:
    """Yield the kind of each task, the task and the seeds of its datasets, or a share of them."""
    for name in BUILT_IN[: max(1, round(share * len(BUILT_IN)))]:
        yield "built-in tasks", make(name), range(max(1, round(share * 12)))
    for seed in range(max(1, round(share * NUM_RANDOM))):
        yield "random tasks", random_task(12, 3, 3, horizon=10, seed=seed), range(1)


def held(task: Task, episodes: int, seed: int) -> list[tuple[bool, ...]]:
    """Return for each machine whether its true loss is at most the likely one, at each level."""
    data, found = explore(task, num_episodes=episodes, seed=seed), []
    for machine in machine_family(task.machine.propositions, NUM_MACHINES).values():
        policy = solve(Estimate.of(data, machine).model).policy
        likely = likely_loss(Estimate.of(data, machine), policy, seed=seed)
        truth = task.with_machine(machine)
        loss = solve(truth).value - evaluate(truth, policy).value
        found.append(tuple(loss <= likely.at(level) + ROUNDING for level in LEVELS))
    return found


def coverage(share: float, picture: Path) -> None:
    """Print the coverage, and plot it."""
    found: dict[tuple[str, int], list[tuple[bool, ...]]] = {}
    for kind, task, seeds in studied(share):
        for episodes in LOOKS:
            for seed in seeds:
                found.setdefault((kind, episodes), []).extend(held(task, episodes, seed))
        print(f"{task.name} done", file=sys.stderr)
    print(f"{'':<16}{'episodes':>10}{'plans':>8}" + "".join(f"{level:>8.0%}" for level in LEVELS))
    for (kind, episodes), plans in found.items():
        shares = "".join(f"{share:>8.1%}" for share in np.mean(plans, axis=0))
        print(f"{kind:<16}{episodes:>10,}{len(plans):>8,}{shares}")
    everything = [plan for plans in found.values() for plan in plans]
    shares = "".join(f"{share:>8.1%}" for share in np.mean(everything, axis=0))
    print(f"{'all':<26}{len(everything):>8,}{shares}")
    draw({key: np.mean(plans, axis=0) for key, plans in found.items()}, len(everything), picture)


def draw(shares: dict[tuple[str, int], np.ndarray], num_plans: int, picture: Path) -> None:
    """Plot stated against found, a panel for each kind of task."""
    figure = new_figure(8.4, 3.9, f"The likely loss of {num_plans:,} plans against the truth")
    kinds = list(dict.fromkeys(kind for kind, _ in shares))
    for axes, kind in zip(figure.subplots(1, len(kinds), sharey=True), kinds, strict=True):
        tidy(axes, kind, "stated", "")
        axes.plot([0.4, 1.0], [0.4, 1.0], color=GREY, linewidth=1, linestyle=(0, (4, 3)))
        axes.text(0.72, 0.68, "found = stated", color=GREY, fontsize=8)
        for episodes, look in LOOKS.items():
            axes.plot(LEVELS, shares[kind, episodes], label=f"{episodes:,} episodes", **look)
        axes.set(xlim=(0.42, 1.0), ylim=(0.42, 1.02))
        axes.set_xticks(LEVELS, [f"{level:.0%}" for level in LEVELS])
        axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    figure.axes[0].set_ylabel("found: the true loss is at most the likely one", fontsize=9)
    figure.axes[-1].legend(frameon=False, loc="lower right", fontsize=8)
    picture.write_bytes(render(figure, "svg"))
    print(f"wrote {picture.name}", file=sys.stderr)


def speed() -> None:
    """Print how long 200 draws take, compiled already; the best of several."""
    task = make("warehouse-5")
    plan = plan_from(explore(task, num_episodes=1_000), task.machine)
    plan.likely()
    seconds = []
    for _ in range(7):
        began = time.perf_counter()
        plan.likely()
        seconds.append(time.perf_counter() - began)
    print(
        f"200 draws on the 5×5 warehouse: {min(seconds):.2f} s at best, {np.median(seconds):.2f} s in the median of 7"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measure", choices=("coverage", "speed"))
    parser.add_argument("--share", type=float, default=1.0, help="of the tasks and seeds")
    parser.add_argument("--draw", type=Path, default=PICTURE)
    chosen = parser.parse_args()
    if chosen.measure == "speed":
        speed()
    else:
        coverage(chosen.share, chosen.draw)


if __name__ == "__main__":
    main()
