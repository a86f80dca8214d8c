"""Certificates: never below the truth, each of their parts against an oracle, honest when they say nothing."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from helpers_exploration import by, history_value, tiny_task
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import tasks

from praemia.envs import riverswim, warehouse
from praemia.errors import ModelError, PraemiaError, PraemiaWarning
from praemia.exploration import TrajectoryReward, explore, plan_from
from praemia.exploration.certificate import _shifted, largest_distances
from praemia.exploration.confidence import confidence
from praemia.exploration.trajectories import SearchPolicy
from praemia.machines.builder import MachineBuilder
from praemia.machines.labels import Labelling
from praemia.machines.machine import RewardMachine
from praemia.planning.exact import evaluate, solve
from praemia.tasks.extremes import extremes
from praemia.tasks.machine_table import MachineTable
from praemia.tasks.spec import TaskSpec
from praemia.tasks.task import Task


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6))
def test_certificates_for_any_reward_are_never_below_the_true_gap(seed: int) -> None:
    task = tiny_task(seed, horizon=3)
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.0, 1.0, size=(3, 3, 3, 3))
    reward = TrajectoryReward(lambda trajectory: float(weights[trajectory.observations]), 1.0)
    dataset = explore(task, num_episodes=int(10 ** rng.uniform(0, 4)), seed=seed)
    for simulations in (20, 2_000):
        plan = plan_from(dataset, reward, simulations=simulations)
        best = SearchPolicy(task.mdp, 3, reward, 100_000).value()
        assert best.is_settled
        gap = best.estimate - history_value(task.mdp, plan.policy, reward, 3)
        assert -1e-9 <= gap <= plan.certificate.bound + 1e-9


def test_the_largest_distance_is_the_worst_policys_sum_when_nothing_is_cut_off() -> None:
    task = tiny_task(2, horizon=3)
    dataset = explore(task, num_episodes=200_000, seed=1)
    sure = confidence(dataset, 0.05)
    found = largest_distances(dataset, sure.tv, 3)
    dense = dataset.kernel.toarray()[:, :3].reshape(3, 2, 3)
    best = 0.0
    for choice in np.ndindex(*(2,) * 9):
        actions, total, here = np.array(choice).reshape(3, 3), 0.0, dataset.start_probs
        for h in range(3):
            total += sum(here[o] * sure.tv[o, actions[h, o]] for o in range(3))
            here = sum(here[o] * dense[o, actions[h, o]] for o in range(3))
        best = max(best, total)
    assert dataset.start_probs @ found == pytest.approx(best, abs=1e-12)
    assert best < 0.2


def most_of(machine: RewardMachine, horizon: int, discount: float, *, can_end: bool, sign: float = 1.0) -> float:
    table = MachineTable.of(machine, [frozenset()])
    sizes, nothing = (1, 1, horizon), (Labelling(()), (frozenset(),), table)
    spec = TaskSpec(*sizes, machine, *nothing, can_end=can_end, discount=discount)
    return float(extremes(spec, sign=sign)[0, 0])


def test_the_most_that_a_machine_can_pay_is_that_of_its_best_labels() -> None:
    machine = (
        MachineBuilder("a").edge("a", "x", "b", probability=0.5, reward=1).edge("a", "x", "a", probability=0.5).build()
    )
    # One success in 3 tries at 1/2 each.
    assert most_of(machine, 3, 1.0, can_end=False) == pytest.approx(1.0 - 0.5**3)
    # With a discount, a success counts 1, 0.9 or 0.81.
    assert most_of(machine, 3, 0.9, can_end=True) == pytest.approx(0.5 + 0.25 * 0.9 + 0.125 * 0.81)


def test_an_end_may_pay_more_or_less_than_a_machine_that_goes_on() -> None:
    machine = MachineBuilder("a").edge("a", "x", "a", reward=-1).edge("a", "!x", "a", reward=1).build().in_unit_range
    can_end, cannot = (
        [most_of(machine, 2, 0.5, can_end=ends, sign=sign) for sign in (1, -1)] for ends in (True, False)
    )
    # In the unit range the labels pay 0 or 1 a step, an end ½ for each step left: never the best nor the worst here.
    assert can_end == cannot == pytest.approx([1.5, 0.0])
    costly = MachineBuilder("a").edge("a", "true", "a", reward=-1).build().in_unit_range
    assert most_of(costly, 3, 0.5, can_end=False) == 0.0
    assert most_of(costly, 3, 0.5, can_end=True) == pytest.approx(0.5 * (1 + 0.5))


def test_moving_mass_is_the_largest_mean_within_a_distance() -> None:
    values, probs = np.array([1.0, 3.0, 0.0]), np.array([0.5, 0.2, 0.3])
    assert _shifted(values, probs, 0.4) == pytest.approx(1.0 * 0.4 + 3.0 * 0.6)
    assert _shifted(values, probs, 5.0) == pytest.approx(3.0)


def test_a_certificate_from_one_episode_is_vacuous_and_says_so() -> None:
    task = warehouse(4)
    dataset = explore(task, num_episodes=1)
    plan = plan_from(dataset, task.machine)
    assert plan.certificate.is_vacuous
    assert plan.certificate.bound <= plan.certificate.largest
    assert "vacuous" in plan.certificate.text()


def test_more_data_shrinks_the_certificate() -> None:
    task = riverswim(5)
    bounds = [
        plan_from(explore(task, num_episodes=n, seed=1), task.machine).certificate.bound
        for n in (100, 1000, 10_000, 100_000)
    ]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[-1] < 0.05


def test_another_horizon_can_be_planned_for() -> None:
    task = riverswim(5)
    dataset = explore(task, num_episodes=2000)
    plan = plan_from(dataset, task.machine, horizon=6)
    assert plan.policy.shape == (6, 2, 5)
    assert plan.gap(task) <= plan.certificate.bound


def test_what_cannot_be_planned_for_is_refused() -> None:
    task = tiny_task(0)
    dataset, reward = explore(task, num_episodes=50), TrajectoryReward(lambda trajectory: 0.5, 1.0)
    plan = plan_from(dataset, task.machine)
    refused = (
        (lambda: plan_from(dataset, lambda trajectory: 0.0), "RewardMachine or a TrajectoryReward"),  # type: ignore[arg-type]
        (lambda: plan_from(dataset, reward, discount=0.8), r"discount=0\.8 is for machines"),
        (lambda: plan_from(dataset, reward, simulations=0), "simulations=0"),
        (lambda: plan_from(dataset, TrajectoryReward(lambda trajectory: 7.0, 1.0)), "declared"),
        (lambda: plan_from(dataset, task.machine, discount=1.5), "expected a number above 0 and at most 1"),
        *(
            (lambda p=prob: plan_from(dataset, task.machine, failure_prob=p), "failure_prob")
            for prob in (0.0, 1.0, math.nan)
        ),
        *((lambda h=steps: plan_from(dataset, task.machine, horizon=h), "horizon") for steps in (0, 2.5, True)),
        (lambda: plan.likely(draws=0), "draws=0"),
        (lambda: plan.likely(draws=18), "needs 19 at least"),
        (lambda: plan.likely(level=1.0), "level=1.0"),
        (lambda: plan.likely(seed=-1), "seed=-1"),
    )
    for make, message in refused:
        with pytest.raises(PraemiaError, match=message):
            make()


@settings(max_examples=30)
@given(task=tasks(), episodes=st.integers(1, 300), method=st.sampled_from(["euler", "uncertainty"]))
def test_any_task_can_be_explored_and_its_own_machine_planned_for(task: Task, episodes: int, method: str) -> None:
    dataset = explore(task, num_episodes=episodes, **by(method, 3), seed=episodes)
    read = task.machine.reads
    if read and not read & dataset.labelling.propositions():
        with pytest.raises(ModelError, match="never produce any of it"):
            plan_from(dataset, task.machine)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PraemiaWarning)  # of propositions that were never seen
        plan = plan_from(dataset, task.machine)
    certificate = plan.certificate
    assert plan.gap(task) <= certificate.bound + 1e-9
    assert 0.0 <= certificate.bound <= certificate.largest + 1e-12
    assert certificate.pessimistic <= evaluate(task, plan.policy).value + 1e-9
    assert solve(task).value <= certificate.optimistic + 1e-9
    assert evaluate(task, plan.policy).value <= certificate.largest + 1e-9
