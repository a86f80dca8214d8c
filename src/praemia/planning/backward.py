"""Backward induction on one thread or on several: the same kernels over ranges of observations, the same bits.

The observations of a step are divided among threads, which all read V_{h+1} and each write their own part of V_h; the
kernels release Python's lock. Small tasks run in one compiled call, where threads would cost more than they save.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.errors import require_whole
from praemia.kernels import exact_planning as kernels
from praemia.kernels.arrays import LayerArrays, ModelArrays, padded_width

Values = NDArray[np.float64]

# From this many sums per step on, threads save more than they cost.
WORTH_SHARING = 1 << 19

_STEPS: dict[Any, Callable[..., None]] = {
    kernels.solve: kernels.improve,
    kernels.evaluate: kernels.assess,
    kernels.evaluate_randomised: kernels.assess_randomised,
}


def choose_threads(threads: int | None, sums_per_step: int) -> int:
    """Return how many threads to use: as many as requested, else all cores if a step is large enough to share."""
    if threads is None:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return cores if sums_per_step >= WORTH_SHARING else 1
    return require_whole("threads", threads)


def backward(
    kernel: Any,
    model: ModelArrays,
    layers: LayerArrays,
    num_actions: int,
    values: Values,
    policy: NDArray[Any],
    threads: int,
) -> Values:
    """Run a planning kernel over all steps; return V_0[O, M]."""
    tables = new_tables(policy.shape[1] + len(model.row_labels), policy.shape[2])
    if threads == 1:
        first: Values = kernel(model, layers, num_actions, tables, values, policy)
        return first
    with ThreadPoolExecutor(threads) as pool:
        return _in_threads(pool, threads, _STEPS[kernel], model, layers, num_actions, tables, values, policy)


def new_tables(num_rows: int, num_states: int) -> Values:
    """Return two tables of zeros to work in: a column for each machine state, up to a multiple of four.

    NumPy asks the system for large pages, compiled code does not; a first pass over fresh memory is faster then. They
    begin at a multiple of 64 bytes, so that no vector lies across two cache lines.
    """
    shape = (2, num_rows, padded_width(num_states))
    size = 8 * math.prod(shape)
    memory = np.zeros(size + 64, dtype=np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + size].view(np.float64).reshape(shape)


def _in_threads(
    pool: ThreadPoolExecutor,
    threads: int,
    step: Callable[..., None],
    model: ModelArrays,
    layers: LayerArrays,
    num_actions: int,
    tables: Values,
    values: Values,
    policy: NDArray[Any],
) -> Values:
    horizon, num_obs, num_states = policy.shape[:3]
    num_extra = len(model.row_labels)
    if len(values):
        values[horizon] = 0.0
    for h in range(horizon - 1, -1, -1):
        after, here = tables[(h + 1) % 2], tables[h % 2]

        def fill(part: tuple[int, int], after: Values = after) -> None:
            kernels.fill(after, num_obs, model, layers, *part)

        def back_up(part: tuple[int, int], h: int = h, after: Values = after, here: Values = here) -> None:
            step(model, num_actions, after, here, policy[h], *part)
            if len(values):
                values[h, part[0] : part[1]] = here[part[0] : part[1], :num_states]

        for work, size in ((fill, num_extra), (back_up, num_obs)):
            list(pool.map(work, _parts(size, threads)))
    return tables[0, :num_obs, :num_states].copy()


def _parts(size: int, threads: int) -> Iterator[tuple[int, int]]:
    """Cut 0 … size − 1 into consecutive parts, one for each thread."""
    edges = np.linspace(0, size, threads + 1).astype(int).tolist()
    return ((first, last) for first, last in pairwise(edges) if first < last)
