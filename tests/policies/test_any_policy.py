"""Policies of all kinds are one thing to those who use them; what is none is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import praemia
from praemia import envs
from praemia.errors import FileError, ModelError
from praemia.pictures.policy_page import PolicyView


def test_a_policy_file_is_read_back_and_anything_else_is_refused(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for table in (rng.integers(0, 5, (4, 3, 2)), rng.dirichlet(np.ones(5), (4, 3, 2))):
        praemia.Policy(table, "a task").save(tmp_path / "policy.npz")
        again = praemia.Policy.load(tmp_path / "policy.npz")
        np.testing.assert_array_equal(again.table, table)
        assert again.task == "a task"
    praemia.simulate(envs.riverswim(), praemia.Optimal(), num_episodes=2).save(tmp_path / "run.npz")
    with pytest.raises(FileError, match="a praemia run; expected a praemia policy"):
        praemia.Policy.load(tmp_path / "run.npz")
    (tmp_path / "policy.npz").write_bytes((tmp_path / "policy.npz").read_bytes()[:-30])
    with pytest.raises(FileError, match="damaged, or not a policy"):
        praemia.Policy.load(tmp_path / "policy.npz")
    with pytest.raises(ModelError, match=r"a policy of shape \(2,\)"):
        praemia.Policy(np.zeros(2))


def test_a_plan_a_run_a_policy_and_an_array_are_the_same_policy() -> None:
    task = envs.warehouse(size=2)
    plan, run = praemia.solve(task), praemia.simulate(task, praemia.Optimal(), num_episodes=2)
    for policy in (plan, run, run.policy, praemia.Policy(plan), plan.policy):
        assert praemia.evaluate(task, policy).value == pytest.approx(plan.value)
        assert praemia.occupancy(task, policy).pairs.sum() == pytest.approx(task.horizon)
        assert len(praemia.rollout(task, policy)) == task.horizon
        assert PolicyView.of(task, policy).value == pytest.approx(plan.value)


def test_a_plan_without_a_horizon_is_the_same_policy_for_all() -> None:
    task = envs.warehouse(size=2).with_discount(0.8).with_horizon(None)
    plan = praemia.solve(task)
    assert plan.policy.ndim == 2
    assert praemia.evaluate(task, plan).value == pytest.approx(plan.value)
    assert len(praemia.rollout(task, plan)) <= task.max_steps
    view = PolicyView.of(task, plan)
    assert view.value == pytest.approx(plan.value)
    shown = view.actions >= 0
    np.testing.assert_array_equal(view.actions[shown], plan.policy[shown])


@pytest.mark.parametrize("wrong", ["best", {"a": 1}, object(), None])
def test_what_holds_no_policy_is_refused_by_all(wrong: object) -> None:
    for function in (praemia.evaluate, praemia.occupancy, praemia.rollout):
        with pytest.raises(ModelError, match="a Policy, a Plan or a Run"):
            function(envs.warehouse(size=2), wrong)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("table", "task", "message"),
    [
        ([[1], [1, 2]], "", "rows differ in length"),
        ([[[-1]]], "", "below 0"),
        ([[[[np.nan, 1.0]]]], "", "NaN"),
        ([[[0]]], 3, "task=3; expected a task, or the name of one"),
        (None, "", "a Policy, a Plan or a Run"),
    ],
)
def test_tables_that_are_no_policies_are_refused(table: Any, task: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        praemia.Policy(table, task)
