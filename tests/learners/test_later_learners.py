"""The later learners, lifted to machines: what each one promises."""

from __future__ import annotations

import learner_oracles as oracles
import numpy as np
import pytest
from pasts import CLOSE, pasts, plan
from scipy.stats import kstest

from praemia import envs, learners, simulate, solve
from praemia.errors import ParameterError

LATER = ("eqo", "ucbvi-bf", "mvp", "opsrl", "qr-max")


def test_qr_max_is_exact_once_everything_is_known() -> None:
    task = envs.make("random-4x2x3-2", horizon=5)
    learner = learners.make("qr-max")
    made = plan(learner, pasts(task, learner, 1, [400])[0].times(100).told_the_truth())
    np.testing.assert_allclose(made.values, solve(task).values[0], rtol=0.0, atol=CLOSE)


def test_qr_max_keeps_its_plan_until_a_pair_becomes_known() -> None:
    for replan, most in (("known", 9), ("known-at-once", 1)):
        watched = oracles.Watched(learners.make("qr-max", known_after=7, replan=replan))
        run = simulate(envs.make("warehouse-3"), watched, 300, 0)
        known = [int((shown.visits >= 7).sum()) for shown in watched.shown]
        became = np.diff(known)
        assert len(became) > 10
        assert 1 <= became.min() <= became.max() <= most  # of the nine steps of an episode
        assert run.is_pathwise == (most == 1)


@pytest.mark.parametrize(("name", "parameters"), [("psrl", {}), ("opsrl", {"num_samples": 1})])
def test_posterior_samples_solve_the_true_task_when_everything_is_known(name: str, parameters: dict[str, int]) -> None:
    task, learner = envs.make("random-4x2x3-2", horizon=5), learners.make(name, **parameters)
    made = plan(learner, pasts(task, learner, 1, [400])[0].times(10**6).told_the_truth())
    # With 10⁶ and more visits to a pair a sampled probability is off by less than 10⁻³.
    np.testing.assert_allclose(made.values, solve(task).values[0], atol=task.horizon**2 * 1e-3)


@pytest.mark.parametrize(("prior", "draws"), [(0.3, 1), (1.0, 4), (2.5, 8)])
def test_opsrl_is_the_best_of_draws_from_the_posterior(prior: float, draws: int) -> None:
    """Kolmogorov–Smirnov over 2,000 plans for one step and one action, at an error level of 0.001 per case."""
    task = envs.make("random", observations=3, actions=1, machine_states=2, horizon=1, seed=3)
    learner = learners.make("opsrl", prior_visits=prior, num_samples=draws)
    (past,) = pasts(task, learner, 0, [12])
    seen = past.shown.transitions
    o = int(seen.observations[0])
    here = seen.observations == o
    found = [learner.plan(past.shown, None, np.random.default_rng(k)).values[0, o] for k in range(2000)]
    worth = np.append(1.0, task.table.mean_rewards[seen.labels[here], 0])
    weights = np.random.default_rng(1).dirichlet(np.append(prior, seen.counts[here]), size=(20_000, draws))
    assert kstest(found, (weights @ worth).max(axis=1)).pvalue > 0.001


def test_more_samples_make_opsrl_more_optimistic_than_the_posterior_mean() -> None:
    promised = {1: 0.0, 40: 0.0}
    for seed in range(20):
        task = envs.make(f"random-5x2x3-{seed}", horizon=6)
        (past,) = pasts(task, learners.make("opsrl"), seed, [20])
        mean = plan(learners.make("qr-max", known_after=1), past).values
        drawn = {size: plan(learners.make("opsrl", num_samples=size), past).values for size in promised}
        assert np.all(drawn[40] >= mean)
        promised = {size: total + drawn[size].mean() for size, total in promised.items()}
    assert promised[40] > promised[1]


def test_nothing_seen_is_worth_the_most() -> None:
    task, learner = envs.make("warehouse-3"), learners.make("opsrl")
    assert np.all(plan(learner, *pasts(task, learner, 0, [0])).values == task.horizon)


def test_eqo_is_quasi_optimistic() -> None:
    """Its values may fall below the optimum, by a small part of H at the most."""
    learner = learners.make("eqo", bonus_scale=0.01)
    for seed in range(60):
        task = envs.make(f"random-{2 + seed % 4}x{1 + seed % 3}x{1 + seed % 4}-{seed}", horizon=1 + seed % 5)
        run = simulate(task, learner, 2000, (99, seed))
        assert np.all(run.optimistic_values >= run.optimal_value - 0.1 * task.horizon), task


@pytest.mark.parametrize("name", LATER)
def test_every_one_learns_the_warehouse(name: str) -> None:
    """Learning nothing costs the optimum less almost nothing in every episode."""
    task = envs.make("warehouse-3")
    learned, random = (simulate(task, learners.make(which), 3000, 5).regret[-1] for which in (name, "random"))
    assert learned < random / 5


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("opsrl", {"num_samples": 0}), ("opsrl", {"num_samples": 2.7}), ("qr-max", {"known_after": 0})],
)
def test_parameters_out_of_range_are_refused(name: str, parameters: dict[str, float]) -> None:
    with pytest.raises(ParameterError, match=next(iter(parameters))):
        learners.make(name, **parameters)
