"""The last term of UCBVI's bonus where episodes end early: an end adds nothing, by the short way and by the long one.

N' never exceeds the number k of episodes begun. While c/k is above the square of the cap, every minimum in the term is
that square, and the sum is cap²·(n − n_end)/n; afterwards it is taken transition by transition.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from dense_plans import dense_plan
from learner_oracles import Wanderer
from strategies import full_task, with_ends

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


def ending(discount: float = 1.0) -> Task:
    """Return a task in which everything matters and every third transition ends the episode."""
    task = full_task(3)
    return replace(task, mdp=with_ends(task.mdp, np.arange(len(task.mdp.probs)) % 3 == 0), discount=discount)


def kept(player: Wanderer, task: Task, num_episodes: int, expected: int) -> Experience:
    """Return the experience of some episodes, as of a run that has had ``expected``."""
    simulate(task, player, num_episodes, seed=2)
    return replace(Wanderer.shown[0], num_episodes=expected, episodes_played=expected - 1)


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
    view = {"sees": "product"} if kind is UCBVI else {}
    experience = kept(Wanderer(**view), ending(discount), 100, expected)
    assert experience.ends.any()
    learner = kind(bonus_scale=1e-4)
    plan = learner.plan(experience, None, np.random.default_rng(0))
    np.testing.assert_allclose(plan.values, formula(learner, experience), rtol=0, atol=1e-12)


@pytest.mark.parametrize("cost", [2000.0, 4900.0, 5100.0])
def test_a_budget_of_steps_may_hold_more_episodes_than_the_formulas_expect(cost: float) -> None:
    """50 episodes of two steps are played where K = 10: c/N' is below the cap, 10², though c/K is not."""
    mdp = LabeledMDP.from_rows(2, 1, {(0, 0): {1: 1.0}, (1, 0): {1: 1.0}}, labels=[], start=0)
    task = Task(with_ends(mdp, [False, True]), MachineBuilder("q").build(), 10)
    simulate(task, Wanderer(), num_steps=100)
    experience = Wanderer.shown[0]
    assert (experience.num_episodes, experience.episodes_played) == (10, 49)
    assert experience.step_visits[1, 1] == 50  # the last one too: counts are those of now
    found = later_visits(experience, cost, 100.0)[..., 0, 0]
    n = int(experience.visits[0, 0])
    assert np.broadcast_to(found, (10, 1))[0, 0] == pytest.approx(n * min(cost / 50, 100.0))
    np.testing.assert_allclose(np.broadcast_to(found, (10, 1))[1:], n * 100.0)
