"""What a dataset covers: the best values over observations alone, and how often pairs can be visited.

Without a machine, in p or in p̂,

    V_h(o) = max_a min(most, gain(o, a) + Σ_z p(z|o, a)·V_{h+1}(z)),

and with a gain of 1 for visiting a target, V_0 is the most that it can be visited in an episode.

Significance of o: max_π Σ_h μ^π_h(o). Coverage: max_{π,a} μ^π(o, a)/λ(o, a), where λ(o, a) is the data's mean number of
visits in an episode; Theorem 3 promises at most 2OAH for all significant o. Both count visits, whatever the discount:
p is the same at every step, and what is covered without a discount is covered with one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.arithmetic import ordered_sum
from praemia.exploration.dataset import Dataset
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.task import Task

CHUNK = 1 << 22  # numbers in one table


def best_values(
    kernel: Any, gain: NDArray[np.float64], horizon: int, *, most: float = np.inf
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return V_0[O] and the actions [H, O] of V_h = max_a min(most, gain + Σ kernel · V_{h+1}), V_H = 0.

    ``kernel`` is [O·A, 2·O], the second half for ends; a row may be empty, a dead end. gain[O, A, …] may have more
    axes, which V then has too; the actions are not kept then.
    """
    size, keeps_actions = len(gain), gain.ndim == 2
    values, actions = np.zeros((size, *gain.shape[2:])), np.zeros((horizon if keeps_actions else 0, size), np.int64)
    going_on_kernel = kernel[:, :size]
    for h in range(horizon - 1, -1, -1):
        table = np.minimum(most, gain + (going_on_kernel @ values).reshape(gain.shape))
        values = table.max(axis=1)
        if keeps_actions:
            actions[h] = table.argmax(axis=1)
    return values, actions


def most_visits(
    kernel: Dataset | LabeledMDP, horizon: int, observations: NDArray[np.int64], actions: NDArray[np.int64] | None
) -> NDArray[np.float64]:
    """Return the most visits that each of T targets can have in an episode, float64[T].

    A target is an observation, or where ``actions`` are given, a pair.
    """
    shape, starts = (kernel.num_observations, kernel.num_actions), np.flatnonzero(kernel.start_probs)
    step, most = max(1, CHUNK // (shape[0] * shape[1])), np.empty(len(observations))
    for begin in range(0, len(observations), step):
        part = slice(begin, begin + step)
        columns = np.arange(len(observations[part]))
        gain = np.zeros((*shape, len(columns)))
        gain[observations[part], slice(None) if actions is None else actions[part], columns] = 1.0
        values = best_values(kernel.kernel, gain, horizon)[0]
        most[part] = ordered_sum(values[starts] * kernel.start_probs[starts, None], axis=0)
    return most


def significance(task: Task) -> NDArray[np.float64]:
    """Return max_π Σ_h μ^π_h(o) for every observation of a known task, float64[O].

    Examples
    --------
    >>> import praemia
    >>> from praemia.exploration import significance
    >>> float(significance(praemia.envs.riverswim())[0])  # one can stay at the left end for all 10 steps
    10.0
    """
    return most_visits(task.mdp, task.max_steps, np.arange(task.num_observations), None)


@dataclass(frozen=True, eq=False)
class Coverage:
    """How well a dataset covers a known task.

    Attributes
    ----------
    ratios : float64[O, A], max_π μ^π(o, a)/λ(o, a); infinite for a pair never visited, 0 for an unreachable one.
    significance : float64[O]; promised : 2OAH, Theorem 3's ratio.
    """

    ratios: NDArray[np.float64]
    significance: NDArray[np.float64]
    promised: float

    def worst(self, delta: float = 0.0) -> float:
        """Return the largest ratio over the observations whose significance is at least δ."""
        return float(self.ratios[self.significance >= delta].max(initial=0.0))


def coverage(dataset: Dataset, task: Task) -> Coverage:
    """Compare a dataset with the true task that it came from.

    Examples
    --------
    >>> import praemia
    >>> from praemia.exploration import coverage
    >>> task = praemia.envs.riverswim()
    >>> data = praemia.explore(task, num_episodes=500, seed=0)
    >>> coverage(data, task).promised  # 2·O·A·H
    200.0
    """
    dataset.require_sizes_of(task)
    pairs = np.divmod(np.arange(task.mdp.num_pairs), task.num_actions)
    rate = dataset.visits / dataset.num_episodes
    most_often = most_visits(task.mdp, task.max_steps, *pairs).reshape(rate.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(most_often > 0.0, most_often / rate, 0.0)
    promised = 2.0 * task.num_observations * task.num_actions * task.max_steps
    return Coverage(ratios, significance(task), promised)
