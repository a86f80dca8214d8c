"""Every learner's plan against a plain transcription of its formulas, on random tasks and random counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import learner_oracles as oracles
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.stats import chisquare
from strategies import tasks

from praemia import envs, learners, simulate, solve
from praemia.kernels.ucrl2 import best_in_intervals, best_in_l1_ball
from praemia.learners.base import Experience, LearnerPlan
from praemia.learners.ucrl2_rm import bernstein_interval, l1_radius
from praemia.models.task import Task

SCALES = st.sampled_from([0.0, 0.001, 0.03, 0.3, 1.0])
SEEDS = st.integers(0, 2**32)
CLOSE = 1e-9


@dataclass
class Past:
    """A task, what a learner is shown of some random episodes, and the same counted by hand."""

    task: Task
    shown: Experience
    diary: oracles.Diary

    def times(self, factor: int) -> Past:
        """Return the past in which everything happened so many times."""
        seen = self.shown.seen
        more = seen._replace(visits=seen.visits * factor, counts=seen.counts * factor)
        steps = (self.shown.steps * factor).astype(np.int32)
        shown = replace(self.shown, seen=more, steps=steps, num_episodes=self.shown.num_episodes * factor)
        return Past(self.task, shown, self.diary.times(factor))


def pasts(task: Task, seed: int, lengths: list[int], on_product: bool = False) -> list[Past]:
    """Let a wanderer play and return the past after each of some numbers of episodes."""
    num_episodes = max(lengths) + 1
    wanderer = oracles.Watched(oracles.Wanderer(on_product=on_product))
    simulate(task, wanderer, num_episodes, seed)
    replay = partial(oracles.replay, task, wanderer.policies, "episode", (seed,))
    return [Past(task, wanderer.shown[k], replay(k)) for k in lengths]


def plan(learner: Any, past: Past, previous: LearnerPlan | None = None) -> LearnerPlan:
    return learner.plan(past.shown, previous, np.random.default_rng(0))


def assert_same(task: Task, made: LearnerPlan, qval: oracles.Values, values: oracles.Values) -> None:
    """Compare V_0, and see that the policy is greedy at every step."""
    shape = (task.num_observations, task.num_machine_states)
    first, policy = made.values.reshape(shape), made.policy.reshape(task.horizon, *shape)
    for o, m in np.ndindex(shape):
        assert first[o, m] == pytest.approx(values[0, m, o], abs=CLOSE)
        for h in range(task.horizon):
            assert qval[h, m, o, int(policy[h, o, m])] >= values[h, m, o] - CLOSE


def assert_same_action_values(past: Past, made: NDArray[np.float64], qval: oracles.Values, on_product: bool) -> None:
    """Compare Q_h of every visited pair with what was made, [H, V, W]."""
    task = past.task
    for (h, m, o, a), value in qval.items():
        state, column = (o * task.num_machine_states + m, 0) if on_product else (o, m)
        slot = past.shown.seen.slots[state * task.num_actions + a]
        if slot >= 0:
            assert made[h, slot, column] == pytest.approx(value, abs=CLOSE)


@pytest.mark.parametrize("name", ["ucbvi-prm", "ucbvi"])
@settings(max_examples=20)
@given(task=tasks(), seed=SEEDS, scale=SCALES, length=st.integers(0, 12))
def test_ucbvi_plans_are_those_of_the_formulas(name: str, task: Task, seed: int, scale: float, length: int) -> None:
    on_product, formula = name == "ucbvi", oracles.ucbvi if name == "ucbvi" else oracles.ucbvi_prm
    (past,) = pasts(task, seed, [length], on_product)
    made = plan(learners.make(name, bonus_scale=scale), past)
    qval, values = formula(task, past.diary, past.shown.num_episodes, scale)
    assert_same(task, made, qval, values)
    assert_same_action_values(past, made.memory[0], qval, on_product)


@pytest.mark.parametrize("name", ["ucbvi-prm", "ucbvi"])
@pytest.mark.parametrize("task_name", ["rooms-9", "warehouse-4", "random-30x3x5-0"])
def test_a_plan_that_reuses_work_is_the_full_plan_bit_for_bit(name: str, task_name: str) -> None:
    """Where no visits are remembered from the plan before, everything is computed anew."""
    learner = oracles.Watched(learners.make(name))
    simulate(envs.make(task_name), learner, 60, 3)
    reused = 0
    for before, shown in zip(learner.plans[1:], learner.shown[2:], strict=False):
        action_values, visits = before.memory
        forgetful = replace(before, memory=(action_values, np.zeros_like(visits)))
        made, full = (learner.plan(shown, previous, np.random.default_rng(0)) for previous in (before, forgetful))
        assert np.array_equal(made.policy, full.policy)
        assert np.array_equal(made.values, full.values)
        real = made.values.shape[1]  # columns beyond the machine states are nobody's
        assert np.array_equal(made.memory[0][..., :real], full.memory[0][..., :real])
        reused += np.mean(made.memory[0][:, : len(visits), :real] == action_values[..., :real]) > 0.5
    assert reused >= 10  # else hardly anything could be reused


@pytest.mark.parametrize("name", ["ucbvi-prm", "ucbvi"])
def test_ucbvi_plans_never_rise_above_the_plans_before(name: str) -> None:
    on_product, formula = name == "ucbvi", oracles.ucbvi if name == "ucbvi" else oracles.ucbvi_prm
    would_rise = 0
    for seed in range(10):
        task = envs.make(f"random-3x2x2-{seed}", horizon=3)
        learner = learners.make(name, bonus_scale=0.001 * (seed % 2))
        made, qval = None, None
        for past in pasts(task, seed, [10, 20, 40], on_product):
            before, made, alone = made, plan(learner, past, made), plan(learner, past)
            qval, values = formula(task, past.diary, past.shown.num_episodes, learner.bonus_scale, previous=qval)
            assert_same(task, made, qval, values)
            assert_same_action_values(past, made.memory[0], qval, on_product)
            if before is not None:
                assert np.all(made.values <= before.values)
                would_rise += np.any(alone.values > before.values)
    assert would_rise >= 3  # else nothing was tested


@pytest.mark.parametrize("name", ["ucbvi-prm", "ucbvi"])
@settings(max_examples=15)
@given(task=tasks(), seed=SEEDS, factor=st.sampled_from([10**6, 10**7, 10**8]), horizon=st.integers(1, 2))
def test_ucbvi_plans_are_those_of_the_formulas_after_very_many_episodes(
    name: str, task: Task, seed: int, factor: int, horizon: int
) -> None:
    on_product, formula = name == "ucbvi", oracles.ucbvi if name == "ucbvi" else oracles.ucbvi_prm
    past = pasts(task.with_horizon(horizon), seed, [9], on_product)[0].times(factor)
    made = plan(learners.make(name, bonus_scale=1.0), past)
    qval, values = formula(past.task, past.diary, past.shown.num_episodes, 1.0)
    assert_same(past.task, made, qval, values)
    assert_same_action_values(past, made.memory[0], qval, on_product)


@pytest.mark.parametrize("name", ["ucbvi-prm", "ucbvi"])
def test_the_term_in_n_prime_makes_a_difference_after_very_many_episodes(name: str) -> None:
    on_product, formula = name == "ucbvi", oracles.ucbvi if name == "ucbvi" else oracles.ucbvi_prm
    task = envs.make("random", observations=2, actions=1, machine_states=2, horizon=2, seed=0)
    past = pasts(task, 0, [15], on_product)[0].times(10**8)
    made = plan(learners.make(name, bonus_scale=1.0), past)
    qval, values = formula(task, past.diary, past.shown.num_episodes, 1.0)
    assert_same(task, made, qval, values)
    past.diary.steps.clear()
    past.diary.product_steps.clear()
    _, without = formula(task, past.diary, past.shown.num_episodes, 1.0)
    assert without[0, 0, 0] - values[0, 0, 0] > 1e-5


@settings(max_examples=20)
@given(task=tasks(), seed=SEEDS, scale=SCALES, length=st.integers(0, 12), factor=st.sampled_from([1, 1000]))
def test_euler_plans_are_those_of_the_formulas(task: Task, seed: int, scale: float, length: int, factor: int) -> None:
    past = pasts(task, seed, [length])[0].times(factor)
    made = plan(learners.make("euler", bonus_scale=scale), past)
    try:
        qval, values = oracles.euler(task, past.diary, past.shown.num_episodes, scale)
    except oracles.Undecided:
        assume(False)
    assert_same(task, made, qval, values)


@pytest.mark.parametrize(
    ("name", "interval", "published"),
    [("ucrl2-rm-l", "l1", {}), ("ucrl2-rm-b", "bernstein", {}), ("ucrl2-rm-b", "bernstein", {"as_published": True})],
)
@settings(max_examples=15)
@given(task=tasks(), seed=SEEDS, scale=SCALES, length=st.integers(0, 12), factor=st.sampled_from([1, 1000]))
def test_ucrl2_plans_are_those_of_the_formulas(
    name: str, interval: str, published: dict[str, bool], task: Task, seed: int, scale: float, length: int, factor: int
) -> None:
    past = pasts(task, seed, [length])[0].times(factor)
    made = plan(learners.make(name, bonus_scale=scale, **published), past)
    qval, values = oracles.ucrl2(task, past.diary, scale, interval, **published)
    assert_same(task, made, qval, values)


probabilities = (
    st.integers(2, 7)
    .flatmap(lambda size: st.lists(st.integers(0, 9), min_size=size, max_size=size).filter(any))
    .map(lambda parts: np.array(parts) / sum(parts))
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


def in_order(worth: np.ndarray) -> tuple[Any, ...]:
    """Return the arguments that the kernels share: own rows, the order of rows, their targets, what they are worth."""
    rows = np.arange(len(worth), dtype=np.int32)
    return np.argsort(-worth), rows, worth


@settings(max_examples=40)
@given(p_hat=probabilities, radius=st.floats(0, 2.5), seed=SEEDS)
def test_the_best_kernel_in_an_l1_ball_solves_the_linear_programme(p_hat: np.ndarray, radius: float, seed: int) -> None:
    size = len(p_hat)
    worth = np.random.default_rng(seed).integers(0, 6, size) / 5
    found = best_in_l1_ball(p_hat, np.arange(size, dtype=np.int32), radius, *in_order(worth))
    # Variables p, d with |p − p̂| ≤ d and Σ d ≤ radius.
    eye = np.eye(size)
    matrix = np.block([[eye, -eye], [-eye, -eye], [np.zeros(size), np.ones(size)]])
    limits = np.concatenate((p_hat, -p_hat, [radius]))
    best = linear_programme(worth, A_ub=matrix, b_ub=limits, bounds=[(0, 1)] * size + [(0, None)] * size)
    assert found == pytest.approx(best, abs=1e-8)


@settings(max_examples=40)
@given(p_hat=probabilities, visits=st.integers(1, 10**6), scale=SCALES, seed=SEEDS)
def test_the_best_kernel_in_intervals_solves_the_linear_programme(
    p_hat: np.ndarray, visits: int, scale: float, seed: int
) -> None:
    worth = np.random.default_rng(seed).integers(0, 6, len(p_hat)) / 5
    lower, upper = bernstein_interval(p_hat, np.array(float(visits)), 0.01, scale)
    own = np.arange(len(p_hat), dtype=np.int32)
    found = best_in_intervals(lower, upper, own, *in_order(worth))
    best = linear_programme(worth, bounds=list(zip(lower, upper, strict=True)))
    assert found == pytest.approx(best, abs=1e-8)


@given(
    p_hat=st.floats(0, 1) | st.sampled_from([0.0, 1.0]),
    visits=st.integers(1, 10**9),
    level=st.floats(1e-6, 0.5),
    scale=st.floats(0, 3),
)
def test_bernstein_ends_are_where_the_inequality_stops_to_hold(
    p_hat: float, visits: int, level: float, scale: float
) -> None:
    lower, upper = bernstein_interval(np.array(p_hat), np.array(float(visits)), level, scale)
    expected = oracles.bernstein_ends(p_hat, visits, level, scale)
    assert (float(lower), float(upper)) == pytest.approx(expected, abs=1e-11)


@given(visits=st.integers(1, 10**9), num_observations=st.integers(1, 900), level=st.floats(1e-6, 0.5))
def test_the_l1_radius_is_that_of_the_formula(visits: int, num_observations: int, level: float) -> None:
    radius = l1_radius(np.array(float(visits)), num_observations, level)
    assert float(radius) == pytest.approx(oracles.l1_radius(visits, num_observations, level), rel=1e-12)


def test_the_l1_radius_is_finite_for_very_many_observations() -> None:
    small, large = (float(l1_radius(np.array(10.0), size, 0.01)) for size in (900, 90_000))
    assert large == pytest.approx(10 * small, rel=0.01)


@pytest.mark.parametrize("name", ["ucbvi-prm", "ucbvi", "ucrl2-rm-l", "ucrl2-rm-b", "euler"])
@pytest.mark.parametrize("num_actions", [2, 3, 5])
def test_equal_best_actions_are_drawn_uniformly(name: str, num_actions: int) -> None:
    """χ² over 600 plans at an observation where all bonuses are at their cap; error level 0.001 per case.

    UCRL2-RM has no cap; all actions are worth the same to it before anything is seen.
    """
    task = envs.make("random", observations=3, actions=num_actions, machine_states=2, horizon=2, seed=1)
    learner = learners.make(name, bonus_scale=1.0)
    (past,) = pasts(task, 3, [0 if name.startswith("ucrl2") else 4], on_product=learner.on_product)
    drawn = np.array(
        [learner.plan(past.shown, None, np.random.default_rng(seed)).policy[0].ravel()[0] for seed in range(600)]
    )
    assert chisquare(np.bincount(drawn, minlength=num_actions)).pvalue > 0.001


def test_posterior_samples_solve_the_true_task_when_everything_is_known() -> None:
    task = envs.make("random-4x2x3-2", horizon=5)
    dense = task.mdp.to_dense()
    past = pasts(task, 1, [400])[0].times(10**6)
    assert np.all(past.shown.seen.slots >= 0)
    seen = past.shown.seen
    probs = np.concatenate([dense[divmod(int(pair), 2)][seen.successors[i:j]] for pair, i, j in slots(seen)])
    exact = replace(past.shown, seen=seen._replace(counts=probs * np.repeat(seen.visits, np.diff(seen.indptr))))
    made = learners.make("psrl").plan(exact, None, np.random.default_rng(0))
    # With 10⁶ and more visits to a pair a sampled probability is off by less than 10⁻³.
    np.testing.assert_allclose(made.values.T, solve(task).values[0], atol=task.horizon**2 * 1e-3)


def slots(seen: Any) -> zip[tuple[int, int, int]]:
    return zip(seen.pairs, seen.indptr[:-1], seen.indptr[1:], strict=True)
