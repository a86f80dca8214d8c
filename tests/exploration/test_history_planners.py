"""Planners for rewards on trajectories: within their stated α of brute force."""

from __future__ import annotations

import numpy as np
import pytest
from helpers_exploration import brute_force, flat, random_kernel, return_of, tiny_task, trajectories

from praemia.envs import warehouse
from praemia.errors import ModelError, SizeError
from praemia.exploration import (
    CoverageReward,
    ExpectimaxPlanner,
    GreedyPlanner,
    SearchPlanner,
    Trajectory,
    TrajectoryReward,
)
from praemia.exploration.trajectories import KernelView, value_of_histories
from praemia.planning.exact import solve
from praemia.tasks.mdp import LabeledMDP


def random_reward(seed: int) -> TrajectoryReward:
    """Return a reward that has no structure at all: a number for each trajectory."""

    def reward(trajectory: Trajectory) -> float:
        return float(np.random.default_rng([seed, *flat(trajectory)]).uniform(0.0, 2.0))

    return TrajectoryReward(reward, 2.0, "random")


def view_of(seed: int, num_observations: int = 2, branching: int = 2) -> tuple[KernelView, np.ndarray, np.ndarray]:
    kernel = random_kernel(np.random.default_rng(seed), num_observations, 2, branching)
    mdp = LabeledMDP.from_dense(kernel)
    return KernelView(mdp), kernel, mdp.start_probs


def value(view: KernelView, planner: object, reward: TrajectoryReward, horizon: int) -> tuple[float, float]:
    """Return the exact value of a planner's policy, and its α."""
    policy, alpha = planner.plan(view, reward, horizon)  # type: ignore[attr-defined]
    result = value_of_histories(view, policy, reward, horizon, max_histories=10**6)
    assert result.exact
    return result.value, alpha


@pytest.mark.parametrize("seed", range(6))
def test_expectimax_is_the_best_of_all_policies(seed: int) -> None:
    view, kernel, start = view_of(seed)
    reward = random_reward(seed)
    best = brute_force(kernel, start, lambda h: reward(Trajectory(h[::2], h[1::2])), horizon=2)
    found, alpha = value(view, ExpectimaxPlanner(), reward, 2)
    assert alpha == 0.0
    assert found == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_expectimax_on_a_machines_return_is_planning_in_the_product(seed: int) -> None:
    task = tiny_task(seed, horizon=4)
    reward = TrajectoryReward(lambda trajectory: return_of(task, flat(trajectory)), 4.0)
    found, _ = value(KernelView(task.mdp), ExpectimaxPlanner(), reward, 4)
    assert found == pytest.approx(solve(task).value, abs=1e-12)


@pytest.mark.parametrize("simulations", [5, 50, 500, 5000])
@pytest.mark.parametrize("seed", range(4))
def test_search_is_within_its_alpha(seed: int, simulations: int) -> None:
    view, _, _ = view_of(seed, num_observations=3)
    reward = random_reward(seed)
    best, _ = value(view, ExpectimaxPlanner(), reward, 4)
    found, alpha = value(view, SearchPlanner(simulations=simulations, seed=seed), reward, 4)
    assert best - found + 1e-12 >= 0.0
    assert best - found <= alpha + 1e-9
    if simulations == 5000:
        assert alpha == pytest.approx(0.0, abs=1e-9)  # 256 trajectories: the tree is complete


def test_search_gets_better_with_simulations() -> None:
    losses = []
    for simulations in (3, 3000):
        gaps = []
        for seed in range(12):
            view, _, _ = view_of(seed, num_observations=3)
            reward = random_reward(seed)
            best, _ = value(view, ExpectimaxPlanner(), reward, 4)
            gaps.append(best - value(view, SearchPlanner(simulations=simulations, seed=seed), reward, 4)[0])
        losses.append(float(np.mean(gaps)))
    assert losses[1] < 0.25 * losses[0]


def test_equal_seeds_give_equal_search_policies() -> None:
    view, _, _ = view_of(1, num_observations=3)
    found = {value(view, SearchPlanner(simulations=40, seed=9), random_reward(1), 4) for _ in range(2)}
    assert len(found) == 1


@pytest.mark.parametrize("seed", range(8))
def test_greedy_coverage_is_within_its_alpha_of_the_optimum(seed: int) -> None:
    view, _, _ = view_of(seed, num_observations=5, branching=2)
    weights = np.random.default_rng(seed).uniform(0.0, 1.0, size=5)
    reward = CoverageReward(weights)
    best, _ = value(view, ExpectimaxPlanner(), reward, 5)
    found, alpha = value(view, GreedyPlanner(), reward, 5)
    assert -1e-12 <= best - found <= alpha + 1e-9


def test_search_knows_coverage_bounds_and_is_within_its_alpha() -> None:
    view, _, _ = view_of(4, num_observations=5, branching=2)
    reward = CoverageReward(np.ones(5))
    best, _ = value(view, ExpectimaxPlanner(), reward, 4)
    found, alpha = value(view, SearchPlanner(simulations=2000), reward, 4)
    assert -1e-12 <= best - found <= alpha + 1e-9


def test_a_sampled_value_says_that_it_is_an_estimate_and_its_interval_holds() -> None:
    task = tiny_task(2, horizon=6)
    view, reward = KernelView(task.mdp), CoverageReward([1.0, 1.0, 1.0])
    policy, _ = GreedyPlanner().plan(view, reward, 6)
    exact = value_of_histories(view, policy, reward, 6)
    # 40 intervals at 95%: more than 8 misses have probability below 1e-3.
    estimates = [value_of_histories(view, policy, reward, 6, max_histories=3, samples=300, seed=s) for s in range(40)]
    assert exact.exact
    assert not any(found.exact for found in estimates)
    assert sum(not found.low <= exact.value <= found.high for found in estimates) <= 8


def test_exact_values_are_those_of_the_enumeration() -> None:
    task = tiny_task(5, horizon=3)
    view, reward = KernelView(task.mdp), random_reward(5)
    policy, _ = ExpectimaxPlanner().plan(view, reward, 3)
    total = sum(
        mass * reward(Trajectory(h[::2], h[1::2]))
        for h, mass in trajectories(
            task.mdp.to_dense(),
            task.mdp.start_probs,
            lambda h: policy.action_probs(Trajectory(h[::2], h[1::2])),
            3,
        )
    )
    assert value_of_histories(view, policy, reward, 3).value == pytest.approx(total, abs=1e-12)


def test_bad_rewards_and_planners_that_do_not_fit_are_refused() -> None:
    view, _, _ = view_of(0)
    with pytest.raises(ModelError, match="declared 0 … 1"):
        ExpectimaxPlanner().plan(view, TrajectoryReward(lambda trajectory: 1.5, 1.0), 2)
    with pytest.raises(ModelError, match="declared"):
        ExpectimaxPlanner().plan(view, TrajectoryReward(lambda trajectory: float("nan"), 1.0), 2)
    with pytest.raises(ModelError, match="bound"):
        TrajectoryReward(lambda trajectory: 0.0, -1.0)
    with pytest.raises(ModelError, match="CoverageReward"):
        GreedyPlanner().plan(view, random_reward(0), 2)
    with pytest.raises(ModelError, match="weights"):
        CoverageReward([1.0, -1.0])
    with pytest.raises(SizeError, match="SearchPlanner"):
        ExpectimaxPlanner().plan(KernelView(warehouse(4).mdp), random_reward(0), 12)


def test_a_greedy_policy_that_forgets_acts_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    view = KernelView(tiny_task(3, num_observations=4, horizon=4).mdp)
    reward = CoverageReward(np.arange(1.0, 5.0))
    usual = value_of_histories(view, GreedyPlanner().plan(view, reward, 4)[0], reward, 4)
    monkeypatch.setattr("praemia.exploration.planners.MAX_REMEMBERED", 3 * 4 * 4)
    policy, _ = GreedyPlanner().plan(view, reward, 4)
    assert value_of_histories(view, policy, reward, 4) == usual
    assert len(policy.solutions) <= 3  # type: ignore[attr-defined]
