"""The backward pass of exact planning, over steps of a model, by one thread or several.

The observations of a step can be divided among threads, which all read V_{h+1} and each write their own part of V_h:
the kernels release Python's lock, and the result does not depend on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from praemia._support.arithmetic import ordered_sum
from praemia._support.limits import usable_cores
from praemia.errors import require_whole
from praemia.kernels import exact as kernels
from praemia.kernels.records import padded_width
from praemia.tasks.model import Model, padded_exits
from praemia.tasks.task import Task

WORTH_SHARING = 1 << 19  # from this many sums per step on, threads save more than they cost

_Owner = TypeVar("_Owner", Task, Model)
_Result = TypeVar("_Result")


def cached_per_object(make: Callable[[_Owner], _Result]) -> Callable[[_Owner], _Result]:
    """Cache a function of a task or a model for as long as it lives."""
    results: WeakKeyDictionary[_Owner, _Result] = WeakKeyDictionary()

    def remembered(owner: _Owner) -> _Result:
        if owner not in results:
            results[owner] = make(owner)
        return results[owner]

    return remembered


def start_value(model: Model, first: NDArray[np.float64]) -> float:
    """Return the value at the start, from V_0[O, M]."""
    return float(ordered_sum(model.start_probs[model.starts] * first[model.starts, model.table.initial]))


def choose_threads(threads: int | None, sums_per_step: int) -> int:
    """Return the number of threads: the requested one, else all cores if a step is large enough to share."""
    if threads is None:
        return usable_cores() if sums_per_step >= WORTH_SHARING else 1
    return require_whole("threads", threads)


def new_tables(num_rows: int, num_states: int) -> NDArray[np.float64]:
    """Return two flat tables of zeros, [2, rows · W]: a column for each machine state, up to a multiple of four.

    NumPy asks the system for large pages, compiled code does not; a first pass over fresh memory is faster then. They
    begin at a multiple of 64 bytes, so that no vector lies across two cache lines.
    """
    shape = (2, num_rows * padded_width(num_states))
    size = 8 * math.prod(shape)
    memory = np.zeros(size + 64, dtype=np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + size].view(np.float64).reshape(shape)


@cached_per_object
def _kernel_data(model: Model) -> tuple[Any, ...]:
    """Return p, the machine and the exits as kernels take them."""
    width, p = padded_width(model.num_machine_states), model.arrays
    return p.indptr, p.probs, p.rows, p.extra_rows, model.table.layers(width), padded_exits(model.exits, width)


class BackwardPass:
    """The tables of a backward pass in a model, and the kernels that run it.

    Attributes
    ----------
    tables : float64[2, O, W], of which the first M columns count. A pass over the steps 0 … n − 1 takes γ·V_n from
        tables[n % 2], and leaves V_0 in tables[0] and γ·V_1 in tables[1].
    """

    def __init__(self, model: Model, threads: int | None = 1) -> None:
        self._model, num_states = model, model.num_machine_states
        width, memory = padded_width(num_states), new_tables(model.num_rows, num_states)
        self._data = (*_kernel_data(model), memory)
        self._kernels = kernels.exact_kernels(kernels.lanes_of(width))
        self._threads = choose_threads(threads, len(model.arrays.probs) * num_states)
        self.tables = memory.reshape(2, -1, width)[:, : model.num_observations]

    def solve(self, policy: NDArray[Any], values: NDArray[np.float64], first: int, last: int) -> None:
        """Fill in policy[H, O, M], the optimal one, and values[H + 1, O, M] from step ``last`` − 1 back to ``first``.

        An array of values without rows stays empty.
        """
        self._run(self._kernels.solve, policy, values, first, last)

    def evaluate(self, policy: NDArray[Any], values: NDArray[np.float64], first: int, last: int) -> None:
        """Fill in the values of a policy in the same way."""
        self._run(self._kernels.evaluate, policy, values, first, last)

    def _run(self, kernel: Any, policy: NDArray[Any], values: NDArray[np.float64], first: int, last: int) -> None:
        data = kernels.PassArrays(*(*self._data, values)), policy, self._model.discount
        rows, size = len(self._model.arrays.extra_rows), self._model.num_observations
        if self._threads == 1:
            kernel(*data, (first, last), (0, rows), (0, size))
            return
        with ThreadPoolExecutor(self._threads) as pool:
            for h in range(last - 1, first - 1, -1):  # all rows of a step are filled before its values are computed
                list(pool.map(lambda part, h=h: kernel(*data, (h, h + 1), part, (0, 0)), self._parts(rows)))
                list(pool.map(lambda part, h=h: kernel(*data, (h, h + 1), (0, 0), part), self._parts(size)))

    def _parts(self, size: int) -> list[tuple[int, int]]:
        """Cut 0 … size − 1 into consecutive parts, one for each thread."""
        return list(pairwise(np.linspace(0, size, self._threads + 1).astype(int).tolist()))
