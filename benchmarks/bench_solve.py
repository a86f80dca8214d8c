"""Time exact planning, and show that its memory is far below that of the product.

The task is the warehouse's grid with shelves all over it and a machine that counts deliveries: every fifth
diagonal of the grid offers an item, the diagonals between them a delivery point.
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import pytest

from praemia.envs.warehouse import warehouse
from praemia.models.labels import LabelRule
from praemia.models.machine import MachineBuilder, RewardMachine
from praemia.models.mdp import LabeledMDP
from praemia.models.task import Task
from praemia.planning.exact import solve

GIB = 1 << 30


def chain(num_states: int) -> RewardMachine:
    """Return a machine that fetches and delivers in turn; a step forward works w.p. 0.8, a delivery pays."""
    builder = MachineBuilder(initial="0", propositions=("item", "delivery"))
    for i in range(num_states - 1):
        wanted, reward = ("item", 0) if i % 2 == 0 else ("delivery", 1)
        builder.edge(str(i), wanted, str(i + 1), probability=0.8, reward=reward)
        builder.edge(str(i), wanted, str(i), probability=0.2)
    return builder.build()


def large_warehouse(side: int, num_machine_states: int, horizon: int) -> Task:
    """Return a side × side warehouse with many shelves."""
    kernel = warehouse(side).mdp
    labels = []
    for cell in range(side * side):
        match sum(divmod(cell, side)) % 10:
            case 3:
                labels.append(LabelRule(frozenset({"item"}), target=cell))
            case 8:
                labels.append(LabelRule(frozenset({"delivery"}), target=cell))
    mdp = LabeledMDP.from_sparse(kernel.to_sparse(), labels)
    return Task(mdp, chain(num_machine_states), horizon, f"warehouse-{side}")


def peak_memory() -> int:
    """Return the most memory, in bytes, that this process has held so far."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def held_memory() -> int:
    """Return the memory, in bytes, that this process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def product_memory(task: Task) -> int:
    """Return the least that the explicit product would take: 12 bytes for each of its transitions."""
    return 12 * task.num_machine_states * len(task.mdp.probs)


@pytest.mark.parametrize(("side", "rounds"), [(40, 5), (500, 1)])
def test_solve(benchmark: object, side: int, rounds: int) -> None:
    task = large_warehouse(side, num_machine_states=20, horizon=100)
    solve(warehouse(2), keep_values=False)  # compile first
    held = held_memory()
    plan = benchmark.pedantic(solve, (task,), {"keep_values": False}, rounds=rounds)  # type: ignore[attr-defined]
    sizes = {
        "value": round(plan.value, 6),
        "policy": plan.policy.nbytes,
        "held before": held,
        "peak": peak_memory(),
        "sparse product": product_memory(task),
    }
    benchmark.extra_info.update(sizes)  # type: ignore[attr-defined]
    print(f"\n{task!r}: value {plan.value:.6f}")
    print(", ".join(f"{name} {size / GIB:.3f} GiB" for name, size in sizes.items() if name != "value"))
