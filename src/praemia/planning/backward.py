"""The backward pass of exact planning, over all steps of a model, by one thread or several.

The observations of a step can be divided among threads, which all read V_{h+1} and each write their own part of V_h:
the kernels release Python's lock, and the result does not depend on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from praemia.arithmetic import ordered_sum
from praemia.errors import require_whole
from praemia.kernels import exact as kernels
from praemia.kernels.records import padded_width
from praemia.limits import usable_cores
from praemia.tasks.model import Model, padded_exits
from praemia.tasks.task import Task

WORTH_SHARING = 1 << 19  # from this many sums per step on, threads save more than they cost


def start_value(model: Model, first: NDArray[np.float64]) -> float:
    """Return the value at the start, from V_0[O, M]."""
    return float(ordered_sum(model.start_probs[model.starts] * first[model.starts, model.table.initial]))


def choose_threads(threads: int | None, sums_per_step: int) -> int:
    """Return how many threads to use: as many as requested, else all cores if a step is large enough to share."""
    if threads is None:
        return usable_cores() if sums_per_step >= WORTH_SHARING else 1
    return require_whole("threads", threads)


def new_tables(num_rows: int, num_states: int) -> NDArray[np.float64]:
    """Return two tables of zeros to work in: a column for each machine state, up to a multiple of four.

    NumPy asks the system for large pages, compiled code does not; a first pass over fresh memory is faster then. They
    begin at a multiple of 64 bytes, so that no vector lies across two cache lines.
    """
    shape = (2, num_rows, padded_width(num_states))
    size = 8 * math.prod(shape)
    memory = np.zeros(size + 64, dtype=np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + size].view(np.float64).reshape(shape)


_Owner = TypeVar("_Owner", Task, Model)
_Result = TypeVar("_Result")


def cached_per_object(make: Callable[[_Owner], _Result]) -> Callable[[_Owner], _Result]:
    """Remember what was computed for a task or a model for as long as it lives: calls and runs share it."""
    results: WeakKeyDictionary[_Owner, _Result] = WeakKeyDictionary()

    def remembered(owner: _Owner) -> _Result:
        if owner not in results:
            results[owner] = make(owner)
        return results[owner]

    return remembered


@cached_per_object
def _kernel_data(model: Model) -> tuple[Any, Any, NDArray[np.float64]]:
    """Return p, the machine and the exits as kernels take them."""
    width = padded_width(model.num_machine_states)
    return model.arrays, model.table.layers(width), padded_exits(model.exits, width)


def backward(
    model: Model,
    policy: NDArray[Any],
    *,
    keep_values: bool = False,
    threads: int | None = None,
    is_given: bool = False,
    after: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Evaluate a policy that is given, or fill in the optimal one; return V_0[O, M] and the values as [·, M, O].

    ``after`` is γ·V_H[O, M], what follows the last step; nothing unless it is given.
    """
    horizon, size, num_states = model.horizon, model.num_observations, model.num_machine_states
    num_rows = len(model.arrays.extra_rows)
    values = np.zeros((horizon + 1 if keep_values else 0, size, num_states))
    tables = new_tables(model.num_rows, num_states)
    if after is not None:
        tables[horizon % 2, :size, :num_states] = after
    own = kernels.exact_kernels(kernels.lanes_of(tables.shape[2]))
    data = kernels.PassArrays(*_kernel_data(model), tables.reshape(2, -1), values), policy, model.discount
    kernel = own.evaluate if is_given else own.solve
    count = choose_threads(threads, len(model.arrays.probs) * num_states)
    if count == 1:
        kernel(*data, (0, horizon), (0, num_rows), (0, size))
    else:
        with ThreadPoolExecutor(count) as pool:
            for h in range(horizon - 1, -1, -1):  # all rows of a step are filled before its values are found
                list(pool.map(lambda part, h=h: kernel(*data, (h, h + 1), part, (0, 0)), _parts(num_rows, count)))
                list(pool.map(lambda part, h=h: kernel(*data, (h, h + 1), (0, 0), part), _parts(size, count)))
    first = tables[0, :size, :num_states].copy()
    return first, (values if keep_values else first[np.newaxis]).transpose(0, 2, 1)


def look_ahead(model: Model, policy: NDArray[Any], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Q_h(m, o, π_h), [H, M, O]: what a policy is worth that is followed for one step, with V_{h+1} after it.

    ``policy`` is what ``validate_policy`` returns, ``values`` are V_0 … V_H, [H + 1, M, O].
    """
    horizon, size, num_states = model.horizon, model.num_observations, model.num_machine_states
    worth = np.zeros((horizon + 1, size, num_states))
    tables = new_tables(model.num_rows, num_states)
    kernel = kernels.exact_kernels(kernels.lanes_of(tables.shape[2])).evaluate
    data = kernels.PassArrays(*_kernel_data(model), tables.reshape(2, -1), worth), policy, model.discount
    for h in range(horizon):
        tables[(h + 1) % 2, :size, :num_states] = model.discount * values[h + 1].T
        kernel(*data, (h, h + 1), (0, len(model.arrays.extra_rows)), (0, size))
    return worth[:-1].swapaxes(1, 2)


def _parts(size: int, threads: int) -> Iterator[tuple[int, int]]:
    """Cut 0 … size − 1 into consecutive parts, one for each thread."""
    edges = np.linspace(0, size, threads + 1).astype(int).tolist()
    return ((first, last) for first, last in pairwise(edges) if first < last)
