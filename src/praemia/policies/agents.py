"""Agents as policies: ask an agent what it does in every machine state and observation, and at every step.

An agent has ``predict(observation, deterministic=True) -> (action, state)``, as in stable-baselines3, and is shown what
``praemia.envs.TaskEnv`` shows; or it is a function ``(observation, machine_state, step) -> action``, of integers.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from reprlib import repr as brief
from typing import Any, Protocol, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from praemia._support.arithmetic import ordered_sum
from praemia._support.limits import require_memory
from praemia.envs.machine_wrapper import beside, with_machine_state
from praemia.errors import ModelError
from praemia.tasks.task import Task


class Predictor(Protocol):
    """An agent of stable-baselines3, or like one."""

    def predict(self, observation: Any, *, deterministic: bool = ...) -> tuple[Any, Any]:
        """Return an action, and the agent's own memory: None, if it has none."""


Agent: TypeAlias = Predictor | Callable[[int, int, int], Any]

EXPECTED = (
    "expected an agent with predict(observation, deterministic=True) -> (action, state), or a function "
    "(observation, machine_state, step) -> action"
)


def is_agent(policy: object) -> TypeGuard[Agent]:
    """Tell an agent or a function from a policy that is an array."""
    return hasattr(policy, "predict") or callable(policy)


def agent_policy(task: Task, agent: Any, *, deterministic: bool) -> NDArray[Any]:
    """Return what an agent does, as a policy [H, M, O] of actions or [H, M, O, A] of their probabilities."""
    shape = (task.max_steps, task.num_machine_states, task.num_observations)
    require_agent(agent)
    if not hasattr(agent, "predict"):
        return _asked_at_every_step(task, agent, shape)
    from gymnasium.spaces import Discrete

    space = with_machine_state(Discrete(shape[2]), shape[1])
    shown, ask = shown_to(agent, space, Discrete(task.num_actions)), _action_of if deterministic else _probabilities_of
    seen = [[shown(beside(np.int64(o), np.int64(m))) for o in range(shape[2])] for m in range(shape[1])]
    once = np.array([[ask(agent, observation, task.num_actions) for observation in row] for row in seen])
    return np.broadcast_to(once, (task.max_steps, *once.shape))


def require_agent(agent: Any) -> None:
    """Refuse what cannot be called as an agent or a function is, before it fails inside."""
    if isinstance(agent, type):
        raise ModelError(f"{agent.__name__} is a class; {EXPECTED}")
    asks = hasattr(agent, "predict")
    try:
        signature = inspect.signature(agent.predict if asks else agent)
    except (ValueError, TypeError):  # functions written in C may have no signature
        return
    try:
        signature.bind(*((None,) if asks else (0, 0, 0)), **({"deterministic": True} if asks else {}))
    except TypeError:
        name = f"{type(agent).__name__}.predict" if asks else getattr(agent, "__name__", type(agent).__name__)
        raise ModelError(f"{name} takes {signature}; {EXPECTED}") from None


def _asked_at_every_step(task: Task, function: Callable[..., Any], shape: tuple[int, int, int]) -> NDArray[Any]:
    """Ask a function for its action, or for the probability of each, in every machine state and at every step."""
    require_memory(8 * task.num_actions * shape[0] * shape[1] * shape[2], "what a function does at every step")
    steps, states, observations = (range(size) for size in shape)
    answers = [[[function(o, m, h) for o in observations] for m in states] for h in steps]
    try:
        return np.array(answers)
    except (ValueError, TypeError):
        raise ModelError(
            "the function does not always return the same kind of answer; expected an action everywhere, "
            f"or the probabilities of all {task.num_actions} actions everywhere"
        ) from None


def shown_to(agent: Any, space: Any, action_space: Any) -> Callable[[dict[str, Any]], Any]:
    """Return what makes of an element of a space, which has the machine's state, what an agent sees of it.

    That is the element itself, or the vector that it is flattened to.
    """
    from gymnasium.spaces import flatten, flatten_space

    own, actions = (getattr(agent, name, None) for name in ("observation_space", "action_space"))
    if actions is not None and actions != action_space:
        raise ModelError(f"the agent's action space is {actions}; expected {action_space}")
    if own is None or own == space:
        return lambda shown: shown
    if own == flatten_space(space):
        return partial(flatten, space)
    raise ModelError(
        f"the agent's observation space is {own}; expected that of TaskEnv or MachineWrapper, {space}, or the same in "
        "gymnasium.wrappers.FlattenObservation; for another one, give a function (observation, machine_state, step) "
        "-> action that asks the agent"
    )


def _action_of(agent: Any, observation: Any, num_actions: int) -> int:
    answer = agent.predict(observation, deterministic=True)
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise ModelError(f"predict returned {brief(answer)}; {EXPECTED}")
    action, memory = answer
    if memory is not None:
        raise ModelError(
            "the agent has a memory of its own (predict returned a state), so what it does is no function of "
            "observation and machine state; only agents without one can be scored exactly"
        )
    number = np.asarray(action)
    if number.size != 1 or not np.issubdtype(number.dtype, np.integer):
        raise ModelError(f"the agent chose {brief(action)}; expected an integer from 0 to {num_actions - 1}")
    return int(number.reshape(()))


def _probabilities_of(agent: Any, observation: Any, num_actions: int) -> NDArray[np.float64]:
    """Return the probability of each action, from the agent's distribution, as stable-baselines3 has it."""
    try:
        prepared, _ = agent.policy.obs_to_tensor(observation)
        probs = agent.policy.get_distribution(prepared).distribution.probs
    except AttributeError:
        raise ModelError(
            f"{type(agent).__name__} has no action probabilities (policy.get_distribution); "
            "leave out deterministic=False"
        ) from None
    plain = probs.detach().cpu().numpy() if hasattr(probs, "detach") else np.asarray(probs)
    if plain.size != num_actions:
        raise ModelError(f"the agent has {plain.size} action probabilities; expected {num_actions}")
    weights = plain.reshape(num_actions).astype(np.float64)
    total: NDArray[np.float64] = weights / ordered_sum(weights)  # single precision sums to 1 only roughly
    return total
