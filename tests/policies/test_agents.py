"""Agents are scored exactly: asked in every state, their value is that of the same policy as an array."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete, unflatten
from gymnasium.wrappers import FlattenObservation
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import tasks

from praemia import envs, evaluate
from praemia.envs import TaskEnv
from praemia.errors import ModelError, ParameterError
from praemia.tasks.task import Task

TASK = envs.make("warehouse-3")
M, O, A = TASK.num_machine_states, TASK.num_observations, TASK.num_actions  # noqa: E741


class Agent:
    """A table of action probabilities [M, O, A] with the methods of an agent of stable-baselines3."""

    def __init__(self, probs: Any, env: Any, memory: Any = None) -> None:
        self.probs, self.memory, self.shown = np.asarray(probs), memory, TaskEnv(env.unwrapped.task).observation_space
        self.observation_space, self.action_space = env.observation_space, env.action_space
        self.policy = SimpleNamespace(obs_to_tensor=lambda seen: (seen, False), get_distribution=self._distribution)

    def predict(self, observation: Any, state: Any = None, deterministic: bool = False) -> tuple[Any, Any]:
        assert self.observation_space.contains(observation)
        assert deterministic
        return np.argmax(self._row(observation)), self.memory

    def _row(self, shown: Any) -> Any:
        parts = shown if isinstance(shown, dict) else unflatten(self.shown, shown)
        return self.probs[parts["machine_state"], parts["observation"]]

    def _distribution(self, shown: Any) -> Any:
        # A batch of one, in single precision, as networks have it.
        return SimpleNamespace(distribution=SimpleNamespace(probs=self._row(shown)[np.newaxis].astype(np.float32)))


def table(seed: int, shape: tuple[int, ...] = (M, O, A)) -> Any:
    return np.random.default_rng(seed).dirichlet(np.ones(shape[-1]), shape[:-1])


def throughout(task: Task, policy: Any) -> Any:
    return np.broadcast_to(policy, (task.horizon, *policy.shape))


@pytest.mark.parametrize("wrap", [lambda env: env, FlattenObservation], ids=["dictionary", "vector"])
def test_the_value_of_an_agent_is_that_of_its_policy(wrap: Any) -> None:
    agent = Agent(table(1), wrap(TaskEnv(TASK)))
    expected = evaluate(TASK, throughout(TASK, np.argmax(table(1), axis=-1)))
    np.testing.assert_array_equal(evaluate(TASK, agent).values, expected.values)


@pytest.mark.parametrize("wrap", [lambda env: env, FlattenObservation], ids=["dictionary", "vector"])
def test_with_its_probabilities_an_agent_has_the_value_of_its_randomised_policy(wrap: Any) -> None:
    agent = Agent(table(2), wrap(TaskEnv(TASK)))
    expected = evaluate(TASK, throughout(TASK, table(2))).value
    assert evaluate(TASK, agent, deterministic=False).value == pytest.approx(expected, abs=1e-5)


def test_an_agent_that_does_not_tell_its_spaces_is_shown_dictionaries() -> None:
    class Plain:
        def predict(self, observation: Any, deterministic: bool = False) -> tuple[Any, Any]:
            return [int(observation["machine_state"])], None  # an action may come in an array of one

    expected = throughout(TASK, np.repeat(np.arange(M)[:, np.newaxis], O, axis=1))
    assert evaluate(TASK, Plain()).value == evaluate(TASK, expected).value


@settings(max_examples=25, deadline=None)
@given(task=tasks(), data=st.data())
def test_a_function_of_observation_machine_state_and_step_has_the_value_of_its_array(task: Task, data: Any) -> None:
    shape = (task.horizon, task.num_machine_states, task.num_observations)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    actions, probs = rng.integers(task.num_actions, size=shape), rng.dirichlet(np.ones(task.num_actions), shape)
    assert evaluate(task, lambda o, m, h: actions[h, m, o]).value == evaluate(task, actions).value
    assert evaluate(task, lambda o, m, h: probs[h, m, o]).value == evaluate(task, probs).value


# Bad input


def with_space(**spaces: Any) -> Agent:
    agent = Agent(table(1), TaskEnv(TASK))
    for name, space in spaces.items():
        setattr(agent, name, space)
    return agent


class Odd(Agent):
    def __init__(self, answer: Any) -> None:
        super().__init__(table(1), TaskEnv(TASK))
        self.answer = answer

    def predict(self, observation: Any, state: Any = None, deterministic: bool = False) -> tuple[Any, Any]:
        return self.answer, None


class Bare:
    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def predict(self, observation: Any, deterministic: bool = False) -> Any:
        return self.answer


class NoChoice:
    def predict(self, observation: Any) -> tuple[Any, Any]:
        return 0, None


PROTOCOL = r"; expected an agent with predict\(observation, deterministic=True\) -> \(action, state\), or a function"


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        (with_space(observation_space=Box(0.0, 1.0, (12,))), r"space is Box.*that of TaskEnv.*give a function"),
        (with_space(observation_space=Discrete(M * O)), r"observation space is Discrete\(27\).*FlattenObservation"),
        (with_space(action_space=Discrete(3)), r"action space is Discrete\(3\); expected Discrete\(5\)"),
        (Agent(table(1), TaskEnv(TASK), memory=(np.zeros(3),)), r"memory of its own.*exactly"),
        (Odd(np.array([0.3])), r"the agent chose array\(\[0.3\]\); expected an integer from 0 to 4"),
        (Odd(np.array([1, 2])), r"the agent chose array\(\[1, 2\]\)"),
        (Odd(7), r"actions 7 … 7; expected 0 … 4"),
        (lambda o, m, h: 0.5, r"type float64; expected integers"),
        (lambda o, m, h: [0.5, 0.5] if o else 0, r"does not always return the same kind of answer"),
        (lambda o, m, h: [0.5, 0.4, 0.0, 0.0, 0.0], r"probabilities are not all ≥ 0 with sum 1"),
        (Bare(1), f"predict returned 1{PROTOCOL}"),
        (Bare(None), f"predict returned None{PROTOCOL}"),
        (Bare((1, None, 2)), rf"predict returned \(1, None, 2\){PROTOCOL}"),
        (NoChoice(), rf"NoChoice.predict takes \(observation.*{PROTOCOL}"),
        (NoChoice, f"NoChoice is a class{PROTOCOL}"),
        (lambda o, m: 0, rf"<lambda> takes \(o, m\){PROTOCOL}"),
    ],
)  # fmt: skip
def test_agents_that_do_not_fit_are_refused(agent: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        evaluate(TASK, agent)


def test_probabilities_are_asked_only_of_agents_that_have_them() -> None:
    agent = Agent(table(1), TaskEnv(TASK))
    agent.policy = SimpleNamespace()
    with pytest.raises(ModelError, match="Agent has no action probabilities"):
        evaluate(TASK, agent, deterministic=False)
    with pytest.raises(ParameterError, match=r"deterministic=False is for agents"):
        evaluate(TASK, throughout(TASK, table(2)), deterministic=False)


def test_errors_inside_a_function_are_its_own() -> None:
    with pytest.raises(TypeError, match="mine"):
        evaluate(TASK, failing)


def failing(o: int, m: int, h: int) -> int:
    raise TypeError("mine")
