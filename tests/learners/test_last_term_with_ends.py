"""The last term of UCBVI's bonus where episodes end early: an end adds nothing, by the short way and by the long one.

N' never exceeds the number k of episodes begun. While c/k is above the square of the cap, every minimum in the term is
that square, and the sum is cap²·(n − n_end)/n; afterwards it is taken transition by transition.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest
from dense_plans import dense_plan
from pasts import Keeping
from strategies import full_task

from praemia import (
    UCBVI,
    UCBVIBF,
    UCBVIPRM,
    Experience,
    LabeledMDP,
    MachineBuilder,
    Task,
    simulate,
)
from praemia.learners.ucbvi import later_visits

SHORT, LONG = 10**5, 10**14  # episodes: those that are claimed to have been played change nothing that was counted


class KeepingOnProduct(Keeping):
    """Play on the product."""

    sees: ClassVar[str] = "product"


def ending(discount: float = 1.0) -> Task:
    """Return a task in which everything matters and every third transition ends the episode."""
    task = full_task(3)
    return replace(task, mdp=replace(task.mdp, ends=np.arange(len(task.mdp.probs)) % 3 == 0), discount=discount)


def kept(kind: type[Keeping], task: Task, num_episodes: int, expected: int) -> Experience:
    """Return the experience of some episodes, as of a run that has had ``expected``."""
    simulate(task, kind(), num_episodes, seed=2)
    return replace(Keeping.shown[0], num_episodes=expected, episodes_played=expected - 1)


def last_term(experience: Experience, cost: float, caps: Any) -> Any:
    """Return Σ p̂(o')·min(c/N'_{h+1}(o'), cap_h²)/n as [H, 1, O, A], summed over what did not end."""
    spec, seen = experience.spec, experience.transitions
    sums = np.zeros((spec.horizon, 1, spec.num_observations, spec.num_actions))
    for h in range(spec.horizon):
        for o, a, z, _, is_end, count in zip(*seen, strict=True):
            later, n = experience.step_visits[h + 1, z], experience.visits[o, a]
            if not is_end:
                smaller = caps[h] ** 2 if later == 0 else min(cost / later, caps[h] ** 2)
                sums[h, 0, o, a] += count / n * smaller / n
    return sums


def formula(learner: Any, experience: Experience) -> Any:
    """Return V_0 of the first plan of a learner, with the bonus of its docstring."""
    spec, n = experience.spec, np.maximum(1, experience.visits)
    size, A, M, H = spec.num_observations, spec.num_actions, spec.num_machine_states, spec.horizon
    T, kappa, is_bf = experience.num_episodes * H, learner.bonus_scale, isinstance(learner, UCBVIBF)
    factor = 6 * M if isinstance(learner, UCBVIPRM) else 5
    log = math.log(factor * size * A * T / learner.failure_prob)
    caps = spec.value_caps[:-1] if is_bf else np.full(H, spec.value_caps[0])
    cost = (84 if is_bf else 100) ** 2 * H**3 * size**2 * A * log**2
    assert (cost >= experience.num_episodes * caps[0] ** 2) == (experience.num_episodes == SHORT)
    width = caps[:, None, None, None]
    if is_bf:
        bonus = 7 * width * log / (3 * np.maximum(1, n - 1)) + np.sqrt(4 * last_term(experience, cost, caps))
    else:
        bonus = 14 * width * log / (3 * n) + np.sqrt(8 * last_term(experience, cost, caps))
        bonus = bonus + (np.sqrt(2 * log / n) if isinstance(learner, UCBVIPRM) else 0.0)
    scale = kappa * np.sqrt((4 if is_bf else 8) * log / n)
    return dense_plan(experience, kappa * bonus, scale, caps, variance_of="Y" if is_bf else "W")[1]


@pytest.mark.parametrize("discount", [1.0, 0.7])
@pytest.mark.parametrize("expected", [SHORT, LONG])
@pytest.mark.parametrize("kind", [UCBVIPRM, UCBVI, UCBVIBF])
def test_an_end_adds_nothing_to_the_last_term(kind: Any, expected: int, discount: float) -> None:
    view = KeepingOnProduct if kind is UCBVI else Keeping
    experience = kept(view, ending(discount), 100, expected)
    assert experience.ends.any()
    learner = kind(bonus_scale=1e-4)
    plan = learner.plan(experience, None, np.random.default_rng(0))
    np.testing.assert_allclose(plan.values, formula(learner, experience), rtol=0, atol=1e-12)


def test_the_number_of_episodes_does_not_decide_what_an_end_adds() -> None:
    """One way on, one way out, two steps: 10⁵ episodes take the short way and 10⁸ the long one."""
    mdp = LabeledMDP.from_rows(2, 1, {(0, 0): {0: 0.6, 1: 0.4}, (1, 0): {1: 1.0}}, labels=[], start=0)
    mdp = replace(mdp, ends=mdp.successors == 1)
    task = Task(mdp, MachineBuilder("q").build(), 2)
    for expected in (10**5, 10**8):
        experience = kept(Keeping, task, 50, expected)
        n, n_end = experience.visits[0, 0], experience.ends[0, 0]
        learner = UCBVIPRM(bonus_scale=1e-5)
        iota = math.log(6 * 2 * 2 * expected / 0.05)
        cost = 100**2 * 2**3 * 2**2 * iota**2
        assert (cost >= 4 * expected) == (expected == 10**5)
        found = later_visits(experience, cost, 4.0)
        np.testing.assert_allclose(np.broadcast_to(found, (2, 1, 2, 1))[:, 0, 0, 0], 4 * (n - n_end))
        plan = learner.plan(experience, None, np.random.default_rng(0))
        last = math.sqrt(8) * 2 * math.sqrt((n - n_end) / n) / math.sqrt(n)
        bonus = 1e-5 * (14 * 2 * iota / (3 * n) + math.sqrt(2 * iota / n) + last)
        second = bonus * math.sqrt(8 * iota * (1 - n_end / n) * n_end / n / n) * 1e-5  # the deviation of V_1
        assert plan.values[0, 0] == pytest.approx(bonus + (1 - n_end / n) * bonus + second, abs=1e-12)


@pytest.mark.parametrize("cost", [0.1, 3.0, 40.0, 1e9])
def test_the_sum_is_taken_over_transitions_that_went_on(cost: float) -> None:
    experience = kept(Keeping, ending(), 100, 100)
    for caps in (np.full(3, 3.0), np.array([3.0, 2.0, 1.0])):
        shaped = 9.0 if caps[1] == 3.0 else (caps**2)[:, None, None, None]
        found = np.broadcast_to(later_visits(experience, cost, shaped), (3, 1, 4, 3))
        n = np.maximum(1, experience.visits)
        np.testing.assert_allclose(found / n / n, last_term(experience, cost, caps), rtol=1e-12)


@pytest.mark.parametrize("cost", [2000.0, 4900.0, 5100.0])
def test_a_budget_of_steps_may_hold_more_episodes_than_the_formulas_expect(cost: float) -> None:
    """50 episodes of two steps are played where K = 10: c/N' is below the cap, 10², though c/K is not."""
    mdp = LabeledMDP.from_rows(2, 1, {(0, 0): {1: 1.0}, (1, 0): {1: 1.0}}, labels=[], start=0)
    task = Task(replace(mdp, ends=np.array([False, True])), MachineBuilder("q").build(), 10)
    simulate(task, Keeping(), num_steps=100)
    experience = Keeping.shown[0]
    assert (experience.num_episodes, experience.episodes_played) == (10, 49)
    assert experience.step_visits[1, 1] == 50  # the last one too: counts are those of now
    found = later_visits(experience, cost, 100.0)[..., 0, 0]
    n = int(experience.visits[0, 0])
    assert np.broadcast_to(found, (10, 1))[0, 0] == pytest.approx(n * min(cost / 50, 100.0))
    np.testing.assert_allclose(np.broadcast_to(found, (10, 1))[1:], n * 100.0)
