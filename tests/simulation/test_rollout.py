"""Episodes, step by step."""

from __future__ import annotations

import numpy as np
import pytest

import praemia
from praemia import envs
from praemia.errors import ParameterError


def test_an_episode_is_one_that_can_happen_and_follows_the_policy() -> None:
    task = envs.make("random-8x3x4-2")
    policy = praemia.solve(task).policy
    dense = task.mdp.to_dense()
    for seed in range(5):
        episode = praemia.rollout(task, policy, seed)
        assert len(episode) == task.horizon
        assert episode.steps[0].machine_state == task.machine.index[task.machine.initial]
        for step, after in zip(episode.steps, episode.steps[1:], strict=False):
            assert (after.observation, after.machine_state) == (step.next_observation, step.next_machine_state)
        for step in episode:
            assert step.action == policy[step.step, step.machine_state, step.observation]
            assert dense[step.observation, step.action, step.next_observation] > 0.0
            outcomes = task.machine.outcomes(task.machine.states[step.machine_state], set(step.label))
            assert task.machine.states[step.next_machine_state] in {outcome.target for outcome in outcomes}


def test_the_mean_return_of_episodes_is_the_value_of_the_policy() -> None:
    task = envs.warehouse(size=2)
    plan = praemia.solve(task)
    returns = np.array([praemia.rollout(task, plan.policy, seed).total_reward for seed in range(600)])
    error = np.sqrt(plan.value * (1 - plan.value) / len(returns))  # one delivery, paid 1
    assert abs(returns.mean() - plan.value) < 4 * error


def test_a_seed_is_an_episode() -> None:
    task = envs.warehouse(size=3)
    policy = np.full((9, 3, 9, 5), 0.2)
    one, same, other = (praemia.rollout(task, policy, seed).steps for seed in (4, 4, 5))
    assert one == same
    assert one != other
    assert len({step.action for step in one}) > 1
    with pytest.raises(ParameterError, match="seed=-1"):
        praemia.rollout(task, policy, seed=-1)


def test_printed_it_is_a_table_with_names() -> None:
    task = envs.grid(
        "Sg",
        legend={"g": "goal"},
        machine=praemia.MachineBuilder("out").edge("out", "goal", "done", reward=2).build(),
        horizon=1,
        slip=0.0,
    )
    assert str(praemia.rollout(task, praemia.solve(task).policy)).splitlines() == [
        "step  observation  action  label   reward  machine state",
        "   0          0,0  right   {goal}       2  out → done",
        "return 2",
    ]


def test_a_seed_of_numpy_is_a_seed() -> None:
    task = envs.warehouse(size=2)
    plan = praemia.solve(task)
    assert praemia.rollout(task, plan, np.int64(3)).steps == praemia.rollout(task, plan, 3).steps  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="seed=-1"):
        envs.TaskEnv(task).reset(seed=-1)
