"""A task in a black box is the same task: returns, counts and learned values have equal distributions.

Tasks are random with fixed seeds. Each comparison is one test over all tasks at level 10⁻⁶.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from praemia import BlackBox, Run, Task, envs, evaluate, simulate
from praemia.envs import TaskEnv

LEVEL, EPISODES = 1e-6, 60


def boxed(task: Task) -> BlackBox:
    """Return a task behind Gymnasium's interface; its labels come as info."""
    encode = lambda shown: int(shown["observation"])  # noqa: E731
    return BlackBox(TaskEnv(task), "label", task.machine, task.horizon, encode, task.num_observations)


def random_tasks(count: int) -> list[Task]:
    return [envs.random_task(4 + i % 3, 2 + i % 2, 2 + i % 3, seed=i, horizon=5 + i % 4) for i in range(count)]


def excess(task: Task, run: Run) -> tuple[float, int]:
    """Return Pearson's statistic of the transitions of a run against p, and its degrees of freedom."""
    p, counts = task.mdp.to_dense(), np.zeros(task.mdp.to_dense().shape)
    np.add.at(counts, run.dataset.transitions, run.dataset.counts)
    expected = counts.sum(axis=-1, keepdims=True) * p
    total, freedom = 0.0, 0
    for seen, mean in zip(counts.reshape(-1, p.shape[-1]), expected.reshape(-1, p.shape[-1]), strict=True):
        large = mean >= 5.0
        if large.sum() < 2:
            continue
        both = [np.append(part[large], part[~large].sum()) for part in (seen, mean)]
        kept = both[1] > 0.0
        total += float(((both[0] - both[1])[kept] ** 2 / both[1][kept]).sum())
        freedom += int(kept.sum()) - 1
    return total, freedom


def is_centred(differences: list[float]) -> bool:
    """Tell whether differences may have mean 0, by Student's t."""
    values = np.array(differences)
    if not values.any():
        return True
    t = abs(values.mean()) / (values.std(ddof=1) / np.sqrt(len(values)))
    return bool(t <= stats.t.ppf(1.0 - LEVEL / 2, len(values) - 1))


@pytest.mark.parametrize("count", [24, pytest.param(200, marks=pytest.mark.slow)])
def test_a_task_in_a_black_box_has_the_returns_counts_and_learned_values_of_the_task(count: int) -> None:
    off, variance, pearson, freedom = 0.0, 0.0, 0.0, 0
    returns, values = [], []
    for i, task in enumerate(random_tasks(count)):
        box = boxed(task)
        played = simulate(box, "random", EPISODES, (i, 1))
        exact = float(np.mean(simulate(task, "random", EPISODES, (i, 1)).policy_values))
        off += played.returns.mean() - exact
        variance += played.returns.var(ddof=1) / EPISODES
        own = excess(task, played)
        pearson, freedom = pearson + own[0], freedom + own[1]
        inside, outside = simulate(box, "headroom", EPISODES, (i, 2)), simulate(task, "headroom", EPISODES, (i, 3))
        returns.append(float(inside.returns.mean() - outside.returns.mean()))
        values.append(evaluate(task, inside.policy.table).value - evaluate(task, outside.policy.table).value)
    assert abs(off) <= stats.norm.ppf(1.0 - LEVEL / 2) * np.sqrt(variance)
    assert stats.chi2.ppf(LEVEL / 2, freedom) <= pearson <= stats.chi2.ppf(1.0 - LEVEL / 2, freedom)
    assert is_centred(returns)
    assert is_centred(values)


def test_an_evaluation_covers_the_exact_value() -> None:
    """At 95% over 60 tasks, at most 12 intervals may miss: with probability 10⁻⁴ more do."""
    missed = 0
    for task in random_tasks(60):
        run = simulate(task, "headroom", 20)
        low, high = evaluate(boxed(task), run.policy.table, num_episodes=60).interval
        missed += not low <= evaluate(task, run.policy.table).value <= high
    assert missed <= 12
