"""How fast the memory is, and how many bytes exact planning must move.

Bytes are counted as in the STREAM benchmark: each array that is read or written counts once. A cache line that is
fetched only to be overwritten does not count, neither for the kernel nor for the copy that it is compared with.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from praemia.kernels.records import action_type, padded_width
from praemia.tasks.task import Task

NUMBERS = 1 << 24  # 128 MiB per array: larger than any cache


def seconds_of(function: Callable[[], object], repeats: int) -> list[float]:
    """Call a function several times; return how long each call took."""
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - began)
    return seconds


def bandwidth(threads: int = 1, repeats: int = 7) -> float:
    """Return the bytes per second that NumPy moves at best, copying or adding arrays far larger than any cache."""
    first, second, total = (np.ones(NUMBERS) for _ in range(3))
    edges = np.linspace(0, NUMBERS, threads + 1).astype(int)
    parts = [slice(edges[i], edges[i + 1]) for i in range(threads)]
    with ThreadPoolExecutor(threads) as pool:

        def copy() -> None:
            list(pool.map(lambda part: np.copyto(total[part], first[part]), parts))

        def add() -> None:
            list(pool.map(lambda part: np.add(first[part], second[part], out=total[part]), parts))

        copying, adding = min(seconds_of(copy, repeats)), min(seconds_of(add, repeats))
    return max(16 * NUMBERS / copying, 24 * NUMBERS / adding)


def bytes_per_step(task: Task) -> int:
    """Return the bytes that one step of ``solve`` must move, if every number is read or written only once.

    V_{h+1} is read and V_h written, rows padded to four machine states; the extra rows are written and read; the edges
    (probability and row) and where they start are read; the policy is written.
    """
    model = task.model.arrays
    width = 8 * padded_width(task.num_machine_states)
    extra = len(model.extra_rows)
    tables = 2 * width * (task.num_observations + extra)
    edges = 12 * len(model.probs) + 8 * len(model.indptr) + 8 * extra
    policy = np.dtype(action_type(task.num_actions)).itemsize * task.num_observations * task.num_machine_states
    return tables + edges + policy
