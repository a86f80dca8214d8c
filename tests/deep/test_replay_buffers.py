"""Learners of stable-baselines3 replay every step in every machine state. Run by ``make test-deep``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

pytest.importorskip("stable_baselines3", reason="run by make test-deep")

import torch
from gymnasium import spaces
from line_worlds import Line, line, side, there_and_back
from stable_baselines3 import DDPG, DQN, SAC, TD3
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecFrameStack, VecNormalize

import praemia
from praemia.deep import counterfactual_replay

torch.set_num_threads(1)
STATES = there_and_back().num_states
STEPS = 200


def small(**more: Any) -> dict[str, Any]:
    """Return settings that make learning cheap. Learners write into them, so each has its own."""
    return {"learning_starts": 40, "batch_size": 16, "buffer_size": 6_000, "policy_kwargs": {"net_arch": [16]}} | more


def discrete_line(**options: Any) -> Any:
    """Make the line with three actions: left, nothing, right."""
    return line(actions=spaces.Discrete(3), **options)


def trained(learner: Any, env: Any, *, seed: int = 0, **more: Any) -> Any:
    """Return a learner that has learned for a while, with the buffer under test."""
    policy = "MultiInputPolicy" if isinstance(env.observation_space, spaces.Dict) else "MlpPolicy"
    agent = learner(policy, env, seed=seed, **small(**counterfactual_replay(env, seed) | more))
    return agent.learn(STEPS)


def shown(array: Any, row: int, env: int) -> tuple[float, int]:
    """Return the position and the machine state that a buffer holds, whatever the layout."""
    if isinstance(array, dict):
        return float(array["observation"][row, env, 0]), int(array["machine_state"][row, env].item())
    vector = array[row, env]  # the entries of a dictionary are flattened in alphabetical order
    return float(vector[STATES]), int(np.flatnonzero(vector[:STATES] > 0.5).item())


def require_true_steps(buffer: Any, live: list[int], *, settled: tuple[int, ...] = (), ends_at: float = 2.0) -> int:
    """Check each step in a buffer against the machine, and that each move was stored in every live machine state.

    Returns how many steps ended because a machine state can earn no more.
    """
    machine, ended = there_and_back(), 0
    assert buffer.size() > 0
    for env in range(buffer.n_envs):
        for begin in range(0, buffer.size(), len(live)):
            moves, met = set(), []
            for row in range(begin, begin + len(live)):
                (at, m), (to, after) = shown(buffer.observations, row, env), shown(buffer.next_observations, row, env)
                outcomes = machine.outcomes(machine.states[m], side([at], None, [to], {}))
                rewards = {machine.index[out.target]: out.reward.values for out in outcomes}
                assert buffer.rewards[row, env] in rewards[after]
                terminated = bool(buffer.dones[row, env] * (1 - buffer.timeouts[row, env]))
                assert terminated == (after in settled or to > ends_at)
                ended += after in settled
                moves.add((at, to, tuple(np.atleast_1d(buffer.actions[row, env]).tolist())))
                met.append(m)
            assert len(moves) == 1
            assert sorted(met) == live
    return ended


@pytest.mark.parametrize("learner", [SAC, TD3, DDPG])
def test_learners_of_continuous_actions_train_with_it(learner: Any) -> None:
    agent = trained(learner, line(flat=True, until_done=True))
    assert agent.replay_buffer.size() == 2 * STEPS
    assert require_true_steps(agent.replay_buffer, [0, 1], settled=(2,)) > 0
    action, _ = agent.predict(agent.env.reset())
    assert agent.action_space.contains(action[0])


@pytest.mark.parametrize("flat", [False, True], ids=["dictionary", "vector"])
def test_dqn_trains_with_it(flat: bool) -> None:
    agent = trained(DQN, discrete_line(flat=flat))
    assert agent.replay_buffer.size() == 3 * STEPS
    require_true_steps(agent.replay_buffer, [0, 1, 2])


@pytest.mark.parametrize("flat", [False, True], ids=["dictionary", "vector"])
def test_dqn_trains_on_a_built_in_task(flat: bool) -> None:
    task = praemia.envs.warehouse(size=3)
    env = praemia.envs.TaskEnv(task.with_until_done())
    agent = trained(DQN, gymnasium.wrappers.FlattenObservation(env) if flat else env)
    assert agent.replay_buffer.size() == 2 * STEPS
    if flat:
        seen = agent.replay_buffer.observations[: 2 * STEPS, 0].reshape(STEPS, 2, -1)
        assert (seen[:, :, :3].sum(axis=1) == [1.0, 1.0, 0.0]).all()  # each step in both live machine states
        assert (np.ptp(seen[:, :, 3:], axis=1) == 0).all()


@pytest.mark.parametrize("flat", [False, True], ids=["dictionary", "vector"])
def test_several_machines_with_stage_rewards_and_shaping_are_replayed_from_dictionaries(flat: bool) -> None:
    machines = [praemia.RewardMachine.from_ltlf(f).over(["left", "right"]) for f in ("F(right & F left)", "F left")]
    space = spaces.Dict({"zone": spaces.Discrete(2), "at": spaces.Box(-1.0, 1.0, (1,), np.float32)})
    inner = gymnasium.wrappers.TransformObservation(
        Line(actions=spaces.Discrete(3)), lambda o: {"zone": int(o[0] > 0), "at": o}, space
    )
    env: Any = praemia.MachineWrapper(
        inner,
        lambda o, a, z, info: side(o["at"], a, z["at"], info),
        machines,
        8,
        shaping=0.9,
        stage_rewards={"start": lambda o, a, z, info: float(z["at"][0])},
    )
    view = env.machine_view
    buffer = trained(DQN, gymnasium.wrappers.FlattenObservation(env) if flat else env).replay_buffer
    states = len(view.states)
    assert buffer.size() == states * STEPS
    for row in range(states * STEPS):
        ends = []
        for array in (buffer.observations, buffer.next_observations):
            if flat:  # at, machine_state, zone
                at, m = array[row, 0, 0], int(np.argmax(array[row, 0, 1 : 1 + states]))
            else:
                at, m = array["at"][row, 0, 0], int(array["machine_state"][row, 0].item())
            ends.append((float(at), m))
        (_, m), (at, m_next) = ends
        machine = machines[view.machine_of(m)]
        (out,) = machine.outcomes(view.states[m], side([0.0], None, [at], {}))
        shaping = 0.9 * view.potentials[m_next] - view.potentials[m]
        expected = out.reward.mean + (at if view.states[m] == "start" else 0.0) + shaping
        assert view.states[m_next] == out.target
        assert buffer.rewards[row, 0] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("kind", [None, SubprocVecEnv], ids=["one process", "several processes"])
def test_parallel_environments_fill_rows_together(kind: Any) -> None:
    vector = make_vec_env(line, n_envs=2, seed=0, env_kwargs={"until_done": True, "flat": True}, vec_env_cls=kind)
    agent = trained(SAC, vector)
    assert agent.replay_buffer.n_envs == 2
    assert agent.replay_buffer.size() == STEPS
    require_true_steps(agent.replay_buffer, [0, 1], settled=(2,))
    vector.close()


def test_time_limits_are_no_ends_and_the_environments_ends_are() -> None:
    buffer = trained(SAC, line(horizon=4, ends_at=0.8)).replay_buffer
    require_true_steps(buffer, [0, 1, 2], ends_at=0.8)
    assert buffer.timeouts.sum() > 0
    # A limit cuts off the step in all machine states or in none.
    assert set(buffer.timeouts[: buffer.size(), 0].reshape(-1, 3).sum(axis=1)) == {0, 3}


def test_a_time_limit_around_the_machine_counts_in_every_machine_state() -> None:
    env = gymnasium.wrappers.TimeLimit(line(horizon=None), 5)
    timeouts = trained(SAC, env).replay_buffer.timeouts[: 3 * STEPS, 0].reshape(STEPS, 3)
    cut = np.arange(STEPS) % 5 == 4
    np.testing.assert_array_equal(timeouts, np.repeat(cut[:, None], 3, axis=1))


def test_time_limits_are_ends_if_the_buffer_is_told_so() -> None:
    env = line(horizon=4)
    more = counterfactual_replay(env)
    more["replay_buffer_kwargs"]["handle_timeout_termination"] = False
    buffer = trained(SAC, env, **more).replay_buffer
    assert buffer.timeouts.sum() == 0
    cut = np.arange(STEPS) % 4 == 3
    ends = buffer.dones[: 3 * STEPS, 0].reshape(STEPS, 3)
    np.testing.assert_array_equal(ends, np.repeat(cut[:, None], 3, axis=1))


def test_the_step_that_another_wrapper_shows_is_kept() -> None:
    env = gymnasium.wrappers.TimeAwareObservation(gymnasium.wrappers.TimeLimit(line(horizon=None), 4), flatten=False)
    buffer = trained(SAC, env).replay_buffer
    steps = buffer.next_observations["time"][: 3 * STEPS, 0, 0]
    np.testing.assert_array_equal(steps, np.repeat(np.arange(STEPS) % 4 + 1, 3))


def test_a_full_buffer_drops_the_oldest() -> None:
    buffer = trained(SAC, line(flat=True), buffer_size=300).replay_buffer
    assert buffer.full
    require_true_steps(buffer, [0, 1, 2])


def test_normalised_environments_store_what_is_shown() -> None:
    vector = VecNormalize(make_vec_env(line, n_envs=1, seed=0, env_kwargs={"flat": True}))
    require_true_steps(trained(SAC, vector).replay_buffer, [0, 1, 2])


def test_the_same_seed_gives_the_same_learner() -> None:
    first, again = (trained(DQN, discrete_line(flat=True), seed=5) for _ in range(2))
    np.testing.assert_array_equal(first.replay_buffer.rewards, again.replay_buffer.rewards)
    for one, other in zip(first.policy.parameters(), again.policy.parameters(), strict=True):
        assert torch.equal(one, other)


def test_what_is_imagined_leaves_what_happens_alone() -> None:
    """While actions are random the environment's steps are the same with the buffer and without."""
    env = discrete_line(flat=True)
    with_it = trained(DQN, env, learning_starts=STEPS).replay_buffer
    without = DQN("MlpPolicy", discrete_line(flat=True), seed=0, **small(learning_starts=STEPS)).learn(STEPS)
    plain = without.replay_buffer
    np.testing.assert_array_equal(with_it.observations[: 3 * STEPS : 3], plain.observations[:STEPS])
    np.testing.assert_array_equal(with_it.rewards[: 3 * STEPS : 3], plain.rewards[:STEPS])


def test_learner_and_buffer_can_be_saved_and_learn_on(tmp_path: Path) -> None:
    env = discrete_line()
    agent = trained(DQN, env)
    agent.save(tmp_path / "agent")
    agent.save_replay_buffer(tmp_path / "buffer")
    loaded = DQN.load(tmp_path / "agent", env=env)
    loaded.load_replay_buffer(tmp_path / "buffer")
    loaded.learn(100, reset_num_timesteps=False)
    assert loaded.replay_buffer.size() == 3 * (STEPS + 100)


def test_a_buffer_that_shares_observations_between_steps_is_refused() -> None:
    env = line(flat=True)
    with pytest.raises(praemia.PraemiaError, match=r"optimize_memory_usage=True.*leave it out"):
        SAC("MlpPolicy", env, optimize_memory_usage=True, **counterfactual_replay(env))


def test_wrappers_that_change_what_is_seen_are_refused() -> None:
    vector = VecFrameStack(make_vec_env(line, n_envs=1, env_kwargs={"flat": True}), 2)
    with pytest.raises(praemia.PraemiaError, match=r"a wrapper changes the observations"):
        trained(SAC, vector)


def test_a_seed_is_a_whole_number() -> None:
    with pytest.raises(praemia.PraemiaError, match=r"seed=-1; expected an integer of at least 0"):
        counterfactual_replay(line(), seed=-1)


@pytest.mark.parametrize(
    ("other", "different"),
    [
        ({"machine": praemia.RewardMachine.from_ltlf("F(right & F left)")}, "machines"),
        ({"until_done": True}, "done_states"),
        ({"add_reward": True}, "add_reward"),
        ({"shaping": 0.9}, "shaping"),
    ],
)
def test_environments_that_differ_are_refused(other: dict[str, Any], different: str) -> None:
    arguments = {"machine": there_and_back()} | other
    vector = DummyVecEnv([line, lambda: praemia.MachineWrapper(Line(), side, **arguments)])
    with pytest.raises(praemia.PraemiaError, match=f"different {different}"):
        counterfactual_replay(vector)


@pytest.mark.parametrize("learner", [DQN, SAC, TD3, DDPG])
def test_returns_over_several_steps_are_refused(learner: Any) -> None:
    with pytest.raises(TypeError, match="multiple values for keyword argument 'n_steps'"):
        learner("MultiInputPolicy", discrete_line(), n_steps=3, **counterfactual_replay(line()))


def test_a_machine_that_begins_where_it_ends_fills_rows_too() -> None:
    never = praemia.RewardMachine(["never"], "never", ["left", "right"], [])
    machines = [there_and_back(), never]
    vector = make_vec_env(lambda: praemia.MachineWrapper(Line(), side, machines, 20, until_done=True), n_envs=2, seed=0)
    buffer = trained(SAC, vector).replay_buffer
    assert buffer.size() == STEPS // 2 * 3  # in the states out, back and never
