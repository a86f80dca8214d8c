"""Count how often the true loss of a plan from data is at most its likely loss; plot it.

    python benchmarks/likely_loss.py        # 1,080 plans; writes docs/pictures/likely-loss.svg

Plans share datasets, so no intervals are given.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import praemia
from praemia.exploration.estimate import Estimate
from praemia.exploration.likely_loss import likely_loss

DOCS = Path(__file__).parents[1] / "docs"
sys.path.insert(0, str(DOCS))
from concept_pictures import svg_of  # noqa: E402

BUILT_IN = ("warehouse-3", "warehouse-4", "riverswim-5", "riverswim-10", "flower-10")
NUM_RANDOM, NUM_SEEDS = 30, 12
LEVELS = (0.5, 0.8, 0.95)
EPISODES = {100: ("#D55E00", "D:"), 300: ("#009E73", "s--"), 1_000: ("#0072B2", "o-")}  # Okabe and Ito's palette
ROUNDING = 1e-9


def machines(first: str, second: str) -> list[praemia.RewardMachine]:
    """Return four machines over two propositions: in order, every time, a patrol, and an unreliable event."""
    build = praemia.MachineBuilder
    return [
        build("a").edge("a", first, "b").edge("b", second, "done", reward=1).build(),
        build("a").edge("a", second, "a", reward=1).build(),
        build("a").edge("a", first, "b", reward=0.5).edge("b", second, "a", reward=0.5).build(),
        build("a")
        .edge("a", second, "b", probability=0.7)
        .edge("a", second, "a", probability=0.3)
        .edge("b", first, "done", reward=1)
        .build(),
    ]


def studied(share: float) -> Iterator[tuple[str, praemia.Task, range]]:
    """Yield the kind of each task, the task and the seeds of its datasets, or a share of them."""
    for name in BUILT_IN[: max(1, round(share * len(BUILT_IN)))]:
        yield "built-in tasks", praemia.envs.make(name), range(max(1, round(share * NUM_SEEDS)))
    for seed in range(max(1, round(share * NUM_RANDOM))):
        yield "random tasks", praemia.envs.make(f"random-12x3x3-{seed}").with_horizon(10), range(1)


def held(task: praemia.Task, episodes: int, seed: int) -> Iterator[tuple[bool, ...]]:
    """Yield for each machine whether its true loss is at most the likely one, at each level."""
    data = praemia.explore(task, num_episodes=episodes, seed=seed)
    for machine in machines(*sorted(task.machine.propositions)[:2]):
        estimate, truth = Estimate.of(data, machine), task.with_machine(machine)
        policy = praemia.solve(estimate.model).policy
        likely = likely_loss(estimate, policy, seed=seed)
        loss = praemia.solve(truth).value - praemia.evaluate(truth, policy).value
        yield tuple(loss <= likely.at(level) + ROUNDING for level in LEVELS)


def plot(shares: dict[tuple[str, int], np.ndarray]) -> Figure:
    """Plot the stated level against the share found, a panel for each kind of task."""
    figure, kinds = Figure(figsize=(8, 3.6), layout="constrained"), list(dict.fromkeys(kind for kind, _ in shares))
    for axes, kind in zip(figure.subplots(1, len(kinds), sharey=True), kinds, strict=True):
        axes.plot([0.4, 1.0], [0.4, 1.0], color="#6B7280", linewidth=1, linestyle=(0, (4, 3)))
        for episodes, (colour, style) in EPISODES.items():
            axes.plot(LEVELS, shares[kind, episodes], style, color=colour, label=f"{episodes:,} episodes")
        axes.set(title=kind, xlabel="stated", xticks=LEVELS, xlim=(0.42, 1.0), ylim=(0.42, 1.02))
        axes.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("share of plans whose loss is at most the likely one")
    figure.axes[-1].legend(frameon=False, loc="lower right", fontsize=8)
    return figure


def main() -> None:
    """Print the coverage, and plot it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", type=float, default=1.0, help="of the tasks and seeds")
    parser.add_argument("--draw", type=Path, default=DOCS / "pictures" / "likely-loss.svg")
    chosen = parser.parse_args()
    found: dict[tuple[str, int], list[tuple[bool, ...]]] = {}
    for kind, task, seeds in studied(chosen.share):
        for episodes in EPISODES:
            for seed in seeds:
                found.setdefault((kind, episodes), []).extend(held(task, episodes, seed))
    print(f"{'':<16}{'episodes':>10}{'plans':>8}" + "".join(f"{level:>8.0%}" for level in LEVELS))
    for (kind, episodes), plans in found.items():
        shares = "".join(f"{share:>8.1%}" for share in np.mean(plans, axis=0))
        print(f"{kind:<16}{episodes:>10,}{len(plans):>8,}{shares}")
    figure = plot({key: np.mean(plans, axis=0) for key, plans in found.items()})
    chosen.draw.write_text(svg_of(figure), encoding="utf-8")


if __name__ == "__main__":
    main()
