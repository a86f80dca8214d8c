"""Significance and coverage: Theorem 3's measures, against planning for the indicator reward."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers_exploration import by, tiny_task

from praemia.envs import riverswim, warehouse
from praemia.errors import ModelError, ParameterError
from praemia.exploration import coverage, explore, significance
from praemia.machines.builder import MachineBuilder
from praemia.machines.labels import LabelRule
from praemia.planning.exact import solve
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.task import Task
from praemia.theory import policy_search_episodes


@pytest.mark.parametrize("seed", range(5))
def test_significance_is_the_optimum_of_the_indicator_reward(seed: int) -> None:
    task = tiny_task(seed, num_observations=4, horizon=4)
    machine = MachineBuilder("x").edge("x", "here", "x", reward=1).build()
    for o, found in enumerate(significance(task)):
        mdp = LabeledMDP.from_dense(task.mdp.to_dense(), [LabelRule(frozenset({"here"}), source=o)])
        assert found == pytest.approx(solve(Task(mdp, machine, 4)).value, abs=1e-12)


@pytest.mark.parametrize("task", [riverswim(5), warehouse(3)], ids=["riverswim-5", "warehouse-3"])
@pytest.mark.parametrize("method", ["euler", "uncertainty"])
def test_the_coverage_of_theorem_three_is_reached_at_practical_budgets(task: Task, method: str) -> None:
    found = coverage(explore(task, num_episodes=4000, **by(method, 300), seed=5), task)
    assert found.promised == 2 * task.num_observations * task.num_actions * task.horizon
    # Every observation of these tasks can be visited at least 0.1 times in an episode: all are significant.
    assert found.significance.min() > 0.1
    assert found.worst(delta=0.1) <= found.promised


def test_coverage_tells_pairs_never_visited_from_pairs_that_cannot_be() -> None:
    mdp = LabeledMDP.from_dense(np.eye(3)[:, None], start={0: 0.999, 1: 0.001})
    task = Task(mdp, tiny_task(0).machine, 2)
    dataset = explore(task, num_episodes=1, seed=1)
    assert coverage(dataset, task).ratios[:, 0].tolist() == [pytest.approx(0.999), np.inf, 0.0]
    with pytest.raises(ModelError, match="observations"):
        coverage(dataset, tiny_task(0, num_observations=4))


def test_theorem_three_counts_search_episodes() -> None:
    iota = math.log(5 * 2 * 10 / (0.05 * 0.2))
    assert policy_search_episodes(5, 2, 10, 0.2) == pytest.approx(5**2 * 2 * 10**4 * iota**3 / 0.2)
    for change in ({"significance": 0.0}, {"failure_prob": 1.0}, {"constant": 0.0}):
        with pytest.raises(ParameterError):
            policy_search_episodes(5, 2, 3, **({"significance": 0.1} | change))
