"""Discounts: against a machine that halts, in runs, files and environments."""

from __future__ import annotations

import numpy as np
import pytest
from strategies import halting, with_rewards

import praemia
from praemia import LabeledMDP, Task
from praemia._support.arithmetic import steps_left


def test_a_discount_is_a_machine_that_halts_on_200_random_tasks() -> None:
    """With probability 1 − γ after each step, and then pays 0: all values agree, of rewards of either sign."""
    values = []
    for seed in range(200):
        task = praemia.envs.make(f"random-12x3x4-{seed}", horizon=10).with_discount(0.3 + 0.69 * seed / 199)
        if seed % 2:
            task = task.with_machine(with_rewards(task.machine, -2.0, 1.0))
        plan, other = praemia.solve(task), praemia.solve(halting(task))
        assert plan.value == pytest.approx(other.value, rel=1e-12)
        going_on, scale = other.values[:, : task.num_machine_states], np.abs(plan.values).max()
        np.testing.assert_allclose(plan.values, going_on, rtol=1e-12, atol=1e-12 * scale)
        values.append(plan.value)
    assert min(values) < -1.0
    assert max(values) > 1.0


@pytest.mark.parametrize("name", ["headroom", "ucbvi-prm", "ucbvi", "psrl", "qr-max", "euler", "optimal"])
def test_runs_are_of_the_discounted_task(name: str) -> None:
    task = praemia.envs.make("warehouse-3").with_discount(0.9)
    run = praemia.simulate(task, praemia.learners.make(name), num_episodes=300, seed=0)
    assert run.discount == 0.9
    assert run.optimal_value == praemia.solve(task).value
    assert run.plan_values[-1] == pytest.approx(praemia.evaluate(task, run.final_policy).value, rel=1e-12)
    assert np.all(run.returns <= 1.0)
    assert np.all(np.diff(run.regret) >= 0.0)


def test_returns_are_discounted_at_the_step_that_pays() -> None:
    labels = [praemia.LabelRule("there", target=2)]
    mdp = LabeledMDP.from_rows(3, 1, {(0, 0): {1: 1.0}, (1, 0): {2: 1.0}, (2, 0): {2: 1.0}}, labels=labels, start=0)
    machine = praemia.MachineBuilder("out").edge("out", "there", "done", reward=1.0).build()
    task = Task(mdp, machine, 5, discount=0.5)
    run = praemia.simulate(task, praemia.learners.make("random"), num_episodes=3, seed=0)
    assert run.returns.tolist() == [0.5, 0.5, 0.5]
    assert praemia.rollout(task, praemia.solve(task).policy).total_reward == 0.5
    assert praemia.envs.TaskEnv(task).discount == 0.5


@pytest.mark.parametrize("name", ["headroom", "ucbvi-prm", "ucbvi", "euler"])
def test_optimistic_learners_stay_above_the_optimum_in_other_units(name: str) -> None:
    builder = praemia.MachineBuilder("empty").edge("empty", "item", "loaded", reward=-0.5)
    machine = builder.edge("loaded", "delivery", "done", reward=2.0).build()
    task = praemia.envs.make("warehouse-3").with_discount(0.8).with_machine(machine)
    theory = {"constants": "theory"} if name == "headroom" else {"bonus_scale": 1.0}
    run = praemia.simulate(task, praemia.learners.make(name, **theory), num_episodes=100, seed=0)
    assert np.all(run.optimistic_values >= run.optimal_value - 1e-9)
    assert run.optimistic_values[0] <= 2.0 * steps_left(task.horizon, 0.8)[0] + 1e-9


def test_a_drn_file_halts_with_the_rest_of_the_probability(tmp_path) -> None:
    task = praemia.envs.make("riverswim-3").with_discount(0.9)
    praemia.save_task(task, tmp_path / "task.drn")
    text = (tmp_path / "task.drn").read_text()
    halted = 3 * task.num_machine_states
    assert f"state {halted} [0] halted" in text
    assert text.count(f"\t\t{halted} : ") == task.num_actions * halted + 1
