"""Q-learning and CRM against their update rule, written out step by step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from learner_oracles import Watched
from line_walks import arrival, box, walk

from praemia import envs, evaluate, learners, simulate, solve
from praemia.errors import PraemiaError
from praemia.simulation.loop import run_loop
from praemia.simulation.task_world import TaskWorld
from praemia.tasks.task import Task

RATE, DISCOUNT, INITIAL = 0.3, 0.8, 0.5


class Diarist(Watched):
    """A watched learner that also keeps the last step before every plan, and the table after it."""

    def __init__(self, learner: Any) -> None:
        super().__init__(learner)
        self.steps: list[tuple[int, ...]] = []
        self.rewards: list[float] = []
        self.tables: list[Any] = []

    def plan(self, experience: Any, previous: Any, rng: np.random.Generator) -> Any:
        made = super().plan(experience, previous, rng)
        if (recent := experience.recent) is not None:
            self.steps.append(tuple(recent.steps[-1].tolist()))
            self.rewards.append(float(recent.rewards[-1]))
            self.tables.append(made.memory[0].table.copy())
        return made


def learned(task: Task, player: Diarist, *, for_all_states: bool) -> dict[Any, float]:
    """Return Q after the steps of a diary, by the update rule and nothing else."""
    machine, labels = task.machine, task.mdp.label_sets
    num_states, num_actions = task.num_observations, task.num_actions
    table = dict.fromkeys(np.ndindex(num_states, machine.num_states, num_actions), INITIAL)

    def later(z: int, m: int) -> float:
        over = z >= num_states or m in task.done_states
        return 0.0 if over else max(table[z, m, b] for b in range(num_actions))

    for (o, a, z, label, m, m_next), reward in zip(player.steps, player.rewards, strict=True):
        for state in range(machine.num_states) if for_all_states else [m]:
            target = reward + DISCOUNT * later(z, m_next)
            if for_all_states:
                outcomes = machine.outcomes(machine.states[state], labels[label])
                target = sum(
                    out.probability * (out.reward.mean + DISCOUNT * later(z, machine.states.index(out.target)))
                    for out in outcomes
                )
            table[o, state, a] += RATE * (target - table[o, state, a])
    return table


@pytest.mark.parametrize("name", ["q-learning", "crm"])
@pytest.mark.parametrize(
    "task",
    [envs.make("riverswim-4", horizon=9), envs.make("warehouse-2", horizon=8), walk(arrival(moving=0.25))],
    ids=lambda task: task.name,
)
def test_the_table_is_that_of_the_update_rule(name: str, task: Task) -> None:
    """A machine without chance, one with it, and one that is done before the horizon."""
    player = Diarist(learners.make(name, learning_rate=RATE, discount=DISCOUNT, initial_value=INITIAL))
    run = simulate(task, player, 40, 5)
    assert len(player.steps) == run.steps.sum() - 1  # nothing is learned from the last step of a run
    expected = learned(task, player, for_all_states=name == "crm")
    made = player.tables[-1].reshape(task.num_observations, task.num_actions, -1).swapaxes(1, 2)
    np.testing.assert_allclose([made[place] for place in expected], list(expected.values()), atol=1e-12)


@pytest.mark.parametrize("name", ["q-learning", "crm"])
def test_the_policy_is_greedy_after_every_step(name: str) -> None:
    task = envs.make("riverswim-4", horizon=9)
    player = Diarist(learners.make(name, epsilon=0.2))
    simulate(task, player, 20, 1)
    for (o, *_), table, plan in zip(player.steps, player.tables, player.plans[1:], strict=True):
        values = table.reshape(4, 2, 2)[o]  # [a, m]
        for m in range(2):
            assert values[plan.policy[0, m, o], m] == values[:, m].max()
        assert np.all(plan.policy == plan.policy[0])


def test_values_are_those_of_the_greedy_policies() -> None:
    task, player = envs.make("warehouse-2", horizon=8), Diarist(learners.make("crm", epsilon=0.5))
    run = simulate(task, player, 60, 4)
    before = np.concatenate(([0], np.cumsum(run.steps)))[run.plan_episodes]
    values = [evaluate(task, player.plans[number].policy).value for number in before.tolist()]
    np.testing.assert_allclose(run.plan_values, values, atol=1e-12)


@pytest.mark.parametrize("name", ["q-learning", "crm"])
def test_single_plans_and_compiled_ones_learn_the_same(name: str) -> None:
    task, learner = envs.make("warehouse-3").with_until_done(), learners.make(name)
    run = simulate(task, learner, 80, 7)
    world = TaskWorld(task, learner, 80, (7,))
    run_loop(world, 80, on_plan=lambda: None)
    np.testing.assert_array_equal(world.log.returns, run.returns)
    np.testing.assert_array_equal(world.log.losses, run.path_losses)
    np.testing.assert_array_equal(world.log.plans["value"][: world.num_plans], run.plan_values)


def test_actions_are_random_as_often_as_epsilon_says() -> None:
    """Of 4,000 steps at ε = .3 with two actions, .15 go against the plan: within 4 standard errors, error level 10⁻⁴.

    With learning rate 0 nothing is learned and the plan stays what it is.
    """
    task = envs.make("riverswim-4", horizon=10)
    player = Diarist(learners.make("q-learning", epsilon=0.3, learning_rate=0.0))
    simulate(task, player, 400, 2)
    actions = np.array([step[:5] for step in player.steps])
    plans = player.plans[: len(actions)]
    against = np.mean([p.policy[0, m, o] != a for p, (o, a, _, _, m) in zip(plans, actions.tolist(), strict=True)])
    assert abs(against - 0.15) <= 4 * np.sqrt(0.15 * 0.85 / len(actions))


@pytest.mark.parametrize("name", ["q-learning", "crm"])
@pytest.mark.parametrize("world", [walk(arrival()), box(arrival())], ids=["task", "box"])
def test_the_way_is_learned(name: str, world: Any) -> None:
    run = simulate(world, learners.make(name, learning_rate=1.0), 200, 3)
    assert run.returns[-50:].mean() > 0.9
    if run.optimal_value is not None:
        assert run.plan_values[-1] == pytest.approx(solve(world).value)
        assert np.all(np.diff(run.plan_episodes) > 0)


def test_many_plans_are_noted_at_points_that_grow_by_two_percent() -> None:
    run = simulate(envs.make("warehouse-3"), learners.make("crm"), 4_000, 1)
    steps = np.concatenate(([0], np.cumsum(run.steps)))[run.plan_episodes]
    late = steps[1:] > 50 * run.steps.max()
    assert len(steps) < 400
    assert np.all((np.diff(steps) <= steps[:-1] // 50 + run.steps.max())[late])


@pytest.mark.parametrize("name", ["q-learning", "crm"])
@pytest.mark.parametrize("rule", ["episode", "doubling", "step-at-once"])
def test_learning_from_steps_has_one_rule(name: str, rule: str) -> None:
    with pytest.raises(PraemiaError, match="replan rule"):
        learners.make(name, replan=rule)
