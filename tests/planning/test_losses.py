"""Where a policy loses value."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import tasks

import praemia
from praemia import envs
from praemia.errors import ModelError
from praemia.planning.exact import evaluate, losses, max_losses, solve
from praemia.tasks.task import Task


@given(tasks(), st.integers(0, 2**32 - 1), st.booleans(), st.sampled_from([1.0, 0.9, 0.3]))
@settings(max_examples=40)
def test_losses_add_up_to_what_the_policy_lacks(task: Task, seed: int, deterministic: bool, discount: float) -> None:
    rng, task = np.random.default_rng(seed), task.with_discount(discount)
    shape = (task.horizon, task.num_machine_states, task.num_observations)
    if deterministic:
        policy = rng.integers(0, task.num_actions, shape)
    else:
        policy = rng.dirichlet(np.ones(task.num_actions), shape)
    plan = solve(task)
    lost = losses(task, policy, plan)
    assert lost.min() >= 0.0
    assert lost.sum() == pytest.approx(plan.value - evaluate(task, policy).value, abs=1e-9)


@given(tasks(), st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_losses_without_a_horizon_are_those_against_the_stationary_plan(task: Task, seed: int) -> None:
    task = task.with_discount(0.5).with_horizon(None)
    policy = np.random.default_rng(seed).integers(0, task.num_actions, (task.num_machine_states, task.num_observations))
    plan = solve(task)
    np.testing.assert_allclose(losses(task, plan.policy, plan), 0.0, atol=1e-8)
    assert losses(task, policy, plan).sum() == pytest.approx(plan.value - evaluate(task, policy).value, abs=1e-8)
    assert max_losses(task, plan).shape == (task.max_steps, *plan.policy.shape)


def test_losses_need_the_values_of_every_step() -> None:
    task = envs.warehouse(3)
    plan = solve(task, keep_values=False)
    with pytest.raises(ModelError, match=r"a plan with values of shape \(1, 3, 9\); losses need those of every step"):
        losses(task, plan.policy, plan)


def test_the_optimum_loses_nothing_and_a_mistake_loses_where_it_is_made() -> None:
    machine = praemia.MachineBuilder("out").edge("out", "goal", "done", reward=1).build()
    task = envs.grid("S.g", legend={"g": "goal"}, machine=machine, horizon=2, slip=0.0)
    plan = solve(task)
    np.testing.assert_allclose(losses(task, plan.policy, plan), 0.0, atol=1e-15)
    mistaken = np.array(plan.policy)
    mistaken[1, 0, 1] = 3  # left, one step before the goal
    assert losses(task, mistaken, plan).tolist() == [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
