"""Time reward-free exploration, and compare its two methods for the same number of episodes.

    python -m pytest benchmarks/bench_explore.py -s

The comparison gives each method the same *total* number of episodes: EULER's search episodes count, and they are
kept (``keep_search``) so that no data is thrown away. A second line has the data of Algorithm 3 as written.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from machine_family import machine_family

from praemia.envs import make, random_task
from praemia.exploration import (
    CoverageReward,
    Dataset,
    ExpectimaxPlanner,
    GreedyPlanner,
    SearchPlanner,
    Trajectory,
    TrajectoryPlanner,
    TrajectoryReward,
    explore,
    plan_from,
)
from praemia.exploration.trajectories import Histories
from praemia.tasks.task import Task

NUM_SEEDS = 8


def test_explore_warehouse_5(benchmark: Any) -> None:
    """25 EULER runs of 1,000 episodes, then 10,000 episodes: the target is seconds."""
    task = make("warehouse-5")
    explore(task, episodes=5, policy_episodes=5)  # compile first
    dataset = benchmark.pedantic(explore, (task,), {"episodes": 10_000}, rounds=3, iterations=1)
    print(f"\n{dataset.coverage()}")


def test_plan_from_warehouse_5(benchmark: Any) -> None:
    """A plan with its certificate, from explored data."""
    task = make("warehouse-5")
    dataset = explore(task, episodes=1000, method="uncertainty")
    plan_from(dataset, task.machine)  # compile first
    plan = benchmark(plan_from, dataset, task.machine)
    print(f"\n{plan.value}; {plan.certificate.text(dataset)}")


def losses(task: Task, data: list[Dataset]) -> tuple[float, float, float]:
    """Return the mean and the largest loss over machines and seeds, and the mean certificate ÷ the most to lose."""
    machines = machine_family(task.machine.propositions, 8).values()
    plans = [plan_from(dataset, machine) for dataset in data for machine in machines]
    found = [plan.gap(task).value for plan in plans]
    shares = [plan.certificate.bound / plan.certificate.largest for plan in plans]
    return float(np.mean(found)), max(found), float(np.mean(shares))


@pytest.mark.parametrize("name", ["riverswim-10", "warehouse-4", "warehouse-5"])
def test_the_two_methods_at_equal_episodes(name: str) -> None:
    task = make(name)
    print(
        f"\n{task.name}: 8 machines, {NUM_SEEDS} seeds; mean loss, largest loss, mean certificate as share of the most"
    )
    for total in (1_000, 3_000, 10_000, 30_000):
        half = total // 2
        search = max(1, half // task.num_observations)
        ways: dict[str, dict[str, Any]] = {
            "uncertainty": {"method": "uncertainty", "episodes": total},
            "euler, search kept": {"method": "euler", "policy_episodes": search, "keep_search": True, "episodes": half},
            "euler, as written": {"method": "euler", "policy_episodes": search, "episodes": half},
        }
        for label, arguments in ways.items():
            data = [explore(task, seed=seed, **arguments) for seed in range(NUM_SEEDS)]
            mean, worst, share = losses(task, data)
            print(f"{total:>7,} episodes  {label:<20} {mean:.6f}  {worst:.6f}  {share:.3f}")


@pytest.mark.parametrize("scale", [0.0001, 0.001, 0.01, 0.1, 1.0])
def test_the_coefficient_of_the_uncertainty_explorer(scale: float) -> None:
    print()
    for name in ("riverswim-10", "warehouse-5"):
        task = make(name)
        data = [explore(task, seed=s, method="uncertainty", scale=scale, episodes=2000) for s in range(NUM_SEEDS)]
        fewest = [int(dataset.visits.min()) for dataset in data]
        mean, worst, share = losses(task, data)
        print(f"c = {scale:<7g} {name:<14} {mean:.6f}  {worst:.6f}  {share:.3f}  fewest visits {min(fewest)}")


@pytest.mark.parametrize("name", ["warehouse-4", "warehouse-5"])
def test_the_slope_of_the_loss(name: str) -> None:
    """The loss against N, and the slope on a log–log scale; Theorem 2's is −1/2."""
    task = make(name)
    budgets = (100, 300, 1000, 3000, 10_000, 30_000)
    print()
    own_settings: dict[str, dict[str, Any]] = {"euler": {"policy_episodes": 30}, "uncertainty": {}}
    for method, own in own_settings.items():
        found = []
        for episodes in budgets:
            data = [explore(task, episodes=episodes, method=method, seed=s, **own) for s in range(NUM_SEEDS)]
            found.append(losses(task, data)[0])
        slope = np.polyfit(np.log(budgets), np.log(found), 1)[0]
        shown = "  ".join(f"{n:,}: {loss:.6f}" for n, loss in zip(budgets, found, strict=True))
        print(f"{task.name}, {method}: {shown}; slope {slope:.2f}")


@pytest.mark.parametrize("simulations", [10, 100, 1_000, 10_000])
def test_the_loss_of_search_against_brute_force(simulations: int) -> None:
    """Rewards without any structure on tiny random kernels: 3 observations, 2 actions, 4 steps."""
    lost, stated = [], []
    for seed in range(20):
        mdp = random_task(3, 2, 2, horizon=4, seed=seed).mdp
        histories = Histories(mdp, 4)
        reward = TrajectoryReward(lambda t, s=seed: _noise(s, t), 1.0, "noise")  # type: ignore[misc]
        value, alpha = _value(histories, SearchPlanner(simulations=simulations, seed=seed), reward)
        lost.append(ExpectimaxPlanner().optimum(histories, reward) - value)
        stated.append(alpha)
    print(f"\n{simulations:>6,} simulations: mean loss {np.mean(lost):.4f}, largest {max(lost):.4f}, "
          f"stated α {np.mean(stated):.4f} on average, {max(stated):.4f} at most")  # fmt: skip


def test_the_loss_of_greedy_coverage_against_brute_force() -> None:
    lost, stated = [], []
    for seed in range(40):
        mdp = random_task(6, 2, 2, horizon=6, seed=seed, branching=2).mdp
        histories = Histories(mdp, 6)
        reward = CoverageReward(np.random.default_rng(seed).uniform(size=6))
        best = ExpectimaxPlanner(max_histories=10**7).optimum(histories, reward)
        value, alpha = _value(histories, GreedyPlanner(), reward)
        lost.append((best - value) / best)
        stated.append(alpha / best)
    print(f"\ngreedy coverage: mean loss {np.mean(lost):.4f} of the optimum, largest {max(lost):.4f}; "
          f"stated α {np.mean(stated):.4f} on average")  # fmt: skip


def _noise(seed: int, trajectory: Trajectory) -> float:
    return float(np.random.default_rng([seed, *trajectory.observations, *trajectory.actions]).uniform())


def _value(histories: Histories, planner: TrajectoryPlanner, reward: TrajectoryReward) -> tuple[float, float]:
    """Return the exact value of a planner's policy, and its stated α."""
    policy, alpha = planner.plan(histories, reward)
    found = histories.value(policy, reward, max_histories=10**7)
    assert found.exact
    return found.value, alpha
