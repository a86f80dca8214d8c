"""Score policies in a black box, where nothing is exact: play episodes, and say how sure their mean is."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from praemia._support.arithmetic import ordered_sum, students_half_width
from praemia._support.limits import MAX_EPISODES
from praemia.envs.black_box import BlackBox
from praemia.envs.machine_wrapper import beside, with_machine_state
from praemia.errors import require_whole
from praemia.planning.exact import Evaluation
from praemia.policies.agents import is_agent, require_agent, shown_to
from praemia.policies.arrays import policy_array
from praemia.policies.policy import Policy
from praemia.tasks.machine_table import MachineSampler
from praemia.tasks.model import step_weights

EPISODES, LEVEL = 100, 0.95
PURPOSE = int.from_bytes(b"evaluate", "big")  # a part of the key of the episodes' seeds: no run of training has it
Choose: TypeAlias = Callable[[Any, int, int, np.random.Generator], Any]


class Step(NamedTuple):
    """A step of an episode: machine states are indices, and so is the rest in a task; in a black box it is as shown."""

    step: int
    observation: Any
    machine_state: int
    action: Any
    label: tuple[str, ...]
    reward: float
    next_observation: Any
    next_machine_state: int


def sampled_evaluation(
    box: BlackBox, policy: Any, num_episodes: int, seed: int, *, deterministic: bool, unseen: Any
) -> Evaluation:
    """Play episodes with a policy or an agent. Episode i has a seed made of (seed, "evaluate", i)."""
    count, key = require_whole("num_episodes", num_episodes, 1, MAX_EPISODES), require_whole("seed", seed, 0)
    choose = chooser(box, policy, deterministic=deterministic, unseen=unseen)
    returns, sampler = np.empty(count), MachineSampler(box.machine)
    for i in range(count):
        rewards = [step.reward for step in play(box, choose, episode_seed(key, i), sampler)]
        returns[i] = ordered_sum(np.array(rewards) * step_weights(len(rewards), box.discount))
    nothing, interval = np.empty((0, 0, 0)), interval_of(returns, return_range(box))
    return Evaluation(float(returns.mean()), nothing, interval, returns)


def episode_seed(seed: int, number: int) -> np.random.SeedSequence:
    """Return the seed of an episode that is played to be scored."""
    return np.random.SeedSequence((seed, PURPOSE, number))


def play(
    box: BlackBox, choose: Choose, seed: np.random.SeedSequence, sampler: MachineSampler | None = None
) -> Iterator[Step]:
    """Play an episode; the environment, the machine and the policy have random numbers of their own."""
    own, machine_rng, policy_rng = seed.spawn(3)
    rng, chance = np.random.default_rng(machine_rng), np.random.default_rng(policy_rng)
    sampler, m = sampler or MachineSampler(box.machine), box.machine.index[box.machine.initial]
    try:
        shown = box.shown(box.env.reset(seed=int(own.generate_state(1)[0] >> 1))[0])
    except Exception as error:  # whatever the user's code may raise
        box.fail(error)
    for h in range(box.max_steps):
        action = choose(shown, m, h, chance)
        try:
            observed, _, terminated, truncated, info = box.env.step(action)
            after, is_over = box.shown(observed), bool(terminated or truncated)
            label = box.label(shown, action, after, info)
        except Exception as error:
            box.fail(error)
        m_next, reward = sampler.step(m, label, rng)
        yield Step(h, shown, m, action, tuple(sorted(label)), reward, after, m_next)
        shown, m = after, m_next
        if is_over or m in box.done_states:
            return


def chooser(box: BlackBox, policy: Any, *, deterministic: bool, unseen: Any) -> Choose:
    """Return a function that chooses the actions of a policy, an agent or a function, episode after episode."""
    policy = getattr(policy, "policy", policy) if not is_agent(policy) else policy
    if is_agent(policy):
        require_agent(policy)
        if hasattr(policy, "predict"):
            return _predicted(box, policy, deterministic)
        return lambda o, m, h, rng: policy(o, m, h)
    own = policy if isinstance(policy, Policy) else Policy(policy_array(policy), box)
    return partial(own.for_box(box).act, unseen=unseen)


def _predicted(box: BlackBox, agent: Any, deterministic: bool) -> Choose:
    """Return what an agent of stable-baselines3 chooses; it sees what ``MachineWrapper`` shows."""
    space = with_machine_state(box.env.observation_space, box.num_machine_states)
    shown, memory = shown_to(agent, space, box.env.action_space), [None]

    def choose(o: Any, m: int, h: int, rng: np.random.Generator) -> Any:
        seen, first, before = shown(beside(o, np.int64(m))), np.array([h == 0]), memory[0] if h > 0 else None
        action, memory[0] = agent.predict(seen, state=before, episode_start=first, deterministic=deterministic)
        return box.actions.element(box.actions.number(action))

    return choose


def interval_of(returns: NDArray[np.float64], ends: tuple[float, float]) -> tuple[float, float]:
    """Return a 95% confidence interval for the mean of returns that lie between two ends; NaN for fewer than 4.

    Student's t; where all returns are equal, another one is less probable than p = 1 − 0.025^(1/n), so the mean is at
    most p of the way to either end.
    """
    count, mean = len(returns), float(returns.mean())
    if count < 4:
        return math.nan, math.nan
    if returns.min() == returns.max():
        p = 1.0 - (0.5 * (1.0 - LEVEL)) ** (1.0 / count)
        return mean - p * max(0.0, mean - ends[0]), mean + p * max(0.0, ends[1] - mean)
    half = students_half_width(returns, LEVEL)
    return max(ends[0], mean - half), min(ends[1], mean + half)


def return_range(box: BlackBox) -> tuple[float, float]:
    """Return the lowest and the highest return that an episode can have, whatever its labels are."""
    machine = box.machine
    moves = [
        (m, machine.index[out.target], out.reward.lowest, out.reward.highest)
        for m, state in enumerate(machine.states)
        for outcomes in machine.possible_outcomes(state)
        for out in outcomes
    ]
    sources, targets = (np.array([move[i] for move in moves]) for i in (0, 1))
    least, most = (np.array([move[i] for move in moves]) for i in (2, 3))
    low, high = np.zeros(machine.num_states), np.zeros(machine.num_states)
    for _ in range(box.max_steps):  # an episode may end after any step
        low_next, high_next = np.full_like(low, np.inf), np.full_like(high, -np.inf)
        np.minimum.at(low_next, sources, least + box.discount * np.minimum(0.0, low[targets]))
        np.maximum.at(high_next, sources, most + box.discount * np.maximum(0.0, high[targets]))
        low, high = low_next, high_next
    first = machine.index[machine.initial]
    return float(low[first]), float(high[first])
