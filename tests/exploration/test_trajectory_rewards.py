"""Plans for rewards on whole trajectories: within their stated α of brute force."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from helpers_exploration import brute_force, flat, history_value, random_kernel, return_of, tiny_task, trajectories

from praemia.envs import riverswim, warehouse
from praemia.errors import ModelError
from praemia.exploration import Trajectory, TrajectoryReward, explore, plan_from
from praemia.exploration.trajectories import SearchPolicy
from praemia.planning.exact import solve
from praemia.tasks.mdp import LabeledMDP


def as_trajectory(history: tuple[int, ...]) -> Trajectory:
    return Trajectory(history[::2], history[1::2])


COMPLETE = 100_000  # simulations, more than any tree here needs


def random_reward(seed: int) -> TrajectoryReward:
    """Return a reward that has no structure at all: a number for each trajectory."""

    def reward(trajectory: Trajectory) -> float:
        return float(np.random.default_rng([seed, *flat(trajectory)]).uniform(0.0, 2.0))

    return TrajectoryReward(reward, 2.0)


def kernel_of(seed: int, num_observations: int = 2) -> LabeledMDP:
    return LabeledMDP.from_dense(random_kernel(np.random.default_rng(seed), num_observations, 2, 2))


@pytest.mark.parametrize("seed", range(6))
def test_a_complete_search_is_the_best_of_all_policies(seed: int) -> None:
    mdp, reward = kernel_of(seed), random_reward(seed)
    best = brute_force(mdp.to_dense(), mdp.start_probs, lambda h: reward(Trajectory(h[::2], h[1::2])), horizon=2)
    policy = SearchPolicy(mdp, 2, reward, COMPLETE)
    found = policy.value()
    assert found.is_settled
    assert found.lower == found.estimate == pytest.approx(best, abs=1e-12)
    assert history_value(mdp, policy, reward, 2) == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_planning_for_a_machines_return_is_planning_in_the_product(seed: int) -> None:
    task = tiny_task(seed, horizon=4)
    reward = TrajectoryReward(lambda trajectory: return_of(task, flat(trajectory)), 4.0)
    found = SearchPolicy(task.mdp, 4, reward, COMPLETE).value()
    assert found.estimate == pytest.approx(solve(task).value, abs=1e-12)


@pytest.mark.parametrize("simulations", [1, 5, 100, 500])
def test_a_search_is_within_its_alpha_and_gets_better(simulations: int) -> None:
    losses = []
    for seed in range(8):
        mdp, reward = kernel_of(seed, 3), random_reward(seed)
        best = SearchPolicy(mdp, 4, reward, COMPLETE).value()
        assert best.is_settled
        policy = SearchPolicy(mdp, 4, reward, simulations, seed)
        found = policy.value()
        own = history_value(mdp, policy, reward, 4)
        losses.append(best.estimate - own)
        assert losses[-1] >= -1e-12
        assert losses[-1] <= found.upper - found.lower + 1e-9  # α
        assert found.lower - 1e-9 <= own
        assert best.estimate <= found.upper + 1e-9
    assert np.mean(losses) < {1: 0.5, 5: 0.4, 100: 0.15, 500: 0.01}[simulations]


def test_equal_seeds_give_equal_policies() -> None:
    found = {SearchPolicy(kernel_of(1, 3), 4, random_reward(1), 40, 9).value() for _ in range(2)}
    assert len(found) == 1


def test_what_meets_the_unknown_is_worth_nothing() -> None:
    task = tiny_task(1)
    data = explore(task, num_episodes=1)
    never = np.argwhere(data.visits == 0)
    assert len(never)
    always = TrajectoryReward(lambda trajectory: 1.0, 1.0)
    plan = plan_from(data, always)
    assert plan.alpha == 0.0
    # What never meets the unknown happens with this probability.
    dense = data.kernel.toarray()[:, :3].reshape(3, 2, 3)
    policies = list(trajectories(dense, data.start_probs, lambda h: plan.policy.action_probs(as_trajectory(h)), 3))
    assert plan.value == pytest.approx(sum(mass for _, mass in policies), abs=1e-12)


def test_a_plan_from_data_says_between_which_bounds_it_is() -> None:
    task = warehouse(3)
    data = explore(task, num_episodes=3000)
    tour = TrajectoryReward(lambda trajectory: float(len(set(trajectory.observations))), 9.0)
    plan = plan_from(data, tour)
    assert 5.0 < plan.value <= 9.0  # 9 steps, 9 places
    assert 0.0 < plan.alpha <= 9.0
    assert plan.certificate.bound <= 9.0
    small = plan_from(data, tour, horizon=2)
    assert small.alpha == 0.0
    with pytest.raises(ModelError, match="this one is for trajectories"):
        plan.gap(task)


def test_a_long_horizon_is_planned_for() -> None:
    """More steps than Python allows calls within each other, with one history and with more than a float can count."""
    chain = LabeledMDP.from_rows(2, 1, {(o, 0): {1 - o: 1.0} for o in range(2)}, start=0)
    reward = TrajectoryReward(lambda trajectory: float(trajectory.last == 0), 1.0)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(400)
    try:
        found = SearchPolicy(chain, 400, reward, 10_000).value()
    finally:
        sys.setrecursionlimit(limit)
    assert found.is_settled
    assert found.estimate == 1.0
    data = explore(riverswim(size=3), num_episodes=60)
    plan = plan_from(data, reward, horizon=1_100, simulations=10)
    assert 0.0 <= plan.value <= 1.0
    assert plan.likely_loss is plan.likely(draws=40) is None


def test_bad_rewards_are_refused() -> None:
    for value in (1.5, float("nan")):
        with pytest.raises(ModelError, match="declared 0 … 1"):
            SearchPolicy(kernel_of(0), 2, TrajectoryReward(lambda trajectory, v=value: v, 1.0)).value()
    with pytest.raises(ModelError, match="bound"):
        TrajectoryReward(lambda trajectory: 0.0, -1.0)
