"""Plain oracles for exploration: loops over whole trajectories, with none of the package's planning code."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from places import Places

from praemia.exploration import Trajectory
from praemia.machines.builder import MachineBuilder
from praemia.machines.labels import LabelRule
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.task import Task

History = tuple[int, ...]  # o_1, a_1, o_2, …


def by(method: str, policy_episodes: int) -> dict[str, Any]:
    """Return the arguments of ``explore`` for a method: only EULER searches first."""
    return {"method": method} | ({"policy_episodes": policy_episodes} if method == "euler" else {})


def random_kernel(rng: np.random.Generator, num_observations: int, num_actions: int, branching: int) -> np.ndarray:
    """Return p[o, a, z] with at most ``branching`` successors each."""
    kernel = np.zeros((num_observations, num_actions, num_observations))
    for o, a in np.ndindex(num_observations, num_actions):
        chosen = rng.choice(num_observations, size=branching, replace=False)
        kernel[o, a, chosen] = rng.dirichlet(np.ones(branching))
    return kernel


def tiny_task(seed: int, num_observations: int = 3, num_actions: int = 2, horizon: int = 3, branching: int = 2) -> Task:
    """Return a random task whose label "goal" marks arriving at the last observation."""
    rng = np.random.default_rng(seed)
    kernel = random_kernel(rng, num_observations, num_actions, branching)
    rules = [LabelRule(frozenset({"goal"}), target=num_observations - 1), LabelRule(frozenset({"home"}), source=0)]
    machine = (
        MachineBuilder("a", propositions=("goal", "home"))
        .edge("a", "goal", "b", reward=1)
        .edge("b", "home & !goal", "a", reward=0.5)
        .build()
    )
    return Task(LabeledMDP.from_dense(kernel, rules), machine, horizon, f"tiny-{seed}")


def trajectories(
    kernel: np.ndarray, start: np.ndarray, policy: Callable[[History], Any], horizon: int
) -> Iterator[tuple[History, float]]:
    """Yield every whole trajectory with its probability; policy(history) returns the probabilities of actions."""

    def extend(history: History, mass: float, left: int) -> Iterator[tuple[History, float]]:
        if left == 0:
            yield history, mass
            return
        for a, chosen in enumerate(policy(history)):
            for z, p in enumerate(kernel[history[-1], a]):
                if chosen * p > 0:
                    yield from extend((*history, a, z), mass * chosen * p, left - 1)

    for o, p in enumerate(start):
        if p > 0:
            yield from extend((o,), float(p), horizon)


def flat(trajectory: Any) -> History:
    """Write a trajectory as o_1, a_1, o_2, …"""
    pairs = zip(trajectory.observations, (*trajectory.actions, -1), strict=True)
    return tuple(itertools.chain.from_iterable(pairs))[:-1]


def brute_force(kernel: np.ndarray, start: np.ndarray, reward: Callable[[History], float], horizon: int) -> float:
    """Return the largest expected reward over all deterministic policies over histories, each tried in turn."""
    num_actions = kernel.shape[1]
    histories: list[History] = []
    level: list[History] = [(o,) for o in np.flatnonzero(start).tolist()]
    for _ in range(horizon):
        histories += level
        level = [
            (*history, a, z)
            for history in level
            for a in range(num_actions)
            for z in np.flatnonzero(kernel[history[-1], a]).tolist()
        ]
    best = 0.0
    for choice in itertools.product(range(num_actions), repeat=len(histories)):
        table = dict(zip(histories, choice, strict=True))
        value = sum(
            mass * reward(history)
            for history, mass in trajectories(kernel, start, lambda h, t=table: np.eye(num_actions)[t[h]], horizon)
        )
        best = max(best, value)
    return best


def history_value(mdp: LabeledMDP, policy: Any, reward: Callable[[Any], float], horizon: int) -> float:
    """Return E[F(η)] of a policy over histories, by enumeration."""

    def probs(history: History) -> Any:
        return policy.action_probs(Trajectory(history[::2], history[1::2]))

    every = trajectories(mdp.to_dense(), mdp.start_probs, probs, horizon)
    return sum(mass * reward(Trajectory(h[::2], h[1::2])) for h, mass in every)


def return_of(task: Task, history: History) -> float:
    """Return what a deterministic machine pays on a trajectory."""
    from oracles import label_of

    state, total = task.machine.initial, 0.0
    for i in range(0, len(history) - 2, 2):
        (outcome,) = task.machine.outcomes(state, label_of(task.mdp.labelling.rules, *history[i : i + 3]))
        total += outcome.reward.mean
        state = outcome.target
    return total


class Corridor(Places):
    """Places in a row; action 1 moves right with probability 0.8, action 0 left. Reaching the end ends the episode."""

    def __init__(self, size: int = 5) -> None:
        def move(place: int, action: int, rng: np.random.Generator) -> tuple[int, bool, dict[str, Any]]:
            after = max(0, place - 1) if action == 0 else place + int(rng.random() < 0.8)
            return after, after == size - 1, {}

        super().__init__(size, move)
