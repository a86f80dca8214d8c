"""Run one solver on one task in this process, and print a record; ``peers.py`` starts it.

    python benchmarks/peer_solvers.py SOLVER '{"side": 200, "machine_states": 20, "horizon": 100}' REPEATS

Every solver finds the optimal value of the same task by H steps of backward induction, and all but Storm (which does
not offer it for bounded rewards) the optimal policy, kept as int8. A solver's time excludes building the product.
"""

from __future__ import annotations

import gc
import json
import re
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from explicit import Explicit, explicit_product
from grid_tasks import grid_task

from praemia.planning.exact import solve
from praemia.tasks.task import Task

Solver = Callable[[], float]
STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def praemia(task: Task, threads: int | None) -> Solver:
    """Plan with this package: no product."""
    return lambda: solve(task, keep_values=False, threads=threads).value


def scipy_sparse(task: Task) -> Solver:
    """Multiply the explicit product's matrix with V, step by step."""
    product = explicit_product(task)
    policy = np.empty((task.max_steps, product.num_states), dtype=np.int8)

    def run() -> float:
        values = np.zeros(product.num_states)
        for h in reversed(range(task.max_steps)):
            worth = (product.transitions @ values + product.rewards).reshape(-1, product.num_actions)
            policy[h] = worth.argmax(axis=1)
            values = worth.max(axis=1)
        return float(values[product.start])

    return run


def quantecon(task: Task) -> Solver:
    """Apply QuantEcon's Bellman operator H times, as its ``backward_induction`` does, without keeping every V_h."""
    from quantecon.markov import DiscreteDP
    from scipy.sparse import csr_matrix

    product = explicit_product(task)
    states = np.repeat(np.arange(product.num_states), product.num_actions)
    actions = np.tile(np.arange(product.num_actions), product.num_states)
    problem = DiscreteDP(product.rewards, csr_matrix(product.transitions), 1.0, states, actions)
    policy = np.empty((task.max_steps, product.num_states), dtype=np.int8)
    greedy = np.empty(product.num_states, dtype=int)

    def run() -> float:
        after, here = np.zeros((2, product.num_states))
        for h in reversed(range(task.max_steps)):
            problem.bellman_operator(after, Tv=here, sigma=greedy)
            policy[h] = greedy
            after, here = here, after
        return float(after[product.start])

    return run


def storm(task: Task) -> Solver:
    """Check Rmax=?[C<=H] with Storm's sparse engine: the value alone."""
    import stormpy

    model = _storm_model(explicit_product(task))
    formula = stormpy.parse_properties(f'R{{"paid"}}max=? [ C<={task.max_steps} ]')[0]

    def run() -> float:
        result = stormpy.model_checking(model, formula, only_initial_states=True)
        return float(result.get_value(model.initial_states[0]))

    return run


def _storm_model(product: Explicit) -> Any:
    from stormpy.datastructures import SparseMatrixBuilder
    from stormpy.models import SparseMdp, SparseModelComponents, SparseRewardModel, StateLabeling

    rows, states, matrix = len(product.rewards), product.num_states, product.transitions
    builder = SparseMatrixBuilder[float](rows, states, matrix.nnz, True, True, states)
    matrix.sort_indices()
    step = 1000 * product.num_actions
    for first in range(0, rows, step):
        last = min(first + step, rows)
        part = slice(matrix.indptr[first], matrix.indptr[last])
        numbers = np.repeat(np.arange(first, last), np.diff(matrix.indptr[first : last + 1]))
        groups = range(first, last, product.num_actions)
        columns, probs = matrix.indices[part].tolist(), matrix.data[part].tolist()
        builder.add_next_values(numbers.tolist(), columns, probs, list(groups))
    labels = StateLabeling(states)
    labels.add_label("init")
    labels.add_label_to_state("init", product.start)
    rewards = {"paid": SparseRewardModel[float](optional_state_action_reward_vector=product.rewards.tolist())}
    return SparseMdp[float](SparseModelComponents[float](builder.build(), labels, rewards))


SOLVERS: dict[str, Callable[[Task], Solver]] = {
    "praemia, 1 thread": partial(praemia, threads=1),
    "praemia, all threads": partial(praemia, threads=None),
    "SciPy": scipy_sparse,
    "QuantEcon": quantecon,
    "Storm": storm,
}


def memory(field: str) -> int:
    """Return what this process holds (VmRSS), or has held at most (VmHWM), in bytes."""
    found = re.search(rf"{field}:\s+(\d+) kB", STATUS.read_text())
    return int(found[1]) * 1024 if found else 0


def describe(settings: dict[str, Any]) -> Task:
    """Make the task of a record."""
    return grid_task(
        settings["side"],
        settings["machine_states"],
        settings["horizon"],
        many=settings.get("many", False),
        dense=settings.get("dense", False),
    )


def measure(name: str, settings: dict[str, Any], repeats: int) -> dict[str, Any]:
    """Run a solver; its peak is that of building the product and solving, not of making the task."""
    small = {**settings, "side": 5, "horizon": 2}
    SOLVERS[name](describe(small))()
    task = describe(settings)
    gc.collect()
    held = memory("VmRSS")
    CLEAR.write_text("5")  # the peak counts from here
    began = time.perf_counter()
    run = SOLVERS[name](task)
    built, taken, value = time.perf_counter() - began, [], 0.0
    for _ in range(repeats):
        began = time.perf_counter()
        value = run()
        taken.append(time.perf_counter() - began)
    return {"value": value, "seconds": taken, "build": built, "held": held, "peak": memory("VmHWM")}


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3]))))
