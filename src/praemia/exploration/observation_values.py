"""Values over observations alone, without a machine: in p̂ or in p, as a sparse kernel.

    V_h(o) = max_a min(most, gain(o, a) + Σ_z p(z|o, a)·V_{h+1}(z)),

and with a column for each of several targets, the most that each can be visited:

    R_h(o) = max_a [1[o = target (and a = its action)] + Σ_z p(z|o, a)·R_{h+1}(z)],   R_H = 0.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from praemia.arithmetic import ordered_sum

CHUNK = 1 << 22  # numbers in one table


class Kernel(Protocol):
    """Successors of pairs o · A + a with their probabilities: what a dataset and an MDP have in common."""

    @property
    def num_observations(self) -> int: ...

    @property
    def indptr(self) -> NDArray[np.int64]: ...

    @property
    def targets(self) -> NDArray[Any]: ...

    @property
    def probs(self) -> NDArray[np.float64]: ...


def sparse_kernel(kernel: Kernel) -> Any:
    """Return a kernel as a SciPy sparse array [O·A, 2·O]; column O + o' is the end of the episode in o'."""
    from scipy.sparse import csr_array

    shape = (len(kernel.indptr) - 1, 2 * kernel.num_observations)
    return csr_array((kernel.probs, kernel.targets, kernel.indptr), shape=shape)


def best_values(
    kernel: Any,
    gain: NDArray[np.float64],
    horizon: int,
    *,
    last: NDArray[np.float64] | float = 0.0,
    ended: NDArray[np.float64] | float = 0.0,
    most: float = np.inf,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return V_0[O] and the actions [H, O] of V_h = max_a min(most, gain + Σ kernel · V_{h+1}), V_H = ``last``.

    ``kernel`` is [O·A, 2·O]; a row may be empty, a dead end. ``ended`` [O, …] is what the end in each observation is
    worth. gain[O, A, …] may have more axes, which V then has too; the actions are not kept then.
    """
    size = len(gain)
    shape = (size, *gain.shape[2:])
    values, over = (np.array(np.broadcast_to(worth, shape), dtype=np.float64) for worth in (last, ended))
    actions = np.zeros((horizon if gain.ndim == 2 else 0, size), dtype=np.int64)
    for h in range(horizon - 1, -1, -1):
        table = np.minimum(most, gain + (kernel @ np.concatenate((values, over))).reshape(gain.shape))
        values = table.max(axis=1)
        if gain.ndim == 2:
            actions[h] = table.argmax(axis=1)
    return values, actions


def most_visits(
    kernel: Any, num_actions: int, horizon: int, observations: NDArray[np.int64], actions: NDArray[np.int64] | None
) -> NDArray[np.float64]:
    """Return R_0 as [T, O], for T targets; ``kernel`` is as ``best_values`` takes it."""
    num_observations = kernel.shape[0] // num_actions
    step = max(1, CHUNK // kernel.shape[0])
    most = np.empty((len(observations), num_observations))
    for begin in range(0, len(observations), step):
        part = slice(begin, begin + step)
        columns = np.arange(len(observations[part]))
        gain = np.zeros((num_observations, num_actions, len(columns)))
        if actions is None:
            gain[observations[part], :, columns] = 1.0
        else:
            gain[observations[part], actions[part], columns] = 1.0
        most[part] = best_values(kernel, gain, horizon)[0].T
    return most


def from_start(values: NDArray[np.float64], start_probs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean over the first observation of values[T, O], as [T]."""
    starts = np.flatnonzero(start_probs)
    mean: NDArray[np.float64] = ordered_sum(values[:, starts] * start_probs[starts])
    return mean
