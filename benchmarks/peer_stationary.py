"""Compare the stationary optimum near a discount of 1 with QuantEcon's modified policy iteration on the product.

    python benchmarks/peer_stationary.py [--rounds 5] [--sides 20 60]

A patrol goes round three corners of a grid for ever. Both solve it to a relative error of 1e-9 at the start, in turns;
ratios of processor time are taken within a round and shown as median (minimum – maximum). QuantEcon's times exclude
building the product.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from statistics import median

import numpy as np
from explicit import explicit_product

import praemia
from praemia.planning.stationary import RELATIVE_ERROR

DISCOUNTS = (0.99, 0.999, 0.9999)


def patrol(side: int, discount: float) -> praemia.Task:
    """Make the round of three corners."""
    rows = ["S" + "." * (side - 2) + "a", *["." * side] * (side - 2), "c" + "." * (side - 2) + "b"]
    machine = praemia.MachineBuilder("0").edge("0", "a", "1").edge("1", "b", "2").edge("2", "c", "0", reward=1.0)
    legend = {name: name for name in "abc"}
    task = praemia.envs.grid("\n".join(rows), legend=legend, machine=machine.build(), horizon=1)
    return task.with_discount(discount).with_horizon(None)


def quantecon(task: praemia.Task, value: float) -> Callable[[], float]:
    """Return modified policy iteration on the product, to the error that a value allows."""
    from quantecon.markov import DiscreteDP
    from scipy.sparse import csr_matrix

    product = explicit_product(task)
    states = np.repeat(np.arange(product.num_states), product.num_actions)
    actions = np.tile(np.arange(product.num_actions), product.num_states)
    problem = DiscreteDP(product.rewards, csr_matrix(product.transitions), task.discount, states, actions)
    options = {"method": "mpi", "epsilon": 2.0 * RELATIVE_ERROR * abs(value), "max_iter": 10**7}
    return lambda: float(problem.solve(**options).v[product.start])


def seconds(run: Callable[[], float]) -> tuple[float, float]:
    """Return the processor time of a call, and its result."""
    began = time.process_time()
    value = run()
    return time.process_time() - began, value


def compare(side: int, discount: float, rounds: int) -> str:
    """Let both take turns on one task."""
    task = patrol(side, discount)
    peer = quantecon(task, praemia.solve(task).value)
    pairs = [(seconds(lambda: praemia.solve(task, threads=1).value), seconds(peer)) for _ in range(rounds)]
    ours, theirs = ([pair[i][0] for pair in pairs] for i in (0, 1))
    ratios = sorted(their / our for our, their in zip(ours, theirs, strict=True))
    shown = f"{median(ratios):.1f} ({ratios[0]:.1f} – {ratios[-1]:.1f})"
    differ = abs(pairs[0][0][1] / pairs[0][1][1] - 1.0)
    return f"{side:4} × {side:<5}{discount:10}{median(ours):10.3f}{median(theirs):11.2f}{shown:>22}{differ:18.1e}"


def main() -> None:
    """Compare, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sides", type=int, nargs="+", default=[20, 60])
    chosen = parser.parse_args()
    small = patrol(4, 0.9)
    quantecon(small, praemia.solve(small).value)()
    print(f"{'':12}{'discount':>10}{'ours, s':>10}{'theirs, s':>11}{'theirs ÷ ours':>22}{'values differ by':>18}")
    for side in chosen.sides:
        for discount in DISCOUNTS:
            print(compare(side, discount, chosen.rounds), flush=True)


if __name__ == "__main__":
    main()
