"""Headroom in large grids without chance: steps until it settles, processor time and memory.

    python benchmarks/large_grids.py                       # 20 × 20, 36 × 36 and 60 × 60 cells
    python benchmarks/large_grids.py 60 --seeds 0 1        # these seeds of the last one

Places are visited in order, the last one pays 1; they are drawn so that the shortest way takes at most .8 of the
horizon. A run has settled after the last episode that lost more than a tenth of the optimum; without chance what an
episode loses is exact.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np

from praemia import LabeledMDP, LabelRule, MachineBuilder, Run, Task, learners, simulate

SIZES = {20: (4, 100, 300), 36: (6, 180, 600), 60: (8, 300, 1_000)}  # machine states, horizon, episodes
MOVES = ((-1, 0), (0, 1), (1, 0), (0, -1))


def grid(side: int, num_states: int, horizon: int, seed: int) -> Task:
    """Return an open square in which places are visited in order."""
    rng, size = np.random.default_rng([side, seed]), side * side
    row, column = np.divmod(np.arange(size), side)
    rows = {
        (o, a): {int(min(max(row[o] + dr, 0), side - 1) * side + min(max(column[o] + dc, 0), side - 1)): 1.0}
        for o in range(size)
        for a, (dr, dc) in enumerate(MOVES)
    }
    way = horizon + 1
    while way > 0.8 * horizon:
        places = rng.choice(size, size=num_states, replace=False)
        way = int(sum(np.abs(np.diff(row[places])) + np.abs(np.diff(column[places]))))
    names = [f"p{i}" for i in range(1, num_states)]
    labels = [LabelRule(name, target=int(z)) for name, z in zip(names, places[1:], strict=True)]
    builder = MachineBuilder("q0", propositions=tuple(names))
    for i, name in enumerate(names):
        builder.edge(f"q{i}", name, f"q{i + 1}", reward=float(i == len(names) - 1))
    mdp = LabeledMDP.from_rows(size, len(MOVES), rows, labels=labels, start=int(places[0]))
    return Task(mdp, builder.build(), horizon, f"{side} × {side}, seed {seed}")


def settled_steps(run: Run, share: float = 0.1) -> int:
    """Return the steps up to the last episode that lost more than a share of the optimum."""
    assert run.path_losses is not None
    assert run.optimal_value is not None
    late = np.flatnonzero(run.path_losses > share * run.optimal_value)
    return int(run.steps[: late[-1] + 1].sum()) if len(late) else 0


def main() -> None:
    """Play and print a line for each grid."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sides", nargs="*", type=int, default=list(SIZES))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    asked = parser.parse_args()
    learner = learners.make("headroom")
    simulate(grid(4, 8, 20, 0), learner, 2)  # compiled before time is taken
    for side in asked.sides:
        num_states, horizon, episodes = SIZES[side]
        for seed in asked.seeds:
            task, began = grid(side, num_states, horizon, seed), time.process_time()
            run = simulate(task, learner, episodes, seed)
            seconds, peak = time.process_time() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            settled = settled_steps(run)
            print(
                f"{task.name}: {num_states} states, horizon {horizon}: settled after {settled:,} steps; "
                f"{episodes:,} episodes in {seconds:.1f} s, {peak:,.0f} MB",
                flush=True,
            )


if __name__ == "__main__":
    main()
