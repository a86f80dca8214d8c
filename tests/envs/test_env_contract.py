"""What holds for every built-in environment."""

from __future__ import annotations

from xml.etree import ElementTree

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import praemia.envs.gymnasium_env
from praemia import envs
from praemia.envs.registry import FAMILIES
from praemia.pictures.task_picture import task_picture
from praemia.planning.exact import solve
from praemia.tasks.task import Task

NAMES = envs.names()
TaskEnv = praemia.envs.gymnasium_env.TaskEnv


def play(env: gymnasium.Env, policy: np.ndarray, seed: int, episodes: int) -> np.ndarray:
    """Return the returns of episodes under a policy[h, m, o]."""
    returns = np.zeros(episodes)
    state, _ = env.reset(seed=seed)
    for k in range(episodes):
        for h in range(policy.shape[0]):
            action = policy[h, state["machine_state"], state["observation"]]
            state, reward, terminated, truncated, _ = env.step(int(action))
            returns[k] += env.discount**h * reward
            assert not terminated or env.task.until_done
            assert truncated == (h == policy.shape[0] - 1 and not terminated)
            if terminated:
                break
        state, _ = env.reset()
    return returns


@pytest.mark.parametrize("name", NAMES)
def test_a_name_makes_the_task_that_bears_it_whose_rows_are_distributions_and_where_something_can_be_earned(
    name: str,
) -> None:
    task = envs.make(name)
    assert task.name == name
    sums = np.add.reduceat(task.mdp.probs, task.mdp.indptr[:-1])
    assert np.abs(sums - 1.0).max() < 1e-12
    assert task.mdp.start_probs.sum() == pytest.approx(1.0, abs=1e-12)
    assert 0.2 < solve(task.with_discount(1.0)).value <= task.horizon


@pytest.mark.parametrize("name", NAMES)
def test_pictures_show_every_observation_and_are_valid_xml(name: str) -> None:
    task = envs.make(name)
    drawn = task_picture(task)
    assert len(drawn.spots) == task.num_observations
    root = ElementTree.fromstring(task.draw().svg)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    texts = {element.text for element in root.iter("{http://www.w3.org/2000/svg}text")}
    text = str(task.draw())
    for meaning, marks in drawn.legend.items():
        assert meaning in texts
        assert f"{', '.join(mark.symbol for mark in marks[:6])}  {meaning}" in text


@pytest.mark.parametrize("family", FAMILIES)
def test_gymnasium_finds_nothing_to_warn_about(family: str) -> None:
    check_env(gymnasium.make(FAMILIES[family].gymnasium_id).unwrapped)


@pytest.mark.parametrize("name", NAMES)
def test_one_seed_gives_one_trajectory(name: str) -> None:
    def trajectory(seed: int) -> list[object]:
        env = TaskEnv(envs.make(name))
        start, _ = env.reset(seed=seed)
        steps = [env.step(t % env.action_space.n) for t in range(env.task.horizon)]
        return [start, *((state, reward, info["label"]) for state, reward, _, _, info in steps)]

    assert trajectory(7) == trajectory(7)
    if not is_certain(envs.make(name)):
        assert any(trajectory(seed) != trajectory(7) for seed in range(5))


def is_certain(task: Task) -> bool:
    """Tell whether nothing in a task is left to chance."""
    return bool(np.all(task.mdp.probs == 1.0)) and task.mdp.start_probs.max() == 1.0 and task.machine.is_deterministic


@pytest.mark.parametrize("name", NAMES)
def test_the_optimal_policy_earns_its_value_on_average(name: str) -> None:
    task = envs.make(name)
    task = task.with_horizon(min(task.horizon, 200)).with_discount(max(task.discount, 0.99))  # nothing too rare
    plan = solve(task)
    returns = play(TaskEnv(task), plan.policy, seed=1, episodes=300)
    standard_error = returns.std(ddof=1) / np.sqrt(len(returns))
    assert abs(returns.mean() - plan.value) <= 4 * standard_error + 1e-12  # the last is rounding
