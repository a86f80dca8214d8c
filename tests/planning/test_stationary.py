"""The stationary optimum of tasks without a horizon: against dense linear algebra, and for very small values."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from strategies import with_rewards

import praemia
from praemia import Task
from praemia.planning.backward import BackwardPass


def dense_optimum(task: Task) -> np.ndarray:
    """Return V*[state] of the explicit product by policy iteration with dense solves."""
    explicit = praemia.product(task)
    transitions, rewards = explicit.to_dense(), explicit.rewards
    states = np.arange(explicit.num_states)
    policy = np.zeros(explicit.num_states, dtype=int)
    while True:
        chosen = transitions[states, policy]
        values = np.linalg.solve(np.eye(len(states)) - task.discount * chosen, rewards[states, policy])
        q = rewards + task.discount * transitions @ values
        better = np.where(q.max(axis=1) > q[states, policy] + 1e-13, q.argmax(axis=1), policy)
        if np.array_equal(better, policy):
            return values
        policy = better


@pytest.mark.parametrize("discount", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("seed", range(4))
def test_values_are_those_of_dense_solves(seed: int, discount: float) -> None:
    task = praemia.envs.make(f"random-10x3x3-{seed}").with_discount(discount).with_horizon(None)
    if seed % 2:
        task = task.with_machine(with_rewards(task.machine, -2.0, 1.0))
    plan = praemia.solve(task)
    expected = dense_optimum(task).reshape(task.num_machine_states, task.num_observations)
    np.testing.assert_allclose(plan.values, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    assert plan.policy.shape == plan.values.shape
    assert plan.error <= 1e-9 * abs(plan.value)


def patrol(side: int, discount: float, slip: float, reward: float = 1.0) -> Task:
    """Return a round of three corners of a grid that never ends, and is paid for once a round."""
    rows = ["S" + "." * (side - 2) + "a", *["." * side] * (side - 2), "c" + "." * (side - 2) + "b"]
    machine = praemia.MachineBuilder("0").edge("0", "a", "1").edge("1", "b", "2").edge("2", "c", "0", reward=reward)
    task = praemia.envs.grid(
        "\n".join(rows), legend={name: name for name in "abc"}, machine=machine.build(), horizon=1, slip=slip
    )
    return task.with_discount(discount).with_horizon(None)


@pytest.mark.parametrize("slip", [0.0, 0.05, 0.3])
@pytest.mark.parametrize("discount", [0.99, 0.999, 0.9999])
def test_rounds_near_a_discount_of_one_are_those_of_dense_solves(
    discount: float, slip: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plain value iteration takes 200,000 steps at the last discount; the rounds without slips never mix."""
    steps = []
    solve = BackwardPass.solve
    monkeypatch.setattr(
        BackwardPass, "solve", lambda self, *args: steps.append(args[-1] - args[-2]) or solve(self, *args)
    )
    task = patrol(9, discount, slip)
    plan = praemia.solve(task)
    expected = dense_optimum(task).reshape(task.num_machine_states, task.num_observations)
    start = expected[0, task.starts[0]]
    assert abs(plan.value - start) <= plan.error + 1e-11 * start
    assert plan.error <= 1e-9 * plan.value
    np.testing.assert_allclose(plan.values, expected, rtol=1e-8)
    assert sum(steps) < 2500


@pytest.mark.parametrize("reward", [1.0, -1.0])
def test_bounds_hold_where_episodes_can_end(reward: float) -> None:
    """Nothing follows an end: the changes of values alone, without the 0 of the ends, would bound too tightly."""
    ends = np.array([True, False, True, False])
    mdp = praemia.LabeledMDP.from_entries(
        2, 1, [0, 0, 1, 1], [0] * 4, [0, 1, 1, 0], [0.001, 0.999, 0.002, 0.998], [praemia.LabelRule("step")], ends=ends
    )
    machine = praemia.MachineBuilder("on").edge("on", "step", "on", reward=reward).build()
    task = Task(mdp, machine, discount=0.9999)
    plan = praemia.solve(task)
    stay = 0.9999 * np.array([[0.0, 0.999], [0.998, 0.0]])
    expected = np.linalg.solve(np.eye(2) - stay, [reward, reward])
    assert abs(plan.value - expected[0]) <= plan.error + 1e-12 * abs(expected[0])
    assert plan.error <= 1e-9 * abs(plan.value)


def test_a_value_that_is_tiny_beside_others_is_found_as_exactly() -> None:
    """A way of n steps that pays 1 at its end is worth γ^(n − 1), here below 1e-14."""
    steps, discount = 330, 0.9
    text = "S" + "." * (steps - 1) + "g"
    machine = praemia.MachineBuilder("out").edge("out", "goal", "done", reward=1.0).build()
    task = praemia.envs.grid(text, legend={"g": "goal"}, machine=machine, horizon=1, slip=0.0).with_discount(discount)
    plan = praemia.solve(task.with_horizon(None))
    assert plan.value == pytest.approx(discount ** (steps - 1), rel=1e-9)
    assert np.all(plan.policy[0, :-1] == 1)  # to the right


def test_learners_play_the_effective_horizon() -> None:
    task = praemia.envs.make("warehouse-3").with_discount(0.9).with_horizon(None)
    assert (task.horizon, task.max_steps) == (None, 263)
    assert 0.9**263 <= 1e-12 < 0.9**262
    run = praemia.simulate(task, praemia.learners.make("optimal"), num_episodes=5, seed=0)
    assert run.final_policy.shape[0] == 263
    assert run.optimal_value == pytest.approx(praemia.solve(task).value, rel=1e-9)
    assert praemia.evaluate(task, praemia.solve(task)).value == pytest.approx(run.optimal_value, rel=1e-9)


def test_a_horizon_can_be_left_out_in_python_and_in_files(tmp_path: Path) -> None:
    finite = praemia.envs.make("warehouse-3")
    task = Task(finite.mdp, finite.machine, discount=0.9)
    assert task.horizon is None
    assert repr(task).endswith("no horizon, discount 0.9)")
    assert (task.with_discount(0.5).horizon, task.with_discount(0.5).max_steps) == (None, 40)
    assert replace(task, name="other", discount=0.5).max_steps == 40
    given = replace(task, horizon=7)
    assert (given.horizon, given.max_steps, given.with_discount(0.5).max_steps) == (7, 7, 7)
    praemia.save_task(task, tmp_path / "task.yaml")
    again = praemia.load_task(tmp_path / "task.yaml")
    assert (again.horizon, again.discount, again.max_steps) == (None, 0.9, 263)


def test_nothing_to_earn_is_worth_nothing() -> None:
    machine = praemia.MachineBuilder("idle", propositions=["item", "delivery"]).build()
    task = praemia.envs.make("warehouse-3").with_machine(machine).with_discount(0.9).with_horizon(None)
    plan = praemia.solve(task)
    assert plan.value == plan.error == 0.0


def test_a_mapped_task_that_ends_is_paid_for_ever_after() -> None:
    """A task that charges 1 and ends at once is worth 0 in the unit range, and then 1 for every step after it."""
    mdp = praemia.LabeledMDP.from_entries(1, 1, [0], [0], [0], [1.0], [praemia.LabelRule("end")], ends=True)
    machine = praemia.MachineBuilder("out").edge("out", "end", "out", reward=-1).build()
    task = Task(mdp, machine, discount=0.99).in_unit_range
    assert praemia.solve(task).value == pytest.approx(0.99 / 0.01)
    assert praemia.solve(task).value == pytest.approx(praemia.solve(task.model).value, rel=1e-9)
