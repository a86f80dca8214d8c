"""The later learners, lifted to machines: their plans against plain transcriptions, and what each one promises."""

from __future__ import annotations

from collections.abc import Callable
from math import log, sqrt

import learner_oracles as oracles
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from learner_oracles import Diary, Values
from pasts import CLOSE, assert_same, assert_same_action_values, pasts, plan
from scipy.stats import kstest
from strategies import unit_tasks as tasks

from praemia import envs, learners, simulate, solve
from praemia.errors import ParameterError
from praemia.tasks.task import Task

LATER = ("eqo", "ucbvi-bf", "mvp", "opsrl", "qr-max")
SCALES = st.sampled_from([0.0, 0.001, 0.03, 0.3, 1.0])
SEEDS = st.integers(0, 2**32)
Bonus = Callable[[int, int, float, dict[int, float], int], float]  # of h, n, Var(Y), p̂, and the range H − h


def value_iteration(
    task: Task, diary: Diary, bonus: Bonus, cap: Callable[[int], float], previous: Values | None = None, known: int = 1
) -> tuple[Values, Values]:
    """Return Q and V of min(previous, cap, Σ p̂(φ + W) + bonus); with fewer than ``known`` visits, the cap."""
    model = oracles._Model(task)

    def action_value(values: Values, h: int, m: int, o: int, a: int) -> float:
        row = {z: count for (z,), count in oracles._row(diary.transitions, (o, a)).items()}
        n = sum(row.values())
        if n < known:
            return cap(h)
        p_hat = {z: count / n for z, count in row.items()}
        worth = {z: model.phi(m, o, a, z) + model.w(values, h + 1, m, o, a, z) for z in row}
        found = sum(p_hat[z] * worth[z] for z in row) + bonus(h, n, oracles._variance(p_hat, worth), p_hat, model.H - h)
        return min(found, cap(h), previous[h, m, o, a] if previous else cap(h))

    return model.backward(action_value)


def eqo(task: Task, diary: Diary, num_episodes: int, scale: float) -> tuple[Values, Values]:
    """Return Q and V with the bonus c/n."""
    pairs, H, T = task.num_observations * task.num_actions, task.horizon, num_episodes * task.horizon
    ell = log(12 * pairs * T / 0.05)
    lam = min(1, 5 * sqrt(pairs * ell * log(max(T, 2)) / num_episodes))
    return value_iteration(task, diary, lambda h, n, var, p, r: scale * 7 * H * ell / lam / n, lambda h: float(H))


def mvp(task: Task, diary: Diary, num_episodes: int, scale: float) -> tuple[Values, Values]:
    """Return Q and V with MVP's constants."""
    H = task.horizon
    ell = log(200 * task.num_observations * task.num_actions * H**2 * num_episodes**2 / 0.05)

    def bonus(h: int, n: int, var: float, p_hat: dict[int, float], left: int) -> float:
        return scale * (460 / 9 * sqrt(var * ell / n) + 544 / 9 * H * ell / n)

    return value_iteration(task, diary, bonus, lambda h: float(H))


def ucbvi_bf(
    task: Task, diary: Diary, num_episodes: int, scale: float, previous: Values | None = None
) -> tuple[Values, Values]:
    """Return Q and V with the refined Bernstein–Freedman bonus."""
    size, A, H = task.num_observations, task.num_actions, task.horizon
    L = log(5 * size * A * num_episodes * H / 0.05)

    def bonus(h: int, n: int, var: float, p_hat: dict[int, float], left: int) -> float:
        later = {z: diary.steps[h + 1, z] for z in p_hat}
        most = {z: 84**2 * H**3 * size**2 * A * L**2 / later[z] if later[z] else left**2 for z in p_hat}
        error = sum(p_hat[z] * min(most[z], left**2) for z in p_hat)
        return scale * (sqrt(4 * L * var / n) + 7 * left * L / (3 * max(1, n - 1)) + sqrt(4 * error / n))

    return value_iteration(task, diary, bonus, lambda h: float(H - h), previous)


def r_max(task: Task, diary: Diary, known_after: int) -> tuple[Values, Values]:
    """Return Q and V of the known model, with the rest worth the most."""
    return value_iteration(
        task, diary, lambda h, n, var, p, r: 0.0, lambda h: float(task.horizon - h), known=known_after
    )


FORMULAS = {"eqo": eqo, "mvp": mvp, "ucbvi-bf": ucbvi_bf}


@pytest.mark.parametrize("name", FORMULAS)
@settings(max_examples=30)
@given(task=tasks(), seed=SEEDS, scale=SCALES, length=st.integers(0, 12), factor=st.sampled_from([1, 1000]))
def test_plans_are_those_of_the_formulas(
    name: str, task: Task, seed: int, scale: float, length: int, factor: int
) -> None:
    learner = learners.make(name, bonus_scale=scale)
    past = pasts(task, learner, seed, [length])[0].times(factor)
    made = plan(learner, past)
    assert_same(task, made, *FORMULAS[name](task, past.diary, past.shown.num_episodes, scale))


@settings(max_examples=20)
@given(task=tasks(), seed=SEEDS, scale=SCALES, lengths=st.lists(st.integers(0, 12), min_size=2, max_size=3))
def test_refined_ucbvi_never_rises_above_the_plan_before(
    task: Task, seed: int, scale: float, lengths: list[int]
) -> None:
    learner = learners.make("ucbvi-bf", bonus_scale=scale)
    made, qval = None, None
    for past in pasts(task, learner, seed, sorted(lengths)):
        made = plan(learner, past, made)
        qval, values = ucbvi_bf(task, past.diary, past.shown.num_episodes, scale, previous=qval)
        assert_same(task, made, qval, values)
        assert_same_action_values(past, made, qval, on_product=False)


@settings(max_examples=20)
@given(task=tasks(), seed=SEEDS, factor=st.sampled_from([10**6, 10**8]), horizon=st.integers(1, 2))
def test_refined_ucbvi_follows_its_formula_after_very_many_episodes(
    task: Task, seed: int, factor: int, horizon: int
) -> None:
    learner = learners.make("ucbvi-bf", bonus_scale=1.0)
    past = pasts(task.with_horizon(horizon), learner, seed, [9])[0].times(factor)
    made = plan(learner, past)
    assert_same(past.task, made, *ucbvi_bf(past.task, past.diary, past.shown.num_episodes, 1.0))


@settings(max_examples=40)
@given(task=tasks(), seed=SEEDS, length=st.integers(0, 12), known_after=st.integers(1, 6))
def test_qr_max_plans_in_the_known_model_and_believes_the_best_of_the_rest(
    task: Task, seed: int, length: int, known_after: int
) -> None:
    learner = learners.make("qr-max", known_after=known_after)
    (past,) = pasts(task, learner, seed, [length])
    made = plan(learner, past)
    assert_same(task, made, *r_max(task, past.diary, known_after))


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


def test_posterior_samples_of_opsrl_solve_the_true_task_when_everything_is_known() -> None:
    task = envs.make("random-4x2x3-2", horizon=5)
    learner = learners.make("opsrl", num_samples=1)
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
