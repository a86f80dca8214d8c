"""The likely loss against a plain oracle, closed forms and its own promise: calibrated under the prior."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import oracles
import pytest
from helpers_exploration import Corridor
from scipy import stats

from praemia.envs import random_task
from praemia.envs.black_box import BlackBox
from praemia.exploration import Dataset, explore, plan_from
from praemia.exploration.estimate import Estimate
from praemia.exploration.likely_loss import LikelyLoss, Posterior, likely_loss
from praemia.kernels.records import NUM_EXITS
from praemia.machines.builder import MachineBuilder
from praemia.machines.labels import LabelRule
from praemia.machines.machine import RewardMachine
from praemia.planning.exact import evaluate, solve
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.task import Task

ERROR = 1e-4  # of each statistical test here: the seeds are fixed


def last_kernel(posterior: Posterior) -> np.ndarray:
    """Return the kernel of the last draw, dense [O, A, O]."""
    edges, size = posterior.model.arrays, posterior.model.num_observations
    dense = np.zeros((len(edges.indptr) - 1, size))
    targets = np.concatenate((np.arange(size + NUM_EXITS), edges.extra_rows["target"]))
    for pair, (first, last) in enumerate(pairwise(edges.indptr.tolist())):
        for e in range(first, last):
            dense[pair, targets[edges.rows[e]]] += edges.probs[e]
    return dense.reshape(size, -1, size)


def plain_losses(task: Task, dataset: Dataset, policy: Any, draws: int, seed: int) -> list[float]:
    """Draw kernels with NumPy's own Dirichlet and solve the explicit product of each."""
    rng = np.random.default_rng(seed)
    size, num_actions = task.num_observations, task.num_actions
    counts = np.zeros((size * num_actions, size))
    counts[dataset.pairs, dataset.successors] = dataset.counts
    losses = []
    for _ in range(draws):
        kernel = np.array([rng.dirichlet(row + 1.0 / size) for row in counts]).reshape(size, num_actions, size)
        start = rng.dirichlet(dataset.first_counts + 1.0 / size)
        drawn = Task(LabeledMDP.from_dense(kernel, task.mdp.labelling.rules), task.machine, task.horizon)
        first = task.machine.index[task.machine.initial]
        best, own = oracles.solve(drawn)[0], oracles.evaluate(drawn, policy)[0]
        losses.append(sum(start[o] * (best[first, o] - own[first, o]) for o in range(size)))
    return losses


@pytest.mark.parametrize("size", [4, 20])  # a Gamma variable for each observation, and sticks
def test_values_in_a_draw_are_those_of_its_explicit_product(size: int) -> None:
    task = random_task(size, 2, 3, horizon=4, seed=3)
    dataset = explore(task, num_episodes=30)
    policy = plan_from(dataset, task.machine).policy
    posterior = Posterior(Estimate.of(dataset, task.machine), 0)
    first = task.machine.index[task.machine.initial]
    for _ in range(3):
        model = posterior.draw()
        kernel = last_kernel(posterior)
        np.testing.assert_allclose(kernel.sum(axis=2), 1.0)
        drawn = Task(LabeledMDP.from_dense(kernel, task.mdp.labelling.rules), task.machine, task.horizon)
        best, own = solve(model), evaluate(model, policy)
        for values, table in (
            (best.values, oracles.solve(drawn)[0]),
            (own.values, oracles.evaluate(drawn, policy)[0]),
            (best.values, oracles.evaluate(drawn, best.policy)[0]),
        ):
            expected = [table[first, o] for o in range(size)]
            np.testing.assert_allclose(values[0, first], expected, atol=1e-9)
        assert best.value == pytest.approx(float(model.start_probs @ best.values[0, first]), rel=1e-12)


@pytest.mark.parametrize(("size", "episodes", "draws"), [(4, 10, 150), (20, 40, 30)])
def test_losses_are_distributed_as_a_plain_oracle_draws_them(size: int, episodes: int, draws: int) -> None:
    task = random_task(size, 2, 2, horizon=3, seed=1)
    dataset = explore(task, num_episodes=episodes)
    plan = plan_from(dataset, task.machine)
    found = plan.likely(draws=2_000)
    assert found is not None
    expected = plain_losses(task, dataset, plan.policy, draws, seed=1)
    assert stats.ks_2samp(found.losses, expected).pvalue > ERROR


@pytest.mark.parametrize("size", [4, 20])
def test_draws_have_the_moments_of_the_posterior(size: int) -> None:
    task = random_task(size, 2, 2, horizon=3, seed=5)
    dataset = explore(task, num_episodes=6)
    assert (dataset.visits == 0).any()
    posterior = Posterior(Estimate.of(dataset, task.machine), 0)
    kernels = []
    for _ in range(2_000):
        posterior.draw()
        kernels.append(last_kernel(posterior).reshape(-1, size))
    weights = np.full((task.mdp.num_pairs, size), 1.0 / size)
    weights[dataset.pairs, dataset.successors] += dataset.counts
    total = weights.sum(axis=1, keepdims=True)
    mean = weights / total
    variance = mean * (1.0 - mean) / (total + 1.0)
    z = (np.mean(kernels, axis=0) - mean) / np.sqrt(variance / len(kernels))
    assert np.abs(z).max() < stats.norm.isf(ERROR / z.size / 2)
    found = np.var(kernels, axis=0).sum(axis=1) / variance.sum(axis=1)
    np.testing.assert_allclose(found, 1.0, atol=0.15)  # more than five standard errors for rows from the prior alone


def test_it_is_calibrated_when_the_truth_comes_from_the_prior() -> None:
    """Among 9 draws the rank of the true loss is uniform, equals ordered by lot: Talts et al. 2018."""
    size, draws, rng, ranks = 4, 9, np.random.default_rng(0), []
    rules = [LabelRule("goal", target=3)]
    machine = MachineBuilder("a").edge("a", "goal", "b", reward=1).edge("b", "!goal", "a", reward=0.3).build()
    for seed in range(200):
        kernel = rng.dirichlet(np.full(size, 1.0 / size), (size, 2))
        start = rng.dirichlet(np.full(size, 1.0 / size))
        task = Task(LabeledMDP.from_dense(kernel, rules, start), machine, 3)
        data = explore(task, num_episodes=1 + seed % 20, seed=seed)
        policy = solve(Estimate.of(data, machine).model).policy
        found = likely_loss(Estimate.of(data, machine), policy, draws=draws, level=0.5, seed=seed)
        loss = solve(task).value - evaluate(task, policy).value
        below, equal = int(np.sum(found.losses < loss - 1e-9)), int(np.sum(np.abs(found.losses - loss) <= 1e-9))
        ranks.append(below + int(rng.integers(equal + 1)))
    assert stats.chisquare(np.bincount(ranks, minlength=draws + 1)).pvalue > ERROR


def test_one_seed_one_answer() -> None:
    task = random_task(6, 2, 2, horizon=4, seed=0)
    data = explore(task, num_episodes=20)
    plans = [plan_from(data, task.machine) for _ in range(2)]
    assert plans[0].likely_loss == plans[1].likely_loss == plans[0].likely(seed=0).loss  # type: ignore[union-attr]
    other = plans[0].likely(seed=1)
    assert other is not None
    assert other.seed == 1
    assert not np.array_equal(other.losses, plans[0].likely().losses)  # type: ignore[union-attr]


@pytest.mark.parametrize(("draws", "level"), [(200, 0.95), (99, 0.8), (1_000, 0.5)])
def test_quantiles_are_order_statistics_with_an_interval_that_holds(draws: int, level: float) -> None:
    found = LikelyLoss(np.arange(1.0, draws + 1.0), level, 0, False)
    assert found.loss == math.ceil(round(level * (draws + 1), 6))
    low, high = found.monte_carlo

    def at_most(k: int) -> float:
        return math.fsum(math.comb(draws, i) * level**i * (1 - level) ** (draws - i) for i in range(k + 1))

    # The quantile lies in [x_(low), x_(high)] if at least low and fewer than high draws fall below it.
    assert at_most(int(high) - 1) - at_most(int(low) - 1) >= 0.95
    # One rank less at either end would not do, or only just: the interval is no wider than it must be.
    assert at_most(int(high) - 2) - at_most(int(low)) < 0.95


def test_few_draws_leave_the_error_open() -> None:
    low, high = LikelyLoss(np.arange(19.0), 0.95, 0, False).monte_carlo
    assert low > 0.0
    assert high == math.inf


def corridor_data() -> tuple[Dataset, RewardMachine]:
    machine = MachineBuilder("a").edge("a", "goal", "b", reward=1).build()
    box = BlackBox(Corridor(3), lambda o, a, z, info: {"goal"} if z == 2 else set(), machine, 5)
    return explore(box, num_episodes=40), machine


def test_labels_never_seen_are_drawn_from_those_of_the_data() -> None:
    data, machine = corridor_data()
    plan = plan_from(data, machine)
    found = plan.likely()
    assert found is not None
    assert found.labels_sampled
    assert "sampled from those of the data" in found.text()
    posterior = Posterior(Estimate.of(data, machine), 0)
    size = data.num_observations
    shares = np.zeros((data.visits.size, 2 * size))
    for _ in range(1_000):
        posterior.draw()
        shares += posterior._rows >= size + NUM_EXITS  # only goal does anything
    seen = np.zeros((data.visits.size, size), dtype=bool)
    seen[data.pairs, data.successors] = True
    seen = np.tile(seen, 2)  # with an end or without, the label is the same
    # Known ones never change: arriving at 2 is the goal.
    reached = np.broadcast_to(np.arange(2 * size) % size == 2, shares.shape)
    assert set(shares[seen & reached]) == {1_000.0}
    assert set(shares[seen & ~reached]) == {0.0}
    z = (shares[~seen] - 500.0) / math.sqrt(250.0)
    assert np.abs(z).max() < stats.norm.isf(ERROR / z.size / 2)
