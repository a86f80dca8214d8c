"""Where a policy loses value."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import tasks

import praemia
from praemia import envs
from praemia.planning.exact import evaluate, losses, solve
from praemia.tasks.task import Task


@given(tasks(), st.integers(0, 2**32 - 1), st.booleans())
@settings(deadline=None, max_examples=40)
def test_losses_add_up_to_what_the_policy_lacks(task: Task, seed: int, deterministic: bool) -> None:
    rng = np.random.default_rng(seed)
    shape = (task.horizon, task.num_machine_states, task.num_observations)
    if deterministic:
        policy = rng.integers(0, task.num_actions, shape)
    else:
        policy = rng.dirichlet(np.ones(task.num_actions), shape)
    plan = solve(task)
    lost = losses(task, policy, plan)
    assert lost.min() >= 0.0
    assert lost.sum() == pytest.approx(plan.value - evaluate(task, policy).value, abs=1e-9)


def test_the_optimum_loses_nothing_and_a_mistake_loses_where_it_is_made() -> None:
    machine = praemia.MachineBuilder("out").edge("out", "goal", "done", reward=1).build()
    task = envs.grid("S.g", legend={"g": "goal"}, machine=machine, horizon=2, slip=0.0)
    plan = solve(task)
    np.testing.assert_allclose(losses(task, plan.policy, plan), 0.0, atol=1e-15)
    mistaken = np.array(plan.policy)
    mistaken[1, 0, 1] = 3  # left, one step before the goal
    assert losses(task, mistaken, plan).tolist() == [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
