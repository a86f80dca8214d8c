"""Parts of exploration against numbers worked out by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from helpers_exploration import random_kernel, tiny_task

from praemia.exploration import CoverageReward, Dataset, explore
from praemia.exploration.counts import Counted
from praemia.exploration.coverage import simulation_bound
from praemia.exploration.planners import GreedyPlanner
from praemia.exploration.sessions import Environment, FixedPolicy, play_given, uniform_at
from praemia.exploration.trajectories import Histories
from praemia.machines.builder import MachineBuilder
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.task import Task


@pytest.fixture(scope="module")
def two_starts() -> Dataset:
    """Return data of a task whose episodes begin in the first observation once in four times, else in the last."""
    task = tiny_task(3)
    mdp = LabeledMDP.from_dense(task.mdp.to_dense(), task.mdp.labelling, start={0: 0.25, 2: 0.75})
    return explore(Task(mdp, task.machine, 3), episodes=400, policy_episodes=5)


def test_the_estimate_starts_where_the_episodes_did(two_starts: Dataset) -> None:
    """400 episodes: the share has the deviation 0.022; error level 1e-5."""
    share = two_starts.first_counts[0] / 400
    assert share == pytest.approx(0.25, abs=0.1)
    assert two_starts.start_probs.tolist() == [share, 0.0, 1.0 - share]
    machine = MachineBuilder("q").edge("q", "goal", "q", reward=1).build()
    assert two_starts.model(machine).start_probs.tolist() == [share, 0.0, 1.0 - share]


def test_merged_reachability_is_the_mean_over_all_episodes(two_starts: Dataset) -> None:
    part = replace(two_starts, reachability=np.array([1.0, 2.0, 0.0]))
    own = {"first_counts": np.array([100, 0, 0]), "reachability": np.array([2.0, 0.0, 1.0])}
    other = replace(part, sources=({"task": "task", "seed": [1]},), **own)  # type: ignore[arg-type]
    assert part.merge(other).reachability.tolist() == pytest.approx([1.2, 1.6, 0.2])


def test_a_policy_acts_uniformly_at_its_target_at_every_step() -> None:
    weights = uniform_at(np.array([[[1, 0, 1]], [[0, 0, 1]]], dtype=np.int8), 2, 2)
    assert weights[:, 0, 2].tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert weights[:, 0, :2].tolist() == [[[0.0, 1.0], [1.0, 0.0]], [[1.0, 0.0], [1.0, 0.0]]]


def test_each_policy_is_played_for_the_episodes_that_it_is_given() -> None:
    task = tiny_task(0)
    environment = Environment(task)
    world = environment.world(None, FixedPolicy(), 50, (1,))
    for action, episodes in ((0, 20), (1, 30)):
        weights = np.zeros((3, 1, 3, 2))
        weights[..., action] = 1.0
        play_given(world, weights, episodes, lambda played: None)
    counted = Counted.of(world)
    assert np.bincount(counted.pairs % 2, counted.counts).tolist() == [20 * 3, 30 * 3]


@pytest.mark.parametrize("seed", range(3))
def test_the_bound_of_lemma_two_is_its_formula(seed: int) -> None:
    """With actions that depend on the step alone, where an episode is follows from the start by products of p."""
    task, rng = tiny_task(seed, horizon=4), np.random.default_rng(seed)
    dense, other = task.mdp.to_dense(), random_kernel(rng, 3, 2, 3)
    actions = rng.integers(2, size=4)
    place, expected = task.mdp.start_probs.copy(), 0.0
    for a in actions:
        expected += 2.5 * float(place @ np.abs(dense[:, a] - other[:, a]).sum(axis=1))
        place = place @ dense[:, a]
    policy = np.tile(actions[:, None, None], (1, task.num_machine_states, 3))
    assert simulation_bound(task, LabeledMDP.from_dense(other), policy, 2.5) == pytest.approx(expected, abs=1e-12)


def corridor(size: int, horizon: int) -> Histories:
    """Return a corridor in which action 1 goes right for sure, and action 0 stays."""
    kernel = np.zeros((size, 2, size))
    for o in range(size):
        kernel[o, 0, o] = kernel[o, 1, min(o + 1, size - 1)] = 1.0
    return Histories(LabeledMDP.from_dense(kernel, start=0), horizon)


def test_the_greedy_planner_covers_a_corridor_as_far_as_it_can() -> None:
    reward = CoverageReward([1.0, 2.0, 4.0, 8.0, 16.0])
    for horizon, expected in ((1, 3.0), (3, 15.0), (4, 31.0), (6, 31.0)):
        policy, alpha = GreedyPlanner().plan(corridor(5, horizon), reward)
        assert corridor(5, horizon).value(policy, reward).value == expected
        assert alpha == pytest.approx(0.0, abs=1e-12)


def test_the_greedy_planner_knows_which_step_it_is_at() -> None:
    """From 0 a prize of 2 is one step away, one of 3 two steps; after either there is nothing."""
    kernel = np.zeros((5, 2, 5))
    kernel[0, 0, 1] = kernel[0, 1, 2] = kernel[2, :, 3] = 1.0
    kernel[[1, 3, 4], :, 4] = 1.0
    mdp = LabeledMDP.from_dense(kernel, start=0)
    reward = CoverageReward([0.0, 2.0, 0.0, 3.0, 0.0])
    for horizon, expected in ((1, 2.0), (2, 3.0)):
        policy, _ = GreedyPlanner().plan(Histories(mdp, horizon), reward)
        assert Histories(mdp, horizon).value(policy, reward).value == expected


def test_the_interval_of_a_sampled_value_is_hoeffdings() -> None:
    """Met with probability 1/2 each, two observations of weight 1 are worth 1.5 on average, far from both ends."""
    kernel = np.full((2, 1, 2), 0.5)
    histories, reward = Histories(LabeledMDP.from_dense(kernel, start=0), 1), CoverageReward([1.0, 1.0])
    policy, _ = GreedyPlanner().plan(histories, reward)
    found = histories.value(policy, reward, max_histories=0, samples=5_000, failure_prob=0.1)
    half = 2.0 * math.sqrt(math.log(2.0 / 0.1) / (2.0 * 5_000))
    assert not found.exact
    assert (found.value - found.low, found.high - found.value) == (pytest.approx(half), pytest.approx(half))
    assert abs(found.value - 1.5) < half
