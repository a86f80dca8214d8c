"""Lemma 2, significance and coverage against enumeration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from helpers_exploration import RandomHistoryPolicy, by, random_kernel, tiny_task, trajectories
from hypothesis import given, settings
from hypothesis import strategies as st

from praemia.envs import riverswim, warehouse
from praemia.errors import ModelError
from praemia.exploration import coverage, explore, significance, simulation_bound
from praemia.exploration.coverage import history_visits
from praemia.machines.builder import MachineBuilder
from praemia.machines.labels import LabelRule
from praemia.planning.exact import evaluate, solve
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.task import Task


def nearby(kernel: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a kernel a twentieth of which is another one: so near that Lemma 2 says something."""
    size, num_actions, _ = kernel.shape
    mixed: np.ndarray = 0.95 * kernel + 0.05 * random_kernel(rng, size, num_actions, 3)
    return mixed


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), horizon=st.integers(1, 4))
def test_lemma_two_holds_for_history_dependent_policies_and_any_reward(seed: int, horizon: int) -> None:
    rng = np.random.default_rng(seed)
    task = tiny_task(seed, horizon=horizon)
    other = nearby(task.mdp.to_dense(), rng)
    policy = RandomHistoryPolicy(seed, 2)
    largest = float(rng.uniform(0.5, 3.0))
    rewards: dict[tuple[int, ...], float] = {}
    values = []
    for kernel in (task.mdp.to_dense(), other):
        value = 0.0
        for history, mass in trajectories(kernel, task.mdp.start_probs, policy.probs, horizon):
            value += mass * rewards.setdefault(history, float(rng.choice([0.0, largest, rng.uniform(0.0, largest)])))
        values.append(value)
    bound = simulation_bound(task, LabeledMDP.from_dense(other), policy, largest)
    assert abs(values[0] - values[1]) <= bound + 1e-9
    assert bound < largest  # else it would say nothing


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), discount=st.sampled_from([1.0, 0.8]))
def test_lemma_two_holds_for_tables_and_machines(seed: int, discount: float) -> None:
    rng = np.random.default_rng(seed)
    task = tiny_task(seed, num_observations=4, horizon=4).with_discount(discount)
    second = LabeledMDP.from_dense(nearby(task.mdp.to_dense(), rng), task.mdp.labelling)
    policy = rng.integers(2, size=(4, 2, 4))
    gap = evaluate(task, policy).value - evaluate(replace(task, mdp=second), policy).value
    most = 1.0 + 0.5 * discount + discount**2 + 0.5 * discount**3  # the machine pays 1, 0.5, 1, 0.5 at most
    assert abs(gap) <= simulation_bound(task, second, policy, most) + 1e-9 < most


def test_lemma_two_needs_the_largest_reward_over_the_moves_of_a_machine() -> None:
    """A machine that is rich with probability .01, and a policy that acts only then: by hand.

    Action 1 leads to the goal with probability .5 in one kernel and .9 in the other, and the rich state pays 1 for it.
    So the values are .01·.5 and .01·.9; the pair is visited .01 times, and the kernels differ by .8 there.
    """
    kernels = [np.array([[[1.0, 0.0], [1.0 - p, p]], [[0.0, 1.0], [0.0, 1.0]]]) for p in (0.5, 0.9)]
    rules = [LabelRule(frozenset({"goal"}), source=0, target=1)]
    machine = (
        MachineBuilder("new")
        .edge("new", "!goal", "rich", probability=0.01)
        .edge("new", "!goal", "poor", probability=0.99)
        .edge("rich", "goal", "poor", reward=1)
        .build()
    )
    tasks = [Task(LabeledMDP.from_dense(kernel, rules), machine, 2) for kernel in kernels]
    policy = np.zeros((2, 3, 2), dtype=int)
    policy[1, machine.index["rich"], 0] = 1
    values = [evaluate(task, policy).value for task in tasks]
    assert values == pytest.approx([0.005, 0.009])
    assert simulation_bound(tasks[0], tasks[1].mdp, policy, bound=1.0) == pytest.approx(0.008)
    largest_mean = 0.01
    assert simulation_bound(tasks[0], tasks[1].mdp, policy, largest_mean) == pytest.approx(0.00008)


def test_lemma_two_is_zero_for_equal_kernels_and_needs_equal_sizes_and_starts() -> None:
    task = tiny_task(3)
    assert simulation_bound(task, task.mdp, RandomHistoryPolicy(0, 2), 1.0) == 0.0
    with pytest.raises(ModelError, match="sizes"):
        simulation_bound(task, tiny_task(3, num_observations=4).mdp, np.zeros((3, 2, 3), dtype=int), 1.0)
    moved = LabeledMDP.from_dense(task.mdp.to_dense(), start=1)
    with pytest.raises(ModelError, match="starts"):
        simulation_bound(task, moved, np.zeros((3, 2, 3), dtype=int), 1.0)


@pytest.mark.parametrize(("seed", "discount"), [(0, 1.0), (1, 1.0), (2, 1.0), (3, 0.8), (4, 0.5)])
def test_visits_of_a_history_dependent_policy_are_those_of_the_enumeration(seed: int, discount: float) -> None:
    task = tiny_task(seed, horizon=3).with_discount(discount)
    policy = RandomHistoryPolicy(seed, 2)
    expected = np.zeros((3, 2))
    for history, mass in trajectories(task.mdp.to_dense(), task.mdp.start_probs, policy.probs, 3):
        for i in range(0, 6, 2):
            expected[history[i], history[i + 1]] += discount ** (i // 2) * mass
    np.testing.assert_allclose(history_visits(task, policy), expected, atol=1e-12)


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
    dataset = explore(task, episodes=4000, **by(method, 300), seed=5)
    found = coverage(dataset, task)
    assert found.promised == 2 * task.num_observations * task.num_actions * task.horizon
    # Every observation of these tasks can be visited at least 0.1 times in an episode: all are significant.
    assert found.significance.min() > 0.1
    assert found.worst(delta=0.1) <= found.promised


def test_coverage_tells_pairs_never_visited_from_pairs_that_cannot_be() -> None:
    kernel = np.zeros((3, 1, 3))
    kernel[0, 0, 0], kernel[1, 0, 1], kernel[2, 0, 2] = 1.0, 1.0, 1.0
    mdp = LabeledMDP.from_dense(kernel, start={0: 0.999, 1: 0.001})
    task = Task(mdp, tiny_task(0).machine, 2)
    dataset = explore(task, episodes=1, policy_episodes=1, seed=1)
    found = coverage(dataset, task)
    assert found.ratios[0, 0] == pytest.approx(0.999)
    assert found.ratios[1, 0] == np.inf
    assert found.ratios[2, 0] == 0.0
    with pytest.raises(ModelError, match="observations"):
        coverage(dataset, tiny_task(0, num_observations=4))
