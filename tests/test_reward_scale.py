"""Rewards in another unit: no threshold compares a value with a constant.

Scaling by a power of two changes no rounding, so that everything is exactly scaled; other factors round once more.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st

import praemia
from praemia import Task, TrajectoryReward, evaluate, learners, simulate, solve
from praemia._support.text_tables import number
from praemia.cli import execute
from praemia.pictures.policy_page import PolicyView
from praemia.planning.exact import losses, max_losses

EXACT, ROUNDED = (2.0**-40, 2.0**40), (1e-12, 1e12)
COMPARED = ("headroom", "ucbvi-prm", "ucbvi", "euler", "psrl", "ucrl2-rm-b", "qr-max", "crm", "random", "optimal")


def scaled(task: Task, factor: float) -> Task:
    """Return the task with all rewards multiplied by a factor."""
    return replace(task, machine=strategies.with_rewards(task.machine, 0.0, factor))


def assert_scaled(found: Any, own: Any, factor: float, scale: float = 0.0) -> None:
    """Compare results bit for bit, or to 1e-9 of a scale where a factor rounds."""
    if factor in EXACT:
        np.testing.assert_array_equal(found, factor * np.asarray(own))
    else:
        np.testing.assert_allclose(found, factor * np.asarray(own), rtol=1e-9, atol=1e-9 * factor * scale)


def any_policy(task: Task, seed: int) -> np.ndarray:
    shape = (task.max_steps, task.num_machine_states, task.num_observations)
    return np.random.default_rng(seed).integers(0, task.num_actions, shape)


tasks = st.one_of(strategies.tasks_of_any_width(), strategies.tasks_with_any_rewards())
factors = st.sampled_from((*EXACT, *ROUNDED))


@settings(max_examples=40)
@given(tasks, factors, st.integers(0, 99), st.sampled_from([1.0, 0.5]))
def test_exact_values_and_verdicts_scale(task: Task, factor: float, seed: int, discount: float) -> None:
    task = task.with_discount(discount)
    other, policy = scaled(task, factor), any_policy(task, seed)
    plan, theirs = solve(task), solve(other)
    scale = float(task.horizon) * task.machine.reward_range.span  # type: ignore[arg-type]
    assert_scaled(theirs.values, plan.values, factor, scale)
    assert_scaled(evaluate(other, policy).values, evaluate(task, policy).values, factor, scale)
    assert_scaled(losses(other, policy, theirs), losses(task, policy, plan), factor, scale)
    assert_scaled(max_losses(other, theirs), max_losses(task, plan), factor, scale)
    if factor in EXACT:
        np.testing.assert_array_equal(theirs.policy, plan.policy)
        own, found = (PolicyView.of(each, policy, best) for each, best in ((task, plan), (other, theirs)))
        for part in ("visits", "actions", "matters", "mistakes", "states"):
            np.testing.assert_array_equal(getattr(own, part), getattr(found, part))


@settings(max_examples=25)
@given(tasks, factors)
def test_the_stationary_optimum_scales(task: Task, factor: float) -> None:
    endless = task.with_discount(0.9).with_horizon(None)
    plan, other = solve(endless), solve(scaled(endless, factor))
    assert_scaled(other.values, plan.values, factor, 10.0 * task.machine.reward_range.span)
    if factor in EXACT:
        assert other.error == factor * plan.error
        np.testing.assert_array_equal(other.policy, plan.policy)


@settings(max_examples=15)
@given(tasks, st.sampled_from(EXACT), st.sampled_from(COMPARED))
def test_learners_play_alike_in_any_unit(task: Task, factor: float, name: str) -> None:
    own, found = (simulate(each, learners.make(name), 30, seed=1) for each in (task, scaled(task, factor)))
    np.testing.assert_array_equal(found.policy, own.policy)
    for part in ("plan_episodes", "final_policy", "steps"):
        np.testing.assert_array_equal(getattr(found, part), getattr(own, part))
    for part in ("returns", "optimal_value", "plan_values", "regret"):
        assert_scaled(getattr(found, part), getattr(own, part), factor)


@settings(max_examples=15)
@given(tasks, st.sampled_from(EXACT), st.integers(1, 200))
def test_plans_from_data_scale(task: Task, factor: float, num_episodes: int) -> None:
    machine = task.machine
    if machine.reads - frozenset().union(*task.mdp.label_sets):
        return
    data = praemia.explore(task, num_episodes=num_episodes)
    own, found = (praemia.plan_from(data, each) for each in (machine, scaled(task, factor).machine))
    np.testing.assert_array_equal(found.policy, own.policy)
    assert_scaled([found.value, found.likely_loss], [own.value, own.likely_loss], factor)
    for part in ("bound", "largest", "optimistic", "pessimistic"):
        assert_scaled(getattr(found.certificate, part), getattr(own.certificate, part), factor)
    assert found.certificate.is_vacuous == own.certificate.is_vacuous


@pytest.mark.parametrize("factor", [*EXACT, *ROUNDED])
def test_a_comparison_has_the_same_ratios_and_verdicts(factor: float) -> None:
    task = praemia.envs.make("warehouse-3")
    own, found = (
        praemia.compare(each, ["random", "headroom", "optimal"], 100, num_runs=4)
        for each in (task, scaled(task, factor))
    )
    assert found.ratios.rows == own.ratios.rows
    for ours, theirs in zip(own.series, found.series, strict=True):
        assert_scaled(theirs.final, ours.final, factor)
    assert found.series[0].final.min() > 0.0  # ``random`` loses in any unit
    assert not found.series[2].final.any()


def test_small_regrets_are_shown_as_they_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task = scaled(praemia.envs.make("warehouse-2"), 1e-9)
    run = simulate(task, "random", 20)
    assert f" regret {number(run.regret[-1])}" in repr(run)
    praemia.save_task(task, tmp_path / "small.yaml")
    assert execute(["run", str(tmp_path / "small.yaml"), "--learner", "random", "--episodes", "20"]) == 0
    assert re.search(r"^random +\d\.\d\d×10\^−\d+ ± ", capsys.readouterr().out, re.MULTILINE)


@pytest.mark.parametrize("factor", [*EXACT, *ROUNDED])
def test_rewards_on_trajectories_may_have_any_bound(factor: float) -> None:
    data = praemia.explore(praemia.envs.riverswim(4), num_episodes=100)
    own, found = (
        praemia.plan_from(
            data, TrajectoryReward(lambda seen, g=g: g * float(seen.last == 3), g), horizon=4, simulations=50
        )
        for g in (1.0, factor)
    )
    for part in ("value", "alpha"):
        assert_scaled(getattr(found, part), getattr(own, part), factor)
    assert_scaled(found.certificate.bound, own.certificate.bound, factor)
    exceeding = TrajectoryReward(lambda seen: 1.001 * factor, factor)
    with pytest.raises(praemia.PraemiaError, match="it declared 0 …"):
        praemia.plan_from(data, exceeding, horizon=2)
