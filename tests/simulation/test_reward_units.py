"""Rewards of any size and sign: users see their own units, learners see [0, 1], and a halted machine pays nothing."""

from __future__ import annotations

import gymnasium
import numpy as np
import oracles
import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st

import praemia
from praemia import BlackBox, LabeledMDP, MachineBuilder, Run, Task, evaluate, learners, simulate, solve
from praemia.envs import from_gymnasium, warehouse
from praemia.machines.labels import LabelRule
from praemia.machines.rewards import Reward

COMPARED = ("headroom", "ucbvi-prm", "ucbvi", "euler", "psrl", "ucrl2-rm-b", "opsrl", "qr-max", "crm")


@settings(max_examples=25)
@given(strategies.tasks_with_any_rewards(), st.sampled_from([1.0, 0.9, 0.3]))
def test_exact_planning_takes_any_rewards(task: Task, discount: float) -> None:
    task = task.with_discount(discount)
    expected = oracles.solve(task)
    found = solve(task)
    for (m, o), value in expected[0].items():
        assert found.values[0, m, o] == pytest.approx(value, rel=1e-9, abs=1e-9)
    assert evaluate(task, found.policy).value == pytest.approx(found.value, rel=1e-9, abs=1e-9)


@settings(max_examples=25)
@given(strategies.tasks_with_any_rewards())
def test_values_in_the_unit_range_are_those_of_the_user_mapped(task: Task) -> None:
    unit, scale = task.in_unit_range, task.machine.reward_range
    assert all(0.0 <= reward <= 1.0 for reward in unit.table.laws["value"])
    mapped = scale.values_from_unit(solve(unit).value, task.horizon, 1.0)
    assert mapped == pytest.approx(solve(task).value, rel=1e-9, abs=1e-9 * scale.span)


def with_step_costs(scale: float, shift: float) -> Task:
    """Return the 3×3 warehouse in which a delivery pays 1·scale + shift and every other step 0·scale + shift."""
    task = warehouse(3)
    label_sets = [frozenset(), frozenset({"item"}), frozenset({"delivery"})]
    assert set(task.mdp.label_sets) <= set(label_sets)
    builder = MachineBuilder("empty", ["item", "delivery"])
    guards = {"": "else", "item": "item & !delivery", "delivery": "delivery & !item"}
    moves = {("empty", "item"): "loaded", ("loaded", "delivery"): "done"}
    for state in ("empty", "loaded", "done"):
        for event, guard in guards.items():
            target = moves.get((state, event), state)
            builder.edge(state, guard, target, reward=shift + scale * (target == "done" != state))
    return Task(task.mdp, builder.build(), task.horizon)


@pytest.mark.parametrize("name", COMPARED)
def test_a_task_with_step_costs_is_learned_as_the_one_that_is_shifted_into_the_unit_range(name: str) -> None:
    # −1 for a step and 1 for a delivery is mapped onto 0 and 1, without rounding.
    costs, shifted = with_step_costs(2.0, -1.0), with_step_costs(1.0, 0.0)
    first, second = (simulate(task, learners.make(name), 300, seed=5) for task in (costs, shifted))
    np.testing.assert_array_equal(first.plan_episodes, second.plan_episodes)
    np.testing.assert_array_equal(first.final_policy, second.final_policy)
    np.testing.assert_array_equal(first.plan_values, 2.0 * second.plan_values - costs.horizon)
    np.testing.assert_array_equal(first.returns, 2.0 * second.returns - costs.horizon)
    np.testing.assert_array_equal(first.regret, 2.0 * second.regret)
    np.testing.assert_array_equal(Run.from_bytes(first.to_bytes(), "the run").regret, first.regret)


def test_rewards_within_the_unit_range_are_not_touched() -> None:
    task = warehouse(3)
    assert task.in_unit_range is task
    assert task.machine.in_unit_range is task.machine


def test_a_step_that_nothing_matches_pays_0_also_where_rewards_are_mapped() -> None:
    mdp = LabeledMDP.from_dense(np.ones((1, 1, 1)), [LabelRule("tick", source=0)])
    machine = MachineBuilder("a").edge("a", "tick", "b", reward=-4).build()
    task = Task(mdp, machine, 5)
    run = simulate(task, learners.make("headroom"), 3, seed=0)
    assert run.optimal_value == pytest.approx(-4.0)
    np.testing.assert_allclose(run.returns, -4.0, atol=1e-12)
    np.testing.assert_allclose(run.regret, 0.0, atol=1e-12)


def test_uniform_rewards_are_drawn_from_their_interval() -> None:
    mdp = LabeledMDP.from_dense(np.ones((1, 1, 1)), [LabelRule("tick", source=0)])
    machine = MachineBuilder("a").edge("a", "tick", "a", reward=Reward.uniform(-1, 3)).build()
    num_episodes = 4000
    run = simulate(Task(mdp, machine, 1), learners.make("random"), num_episodes, seed=0)
    assert run.returns.min() >= -1.0
    assert run.returns.max() <= 3.0
    # Kolmogorov and Smirnov: exceeds 1.63/√n with probability .01.
    distance = np.abs(np.sort((run.returns + 1) / 4) - (np.arange(num_episodes) + 0.5) / num_episodes).max()
    assert distance < 1.63 / np.sqrt(num_episodes)


def paid_after_the_end() -> praemia.RewardMachine:
    return MachineBuilder("wait", ["goal"]).edge("wait", "!goal", "wait", reward=1).build()


def test_an_ended_frozen_lake_pays_nothing_more() -> None:
    lake = from_gymnasium("FrozenLake-v1", [LabelRule("goal", target=15)], is_slippery=False)
    task = Task(lake, paid_after_the_end(), 10)
    down = np.full((10, 1, lake.num_observations), 1)
    # Down, down, down: the hole at 12 is reached by the third step. Nothing is paid after it.
    assert evaluate(task, down).value == pytest.approx(3.0)
    assert lake.num_observations == 16


# Headroom that prefers what is certain never ends an episode here: it has seen how to stay.
DRAWING = praemia.Headroom(order="random", replan="growth")


@pytest.mark.parametrize(
    "learner", [DRAWING, praemia.UCBVIPRM(), praemia.UCBVI(), learners.make("crm")], ids=lambda own: own.name
)
def test_an_ended_black_box_pays_nothing_more(learner: praemia.Learner) -> None:
    env = gymnasium.make("FrozenLake-v1", is_slippery=False)
    box = BlackBox(env, lambda o, a, z, info: {"goal"} if z == 15 else set(), paid_after_the_end(), 10)
    run = simulate(box, learner, 40, seed=1)
    task = Task(from_gymnasium("FrozenLake-v1", [LabelRule("goal", target=15)], is_slippery=False), box.machine, 10)
    # Whatever is played pays 1 a step until the episode ends; in a lake that ends at once it is less than 10.
    assert run.returns.max() <= solve(task).value
    assert run.returns.min() < 10.0


def test_penalties_in_a_black_box_are_told_in_the_users_units() -> None:
    env = gymnasium.make("FrozenLake-v1", is_slippery=False)
    builder = MachineBuilder("go", ["goal"]).edge("go", "goal", "go", reward=10)
    machine = builder.edge("go", "!goal", "go", reward=-1).build()
    box = BlackBox(env, lambda o, a, z, info: {"goal"} if z == 15 else set(), machine, 20)
    run = simulate(box, learners.make("headroom"), 200, seed=3)
    # A return counts steps: −1 for each that was taken, 11 more for the one into the goal.
    missed, reached = {-float(n) for n in range(1, 21)}, {11.0 - n for n in range(6, 21)}
    assert set(run.returns.tolist()) <= missed | reached
    assert run.returns.max() > 0.0


def test_what_a_plan_from_data_can_lose_is_told_in_the_users_units() -> None:
    # −1 for a step and 1 for a delivery is mapped onto 0 and 1: losses are twice those of the mapped task.
    costs, shifted = with_step_costs(2.0, -1.0), with_step_costs(1.0, 0.0)
    data = praemia.explore(shifted, num_episodes=300, seed=2)
    own, unit = (praemia.plan_from(data, task.machine) for task in (costs, shifted))
    np.testing.assert_array_equal(own.policy, unit.policy)
    assert own.value == pytest.approx(2.0 * unit.value - costs.horizon)
    assert own.certificate.bound == pytest.approx(2.0 * unit.certificate.bound)
    assert own.certificate.largest == pytest.approx(2.0 * unit.certificate.largest)
    assert own.certificate.optimistic == pytest.approx(2.0 * unit.certificate.optimistic - costs.horizon)
    assert own.certificate.pessimistic == pytest.approx(2.0 * unit.certificate.pessimistic - costs.horizon)
    assert own.likely_loss == pytest.approx(2.0 * unit.likely_loss)
    assert own.gap(costs) <= own.certificate.bound
