"""Compare exact planning with SciPy, QuantEcon and Storm on the explicit product of the same task.

    python benchmarks/peers.py [--side 200] [--machine-states 20] [--horizon 100] [--rounds 4]
    python benchmarks/peers.py --discount .999        # without a horizon, beside QuantEcon's modified policy iteration

Solvers take turns, each in a process of its own; those that are not installed are left out. Ratios are taken within a
round: median (minimum – maximum). The time excludes building the product; *added* is the peak of memory while solving,
with the product, beyond the loaded task.
"""

from __future__ import annotations

import argparse
import gc
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import praemia
from praemia._support.text_tables import Table
from praemia.planning.stationary import RELATIVE_ERROR
from praemia.tasks.product import Product

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
MODULES = {"QuantEcon": "quantecon", "Storm": "stormpy"}


def grid_task(side: int, machine_states: int, horizon: int, discount: float | None) -> praemia.Task:
    """Make a slippery grid with a chain of machine states that two kinds of cells move on, with probability 0.8."""
    marks = {3: "i", 8: "d"}
    rows = ["".join(marks.get((row + column) % 10, ".") for column in range(side)) for row in range(side)]
    rows[0] = f"S{rows[0][1:]}"
    builder = praemia.MachineBuilder("0")
    for state in range(machine_states):
        here, there = str(state), str((state + 1) % machine_states)
        builder.edge(here, "id"[state % 2], there, probability=0.8, reward=float(state % 2))
        builder.edge(here, "id"[state % 2], here, probability=0.2)
    machine = builder.build()
    task = praemia.envs.grid("\n".join(rows), legend={"i": "i", "d": "d"}, machine=machine, horizon=horizon, stay=True)
    return task if discount is None else task.with_discount(discount).with_horizon(None)


def scipy_sparse(task: praemia.Task, product: Product) -> Callable[[], float]:
    """Multiply the matrix with V, step by step."""
    policy = np.empty((task.max_steps, product.num_states), dtype=np.int8)

    def run() -> float:
        values = np.zeros(product.num_states)
        for h in reversed(range(task.max_steps)):
            action_values = (product.transitions @ values).reshape(product.rewards.shape) + product.rewards
            policy[h], values = action_values.argmax(axis=1), action_values.max(axis=1)
        return float(product.start_probs @ values)

    return run


def quantecon(task: praemia.Task, product: Product) -> Callable[[], float]:
    """Apply QuantEcon's Bellman operator H times; without a horizon, its modified policy iteration."""
    from quantecon.markov import DiscreteDP
    from scipy.sparse import csr_matrix

    states = np.repeat(np.arange(product.num_states), product.num_actions)
    actions = np.tile(np.arange(product.num_actions), product.num_states)
    problem = DiscreteDP(product.rewards.ravel(), csr_matrix(product.transitions), task.discount, states, actions)
    if task.horizon is None:
        error = 2.0 * RELATIVE_ERROR * praemia.solve(task).value
        return lambda: float(product.start_probs @ problem.solve(method="mpi", epsilon=error, max_iter=10**7).v)
    policy = np.empty((task.max_steps, product.num_states), dtype=np.int8)
    greedy = np.empty(product.num_states, dtype=int)

    def run() -> float:
        after, here = np.zeros((2, product.num_states))
        for h in reversed(range(task.max_steps)):
            problem.bellman_operator(after, Tv=here, sigma=greedy)
            policy[h] = greedy
            after, here = here, after
        return float(product.start_probs @ after)

    return run


def storm(task: praemia.Task, product: Product) -> Callable[[], float]:
    """Check Rmax=?[C<=H] with Storm's sparse engine: the value alone."""
    import stormpy
    from stormpy.datastructures import SparseMatrixBuilder
    from stormpy.models import SparseMdp, SparseModelComponents, SparseRewardModel, StateLabeling

    matrix, num_actions = product.transitions, product.num_actions
    rows = product.num_states * num_actions
    matrix.sort_indices()
    builder = SparseMatrixBuilder[float](rows, product.num_states, matrix.nnz, True, True, product.num_states)
    indices = np.repeat(np.arange(rows), np.diff(matrix.indptr))
    builder.add_next_values(
        indices.tolist(), matrix.indices.tolist(), matrix.data.tolist(), list(range(0, rows, num_actions))
    )
    labels = StateLabeling(product.num_states)
    labels.add_label("init")
    labels.add_label_to_state("init", int(product.start_probs.argmax()))
    rewards = {"reward": SparseRewardModel[float](optional_state_action_reward_vector=product.rewards.ravel().tolist())}
    model = SparseMdp[float](SparseModelComponents[float](builder.build(), labels, rewards))
    formula = stormpy.parse_properties(f'R{{"reward"}}max=? [ C<={task.max_steps} ]')[0]
    return lambda: float(stormpy.model_checking(model, formula, only_initial_states=True).get_value(0))


PEERS = {"SciPy": scipy_sparse, "QuantEcon": quantecon, "Storm": storm}


def solver(name: str, task: praemia.Task) -> Callable[[], float]:
    """Return what is timed."""
    if name in PEERS:
        return PEERS[name](task, praemia.product(task))
    threads = int(name.split()[1])
    keep = {} if task.horizon is None else {"keep_values": False}
    return lambda: praemia.solve(task, threads=threads, **keep).value


def memory(field: str) -> int:
    """Return what this process holds (VmRSS), or has held at most (VmHWM), in MiB."""
    found = re.search(rf"{field}:\s+(\d+) kB", STATUS.read_text())
    return int(found[1]) // 1024 if found else 0


def measure(name: str, side: int, *rest: Any) -> dict[str, float]:
    """Run a solver three times, after a small task that compiles."""
    solver(name, grid_task(5, *rest))()
    task, taken, value = grid_task(side, *rest), [], 0.0
    gc.collect()
    held, began = memory("VmRSS"), time.perf_counter()
    run = solver(name, task)
    built = time.perf_counter() - began
    gc.collect()
    CLEAR.write_text("5")  # the peak counts from here
    for _ in range(3):
        began = time.perf_counter()
        value = run()
        taken.append(time.perf_counter() - began)
    return {"value": value, "s": min(taken), "build": built, "added": memory("VmHWM") - held}


def main() -> None:
    """Let the solvers take turns, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--side", type=int, default=200)
    parser.add_argument("--machine-states", type=int, default=20)
    parser.add_argument("--horizon", type=int, default=100)
    parser.add_argument("--discount", type=float, help="plan without a horizon")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    size = (chosen.side, chosen.machine_states, chosen.horizon, chosen.discount)
    if chosen.measure:
        print(json.dumps(measure(chosen.measure, *size)))
        return
    names = (
        ["praemia, 1 thread", "praemia, 2 threads", *PEERS]
        if chosen.discount is None
        else ["praemia, 1 thread", "QuantEcon"]
    )
    names = [name for name in names if name not in MODULES or find_spec(MODULES[name])]
    rounds: dict[str, list[dict[str, float]]] = {name: [] for name in names}
    for _ in range(chosen.rounds):
        for name in names:
            command = [sys.executable, "-W", "ignore", __file__, *sys.argv[1:], "--measure", name]
            rounds[name].append(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    rows = []
    for name, found in rounds.items():
        ratios = sorted(their["s"] / our["s"] for their, our in zip(found, rounds[names[0]], strict=True))
        spread = f"{median(ratios):.2f} ({ratios[0]:.2f} – {ratios[-1]:.2f})"
        least = {key: min(each[key] for each in found) for key in ("s", "added", "build")}
        rows.append((name, spread, f"{least['s']:.3f}", f"{least['added']:,.0f}", f"{least['build']:.1f}"))
    print(Table(("solver", "time ÷ ours", "best s", "added MiB", "s to build"), rows))
    values = [found[0]["value"] for found in rounds.values()]
    print(f"values agree within {(max(values) - min(values)) / max(values):.1e} of the largest")


if __name__ == "__main__":
    main()
