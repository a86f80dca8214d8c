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
    TrajectoryPlanner,
    TrajectoryReward,
)
from praemia.exploration.trajectories import Histories
from praemia.planning.exact import solve
from praemia.tasks.mdp import LabeledMDP


def random_reward(seed: int) -> TrajectoryReward:
    """Return a reward that has no structure at all: a number for each trajectory."""

    def reward(trajectory: Trajectory) -> float:
        return float(np.random.default_rng([seed, *flat(trajectory)]).uniform(0.0, 2.0))

    return TrajectoryReward(reward, 2.0, "random")


def histories_of(seed: int, horizon: int, num_observations: int = 2) -> Histories:
    kernel = random_kernel(np.random.default_rng(seed), num_observations, 2, 2)
    return Histories(LabeledMDP.from_dense(kernel), horizon)


def value(histories: Histories, planner: TrajectoryPlanner, reward: TrajectoryReward) -> tuple[float, float]:
    """Return the exact value of a planner's policy, and its α."""
    policy, alpha = planner.plan(histories, reward)
    result = histories.value(policy, reward, max_histories=10**6)
    assert result.exact
    return result.value, alpha


@pytest.mark.parametrize("seed", range(6))
def test_expectimax_is_the_best_of_all_policies(seed: int) -> None:
    histories, reward = histories_of(seed, horizon=2), random_reward(seed)
    mdp = histories.kernel
    assert isinstance(mdp, LabeledMDP)
    best = brute_force(mdp.to_dense(), mdp.start_probs, lambda h: reward(Trajectory(h[::2], h[1::2])), horizon=2)
    found, alpha = value(histories, ExpectimaxPlanner(), reward)
    assert alpha == 0.0
    assert found == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_expectimax_on_a_machines_return_is_planning_in_the_product(seed: int) -> None:
    task = tiny_task(seed, horizon=4)
    reward = TrajectoryReward(lambda trajectory: return_of(task, flat(trajectory)), 4.0)
    found, _ = value(Histories(task.mdp, 4), ExpectimaxPlanner(), reward)
    assert found == pytest.approx(solve(task).value, abs=1e-12)


@pytest.mark.parametrize("simulations", [5, 50, 500, 5000])
@pytest.mark.parametrize("seed", range(4))
def test_search_is_within_its_alpha(seed: int, simulations: int) -> None:
    histories = histories_of(seed, horizon=4, num_observations=3)
    reward = random_reward(seed)
    best, _ = value(histories, ExpectimaxPlanner(), reward)
    found, alpha = value(histories, SearchPlanner(simulations=simulations, seed=seed), reward)
    assert best - found + 1e-12 >= 0.0
    assert best - found <= alpha + 1e-9
    if simulations == 5000:
        assert alpha == pytest.approx(0.0, abs=1e-9)  # 256 trajectories: the tree is complete


def test_search_gets_better_with_simulations() -> None:
    losses = []
    for simulations in (3, 3000):
        gaps = []
        for seed in range(12):
            histories = histories_of(seed, horizon=4, num_observations=3)
            reward = random_reward(seed)
            best, _ = value(histories, ExpectimaxPlanner(), reward)
            gaps.append(best - value(histories, SearchPlanner(simulations=simulations, seed=seed), reward)[0])
        losses.append(float(np.mean(gaps)))
    assert losses[1] < 0.25 * losses[0]


def test_equal_seeds_give_equal_search_policies() -> None:
    histories = histories_of(1, horizon=4, num_observations=3)
    found = {value(histories, SearchPlanner(simulations=40, seed=9), random_reward(1)) for _ in range(2)}
    assert len(found) == 1


@pytest.mark.parametrize("seed", range(8))
def test_greedy_coverage_is_within_its_alpha_of_the_optimum(seed: int) -> None:
    histories = histories_of(seed, horizon=5, num_observations=5)
    weights = np.random.default_rng(seed).uniform(0.0, 1.0, size=5)
    reward = CoverageReward(weights)
    best, _ = value(histories, ExpectimaxPlanner(), reward)
    found, alpha = value(histories, GreedyPlanner(), reward)
    assert -1e-12 <= best - found <= alpha + 1e-9


def test_search_knows_coverage_bounds_and_is_within_its_alpha() -> None:
    histories = histories_of(4, horizon=4, num_observations=5)
    reward = CoverageReward(np.ones(5))
    best, _ = value(histories, ExpectimaxPlanner(), reward)
    found, alpha = value(histories, SearchPlanner(simulations=2000), reward)
    assert -1e-12 <= best - found <= alpha + 1e-9


def test_a_sampled_value_says_that_it_is_an_estimate_and_its_interval_holds() -> None:
    task = tiny_task(2, horizon=6)
    histories, reward = Histories(task.mdp, 6), CoverageReward([1.0, 1.0, 1.0])
    policy, _ = GreedyPlanner().plan(histories, reward)
    exact = histories.value(policy, reward)
    # 40 intervals at 95%: more than 8 misses have probability below 1e-3.
    estimates = [histories.value(policy, reward, max_histories=3, samples=300, seed=s) for s in range(40)]
    assert exact.exact
    assert not any(found.exact for found in estimates)
    assert sum(not found.low <= exact.value <= found.high for found in estimates) <= 8


def test_exact_values_are_those_of_the_enumeration() -> None:
    task = tiny_task(5, horizon=3)
    histories, reward = Histories(task.mdp, 3), random_reward(5)
    policy, _ = ExpectimaxPlanner().plan(histories, reward)
    total = sum(
        mass * reward(Trajectory(h[::2], h[1::2]))
        for h, mass in trajectories(
            task.mdp.to_dense(),
            task.mdp.start_probs,
            lambda h: policy.action_probs(Trajectory(h[::2], h[1::2])),
            3,
        )
    )
    assert histories.value(policy, reward).value == pytest.approx(total, abs=1e-12)


def test_bad_rewards_and_planners_that_do_not_fit_are_refused() -> None:
    histories = histories_of(0, horizon=2)
    with pytest.raises(ModelError, match="declared 0 … 1"):
        ExpectimaxPlanner().plan(histories, TrajectoryReward(lambda trajectory: 1.5, 1.0))
    with pytest.raises(ModelError, match="declared"):
        ExpectimaxPlanner().plan(histories, TrajectoryReward(lambda trajectory: float("nan"), 1.0))
    with pytest.raises(ModelError, match="bound"):
        TrajectoryReward(lambda trajectory: 0.0, -1.0)
    with pytest.raises(ModelError, match="CoverageReward"):
        GreedyPlanner().plan(histories, random_reward(0))
    with pytest.raises(ModelError, match="weights"):
        CoverageReward([1.0, -1.0])
    with pytest.raises(SizeError, match="SearchPlanner"):
        ExpectimaxPlanner().plan(Histories(warehouse(4).mdp, 12), random_reward(0))


def test_a_greedy_policy_that_forgets_acts_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    histories = Histories(tiny_task(3, num_observations=4, horizon=4).mdp, 4)
    reward = CoverageReward(np.arange(1.0, 5.0))
    usual = value(histories, GreedyPlanner(), reward)
    monkeypatch.setattr("praemia.exploration.planners.MAX_REMEMBERED", 1)
    assert value(histories, GreedyPlanner(), reward) == usual
