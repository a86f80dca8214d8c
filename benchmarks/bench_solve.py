"""Time exact planning, the value of a policy and its occupancy, and show that they use less memory than the product.

python -m pytest benchmarks/bench_solve.py -s
python -m pytest benchmarks/bench_solve.py -s -k large
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from grid_tasks import grid_task
from peer_solvers import memory

from praemia.planning.exact import evaluate, occupancy, solve
from praemia.tasks.task import Task

GIB = 1 << 30
SIZES = {"tiny": (10, 4, 10), "small": (50, 10, 100), "large": (200, 20, 100), "huge": (500, 50, 20)}
KINDS = [(many, dense) for many in (False, True) for dense in (False, True)]


def task_of(size: str, many: bool = False, dense: bool = False) -> Task:
    """Make a task, and compile what it needs on a smaller one."""
    side, num_machine_states, horizon = SIZES[size]
    small = grid_task(4, num_machine_states, 2, many=many, dense=dense)
    for threads in (1, 2):
        evaluate(small, solve(small, keep_values=False, threads=threads).policy, keep_values=False, threads=threads)
    return grid_task(side, num_machine_states, horizon, many=many, dense=dense)


def product_memory(task: Task) -> int:
    """Return the least that the explicit product would take: 12 bytes for each of its transitions."""
    return 12 * task.num_machine_states * len(task.mdp.probs)


@pytest.mark.parametrize(("many", "dense"), KINDS, ids=["few-sparse", "few-dense", "many-sparse", "many-dense"])
@pytest.mark.parametrize("threads", [1, None], ids=["one", "all"])
@pytest.mark.parametrize("size", SIZES)
def test_solve(benchmark: Any, size: str, threads: int | None, many: bool, dense: bool) -> None:
    task = task_of(size, many, dense)
    held, rounds = memory("VmRSS"), 1 if size == "huge" else 5
    plan = benchmark.pedantic(solve, (task,), {"keep_values": False, "threads": threads}, rounds=rounds)
    sizes = {
        "policy": plan.policy.nbytes,
        "held before": held,
        "peak so far": memory("VmHWM"),
        "product": product_memory(task),
    }
    benchmark.extra_info.update(value=round(plan.value, 6), **{name: int(size) for name, size in sizes.items()})
    print(f"\n{task!r}: " + ", ".join(f"{name} {size / GIB:.3f} GiB" for name, size in sizes.items()))


@pytest.mark.parametrize("randomised", [False, True], ids=["deterministic", "randomised"])
@pytest.mark.parametrize("threads", [1, None], ids=["one", "all"])
def test_evaluate(benchmark: Any, threads: int | None, randomised: bool) -> None:
    task = task_of("small" if randomised else "large")
    policy = solve(task, keep_values=False).policy
    weights = np.eye(task.num_actions)[policy] * 0.9 + 0.1 / task.num_actions if randomised else policy
    evaluate(task, weights, keep_values=False, threads=threads)
    benchmark.pedantic(evaluate, (task, weights), {"keep_values": False, "threads": threads}, rounds=5)


def test_occupancy(benchmark: Any) -> None:
    task = task_of("small")
    policy = solve(task, keep_values=False).policy
    occupancy(task, policy)
    benchmark.pedantic(occupancy, (task, policy), rounds=5)
