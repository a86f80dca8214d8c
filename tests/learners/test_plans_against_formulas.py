"""Every learner's plan against a plain transcription of its formulas, on random tasks and random counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import log, sqrt
from typing import Any

import learner_oracles as oracles
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from learner_oracles import Diary, Values
from pasts import Past, assert_same, assert_same_action_values, pasts, plan
from scipy.optimize import linprog
from scipy.stats import chisquare
from strategies import full_task
from strategies import unit_tasks as tasks

from praemia import envs, learners
from praemia._support.arithmetic import log_of_subsets
from praemia.kernels.confidence_sets import bernstein_interval, l1_radius
from praemia.machines.builder import MachineBuilder
from praemia.machines.labels import LabelRule
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.task import Task

SCALES = st.sampled_from([0.0, 0.001, 0.03, 0.3, 1.0])
SEEDS = st.integers(0, 2**32)
PUBLISHED = "ucrl2-rm-b as published"
MONOTONE = ("ucbvi-prm", "ucbvi", "ucbvi-bf")  # and they keep their Q, so that it can be compared
LEARNERS = (*MONOTONE, "eqo", "mvp", "euler", "ucrl2-rm-l", "ucrl2-rm-b", PUBLISHED, "qr-max")
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


def eqo(
    task: Task, diary: Diary, num_episodes: int, scale: float, previous: Values | None = None
) -> tuple[Values, Values]:
    """Return Q and V with the bonus c/n; they may rise."""
    pairs, H, T = task.num_observations * task.num_actions, task.horizon, num_episodes * task.horizon
    ell = log(12 * pairs * T / 0.05)
    lam = min(1, 5 * sqrt(pairs * ell * log(max(T, 2)) / num_episodes))
    return value_iteration(task, diary, lambda h, n, var, p, r: scale * 7 * H * ell / lam / n, lambda h: float(H))


def mvp(
    task: Task, diary: Diary, num_episodes: int, scale: float, previous: Values | None = None
) -> tuple[Values, Values]:
    """Return Q and V with MVP's constants; they may rise."""
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


BONUSES = {"ucbvi-prm": oracles.ucbvi_prm, "ucbvi": oracles.ucbvi, "ucbvi-bf": ucbvi_bf, "eqo": eqo, "mvp": mvp}


def make(name: str, scale: float, known_after: int = 3) -> Any:
    if name == "qr-max":
        return learners.make(name, known_after=known_after)
    return learners.make(name.split()[0], bonus_scale=scale, **({"as_published": True} if name == PUBLISHED else {}))


def formula(learner: Any, past: Past, made: Any, previous: Values | None = None) -> tuple[Values, Values]:
    """Return Q and V of a learner's plan, by its formulas."""
    task, diary, num_episodes = past.task, past.diary, past.shown.num_episodes
    if learner.name == "qr-max":
        return r_max(task, diary, learner.known_after)
    if learner.name == "euler":
        return oracles.euler(task, diary, num_episodes, learner.bonus_scale, made.policy)
    if learner.name in BONUSES:
        return BONUSES[learner.name](task, diary, num_episodes, learner.bonus_scale, previous=previous)
    published = {} if learner.is_ball else {"as_published": learner.as_published}
    return oracles.ucrl2(task, diary, learner.bonus_scale, "l1" if learner.is_ball else "bernstein", **published)


def assert_by_formula(learner: Any, past: Past, before: Any = None, previous: Values | None = None) -> Any:
    """Compare a plan with the formulas; return it, and Q and V."""
    made = plan(learner, past, before)
    qval, values = formula(learner, past, made, previous)
    assert_same(past.task, made, qval, values)
    if learner.name in MONOTONE:
        assert_same_action_values(past, made, qval, learner.sees == "product")
    return made, qval, values


@pytest.mark.parametrize("name", LEARNERS)
@settings(max_examples=20)
@given(
    task=tasks(),
    seed=SEEDS,
    scale=SCALES,
    known_after=st.integers(1, 6),
    length=st.integers(0, 12),
    factor=st.sampled_from([1, 1000]),
)
def test_plans_are_those_of_the_formulas(
    name: str, task: Task, seed: int, scale: float, known_after: int, length: int, factor: int
) -> None:
    learner = make(name, scale, known_after)
    assert_by_formula(learner, pasts(task, learner, seed, [length])[0].times(factor))


@pytest.mark.parametrize("num_states", [3, 9, 21])
@pytest.mark.parametrize("name", LEARNERS)
def test_plans_for_a_task_in_which_everything_matters_are_those_of_the_formulas(name: str, num_states: int) -> None:
    """With machine states for one vector, for two and for three; some pairs are visited often, some never."""
    for scale, length in ((0.0, 12), (0.02, 12), (0.02, 2)):
        learner = make(name, scale)
        assert_by_formula(learner, pasts(full_task(num_states), learner, 7, [length])[0])


@pytest.mark.parametrize("name", MONOTONE)
def test_plans_never_rise_above_the_plans_before(name: str) -> None:
    would_rise = 0
    for seed in range(10):
        task, learner = envs.make(f"random-3x2x2-{seed}", horizon=3), make(name, 0.001 * (seed % 2))
        made, qval = None, None
        for past in pasts(task, learner, seed, [10, 20, 40]):
            before, alone = made, plan(learner, past)
            made, qval, _ = assert_by_formula(learner, past, before, qval)
            if before is not None:
                assert np.all(made.values <= before.values)
                would_rise += np.any(alone.values > before.values)
    assert would_rise >= 3  # else nothing was tested


@pytest.mark.parametrize("name", MONOTONE)
@settings(max_examples=15)
@given(task=tasks(), seed=SEEDS, factor=st.sampled_from([10**6, 10**7, 10**8]), horizon=st.integers(1, 2))
def test_plans_are_those_of_the_formulas_after_very_many_episodes(
    name: str, task: Task, seed: int, factor: int, horizon: int
) -> None:
    learner = make(name, 1.0)
    assert_by_formula(learner, pasts(task.with_horizon(horizon), learner, seed, [9])[0].times(factor))


@pytest.mark.parametrize("name", ["ucbvi-prm", "ucbvi"])
def test_the_term_in_n_prime_makes_a_difference_after_very_many_episodes(name: str) -> None:
    learner, task = make(name, 1.0), envs.make("random", observations=2, actions=1, machine_states=2, horizon=2, seed=0)
    past = pasts(task, learner, 0, [15])[0].times(10**8)
    made, _, values = assert_by_formula(learner, past)
    past.diary.steps.clear()
    past.diary.product_steps.clear()
    _, without = formula(learner, past, made)
    assert without[0, 0, 0] - values[0, 0, 0] > 1e-5


successor_counts = st.integers(2, 7).flatmap(
    lambda size: st.lists(st.integers(0, 9), min_size=size, max_size=size).filter(any)
)


def linear_programme(worth: np.ndarray, **constraints: Any) -> float:
    """Return the largest Σ p·worth over distributions p under linear constraints."""
    size = len(worth)
    objective = np.concatenate((-worth, np.zeros(len(constraints["bounds"]) - size)))
    total = np.concatenate((np.ones(size), np.zeros(len(constraints["bounds"]) - size)))
    precise = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    found = linprog(objective, A_eq=total[None], b_eq=[1.0], options=precise, **constraints)
    assert found.success
    return -found.fun


def promise(learner: Any, counts: list[int], worth: np.ndarray) -> float:
    """Return what a learner promises for one step from a pair that was followed by each o' so often.

    Reaching o' pays worth[o']; the machine has one state.
    """
    size = len(worth)
    labels = [LabelRule(frozenset({f"p{z}"}), None, None, z) for z in range(size)]
    builder = MachineBuilder("q")
    for z in range(size):
        only = " & ".join(f"{'' if other == z else '!'}p{other}" for other in range(size))
        builder.edge("q", only, "q", reward=float(worth[z]))
    task = Task(LabeledMDP.from_dense(np.full((size, 1, size), 1 / size), labels, start=0), builder.build(), 1)
    (past,) = pasts(task, learner, 0, [80])
    known = past.shown._counts
    transitions, visits = known.transitions.copy(), known.visits.copy()
    own = np.flatnonzero((transitions["pair"] == 0) & (transitions["count"] > 0))
    assert len(own) == size
    transitions["count"][own], visits[0] = np.array(counts)[transitions["target"][own]], sum(counts)
    shown = replace(past.shown, _counts=known._replace(transitions=transitions, visits=visits))
    return task.machine.reward_range.span * float(plan(learner, replace(past, shown=shown)).values[0, 0])


@settings(max_examples=40)
@given(counts=successor_counts, factor=st.sampled_from([1, 30, 10**4]), scale=SCALES, seed=SEEDS)
def test_the_best_kernel_in_an_l1_ball_solves_the_linear_programme(
    counts: list[int], factor: int, scale: float, seed: int
) -> None:
    size, n = len(counts), factor * sum(counts)
    worth = np.random.default_rng(seed).integers(0, 6, size) / 5
    found = promise(learners.make("ucrl2-rm-l", bonus_scale=scale), [factor * count for count in counts], worth)
    # Variables p, d with |p − p̂| ≤ d and Σ d ≤ radius.
    p_hat, radius = np.array(counts) / sum(counts), scale * oracles.l1_radius(n, size, 0.05 / (2 * size))
    eye = np.eye(size)
    matrix = np.block([[eye, -eye], [-eye, -eye], [np.zeros(size), np.ones(size)]])
    limits = np.concatenate((p_hat, -p_hat, [radius]))
    best = linear_programme(worth, A_ub=matrix, b_ub=limits, bounds=[(0, 1)] * size + [(0, None)] * size)
    assert found == pytest.approx(best, abs=1e-8)


@settings(max_examples=40)
@given(counts=successor_counts, factor=st.sampled_from([1, 30, 10**4]), scale=SCALES, seed=SEEDS)
def test_the_best_kernel_in_intervals_solves_the_linear_programme(
    counts: list[int], factor: int, scale: float, seed: int
) -> None:
    size, n = len(counts), factor * sum(counts)
    worth = np.random.default_rng(seed).integers(0, 6, size) / 5
    found = promise(learners.make("ucrl2-rm-b", bonus_scale=scale), [factor * count for count in counts], worth)
    ends = [oracles.bernstein_ends(count / sum(counts), n, 0.05 / (2 * size), scale) for count in counts]
    assert found == pytest.approx(linear_programme(worth, bounds=ends), abs=1e-8)


@given(
    p_hat=st.floats(0, 1) | st.sampled_from([0.0, 1.0]),
    visits=st.integers(1, 10**9),
    level=st.floats(1e-6, 0.5),
    scale=st.floats(0, 3),
)
def test_bernstein_ends_are_where_the_inequality_stops_to_hold(
    p_hat: float, visits: int, level: float, scale: float
) -> None:
    lower, upper = bernstein_interval(p_hat, float(visits), level, scale)
    expected = oracles.bernstein_ends(p_hat, visits, level, scale)
    assert (lower, upper) == pytest.approx(expected, abs=1e-11)


@given(visits=st.integers(1, 10**9), num_observations=st.integers(1, 900), level=st.floats(1e-6, 0.5))
def test_the_l1_radius_is_that_of_the_formula(visits: int, num_observations: int, level: float) -> None:
    radius = l1_radius(float(visits), log_of_subsets(num_observations), level)
    assert radius == pytest.approx(oracles.l1_radius(visits, num_observations, level), rel=1e-12)


def test_the_l1_radius_is_finite_for_very_many_observations() -> None:
    small, large = (l1_radius(10.0, log_of_subsets(size), 0.01) for size in (900, 90_000))
    assert large == pytest.approx(10 * small, rel=0.01)


@pytest.mark.parametrize("name", ["ucbvi-prm", "ucbvi", "ucrl2-rm-l", "ucrl2-rm-b", "euler"])
@pytest.mark.parametrize("num_actions", [2, 3, 5])
def test_equal_best_actions_are_drawn_uniformly(name: str, num_actions: int) -> None:
    """χ² over 600 plans at an observation where all bonuses are at their cap; error level 0.001 per case.

    UCRL2-RM has no cap; all actions are worth the same to it before anything is seen.
    """
    task = envs.make("random", observations=3, actions=num_actions, machine_states=2, horizon=2, seed=1)
    learner = learners.make(name, bonus_scale=1.0)
    (past,) = pasts(task, learner, 3, [0 if name.startswith("ucrl2") else 4])
    drawn = np.array(
        [learner.plan(past.shown, None, np.random.default_rng(seed)).policy[0].ravel()[0] for seed in range(600)]
    )
    assert chisquare(np.bincount(drawn, minlength=num_actions)).pvalue > 0.001
