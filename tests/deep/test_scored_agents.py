"""Agents of stable-baselines3 are scored exactly in a task. Run by ``make test-deep``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("stable_baselines3", reason="run by make test-deep")

import torch
from gymnasium.wrappers import FlattenObservation
from stable_baselines3 import DQN, PPO

import praemia

torch.set_num_threads(1)
TASK = praemia.envs.warehouse(size=2, horizon=8)
EPISODES = 200


def mean_return(agent: Any, env: Any, *, deterministic: bool) -> tuple[float, float]:
    """Return the mean return of episodes that are played, and its standard error."""
    returns = []
    for number in range(EPISODES):
        (shown, _), total, truncated = env.reset(seed=number), 0.0, False
        while not truncated:
            action, _ = agent.predict(shown, deterministic=deterministic)
            shown, reward, _, truncated, _ = env.step(int(action))
            total += reward
        returns.append(total)
    return float(np.mean(returns)), float(np.std(returns, ddof=1) / EPISODES**0.5)


@pytest.mark.parametrize("flat", [False, True], ids=["dictionary", "vector"])
@pytest.mark.parametrize("deterministic", [True, False])
def test_the_exact_value_of_ppo_is_the_mean_of_what_it_earns(flat: bool, deterministic: bool) -> None:
    """Within four standard errors: each of the four fails in vain with a probability of about 0.0001."""
    env: Any = praemia.envs.TaskEnv(TASK)
    env = FlattenObservation(env) if flat else env
    policy = "MlpPolicy" if flat else "MultiInputPolicy"
    agent = PPO(policy, env, n_steps=256, batch_size=64, n_epochs=4, seed=0, policy_kwargs={"net_arch": [16]}).learn(
        512
    )
    exact = praemia.evaluate(TASK, agent, deterministic=deterministic).value
    mean, error = mean_return(agent, env, deterministic=deterministic)
    assert exact > 0.0
    assert abs(exact - mean) <= 4.0 * error + 1e-9


def test_dqn_has_no_action_probabilities() -> None:
    agent = DQN("MultiInputPolicy", praemia.envs.TaskEnv(TASK), buffer_size=100)
    assert 0.0 <= praemia.evaluate(TASK, agent).value <= praemia.solve(TASK).value
    with pytest.raises(praemia.PraemiaError, match="DQN has no action probabilities"):
        praemia.evaluate(TASK, agent, deterministic=False)
