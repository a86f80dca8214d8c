"""What a dataset covers: the best values over observations alone, how often pairs can be visited, and Lemma 2.

Without a machine, in p or in p̂,

    V_h(o) = max_a min(most, gain(o, a) + Σ_z p(z|o, a)·V_{h+1}(z)),

and with a gain of 1 for visiting a target, V_0 is the most that it can be visited in an episode.

Lemma 2 (simulation lemma). For two kernels p, p̂, any policy π — history-dependent or not — and any reward ≤ G,

    |Ĵ(π) − J(π)| ≤ G·Σ_h Σ_{o,a} ‖p̂ − p‖₁(o, a)·μ^π_h(o, a),

with μ^π computed in p. (Rewards ≥ 0 allow half of it; the certificate uses that, this function states the lemma.)

With a discount γ, μ^π_h counts γ^h times, and G is the largest discounted reward that can follow any step.

Where π may depend on the state of a probabilistic machine, G is the largest reward over trajectories *and* the
machine's moves. The paper takes the mean over its moves, F(η), which is too small: π can make the errors of p̂ matter
only where the machine happens to pay well, and then the mean over all its moves says nothing about those.

Significance of o: max_π Σ_h μ^π_h(o). Coverage: max_{π,a} μ^π(o, a)/λ(o, a), where λ(o, a) is the data's mean number of
visits in an episode; Theorem 3 promises at most 2OAH for all significant o. Both count visits, whatever the discount:
p is the same at every step, and what is covered without a discount is covered with one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from praemia.arithmetic import ordered_sum
from praemia.errors import ModelError
from praemia.exploration.counts import Counted
from praemia.exploration.dataset import Dataset
from praemia.exploration.trajectories import Histories, HistoryPolicy
from praemia.planning.exact import occupancy
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.model import step_weights
from praemia.tasks.task import Task

CHUNK = 1 << 22  # numbers in one table


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
    kernel: Counted | LabeledMDP, horizon: int, observations: NDArray[np.int64], actions: NDArray[np.int64] | None
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


def simulation_bound(task: Task, other: LabeledMDP, policy: ArrayLike | HistoryPolicy, bound: float) -> float:
    """Return Lemma 2's bound on |Ĵ(π) − J(π)|, where p is the kernel of ``task`` and p̂ that of ``other``.

    ``policy`` is an array as ``evaluate`` takes it, [H, M, O] or [H, M, O, A], or a policy over histories; the
    histories of the latter are enumerated, so the task must be small. ``bound`` is G.

    Examples
    --------
    >>> import praemia
    >>> from praemia.exploration import simulation_bound
    >>> task = praemia.envs.riverswim()
    >>> simulation_bound(task, task.mdp, praemia.solve(task).policy, bound=1.0)  # the same kernel
    0.0
    """
    differences = kernel_distances(task.mdp, other)
    if not np.array_equal(task.mdp.start_probs, other.start_probs):
        raise ModelError("two models with different starts; Lemma 2 compares kernels alone")
    visits = history_visits(task, policy) if isinstance(policy, HistoryPolicy) else occupancy(task.model, policy).pairs
    return bound * float(ordered_sum((differences * visits).ravel()))


def kernel_distances(first: LabeledMDP, second: LabeledMDP) -> NDArray[np.float64]:
    """Return ‖p̂ − p‖₁ for every pair, float64[O, A]."""
    sizes = [(mdp.num_observations, mdp.num_actions) for mdp in (first, second)]
    if sizes[0] != sizes[1]:
        raise ModelError(f"models of sizes {sizes[0]} and {sizes[1]}; expected the same observations and actions")
    distances = np.asarray(abs(first.kernel - second.kernel).sum(axis=1))
    return distances.reshape(sizes[0])


def history_visits(task: Task, policy: HistoryPolicy) -> NDArray[np.float64]:
    """Return μ^π(o, a) = Σ_h γ^h·P(o_h = o, a_h = a) as float64[O, A], by enumerating histories."""
    visits = np.zeros((task.num_observations, task.num_actions))
    weights = step_weights(task.max_steps, task.discount)
    for history, mass in Histories(task.mdp, task.max_steps).walk(policy):
        if not history.is_over(task.max_steps):
            visits[history.last] += weights[len(history.actions)] * mass * policy.action_probs(history)
    return visits


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
    >>> data = praemia.explore(task, episodes=500, method="uncertainty", seed=0)
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
