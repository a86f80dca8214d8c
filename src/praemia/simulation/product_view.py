"""What a learner sees that looks at product states and not at the machine: the product of a task, or of a black box.

Its observations are o · M + m, and its machine has one state: the label of a step says by which law it pays
(``praemia.tasks.product``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import gymnasium
from numpy.typing import NDArray

from praemia.envs.black_box import BlackBox
from praemia.learners.base import Learner
from praemia.machines.labels import Label
from praemia.machines.machine import RewardMachine
from praemia.planning.backward import cached_per_object
from praemia.tasks.machine_table import MachineSampler
from praemia.tasks.product import RewardLaws, product_task

product_of = cached_per_object(product_task)
LAW = "praemia-law"  # the key under which info holds the label of a step


class ProductEnv(gymnasium.Env[int, Any]):
    """A black box and its machine as one environment, which shows the number o · M + m."""

    def __init__(self, box: BlackBox) -> None:
        self.box, self.laws = box, RewardLaws(box.machine)
        self.num_states = box.machine.num_states
        self.observation_space: Any = gymnasium.spaces.Discrete(box.observations.size * self.num_states)
        self.action_space = box.env.action_space
        self._sampler = MachineSampler(box.machine)
        self._initial = box.machine.index[box.machine.initial]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        observed, info = self.box.env.reset(seed=seed, options=options)
        (o, self._shown), self._m = self.box.observe(observed), self._initial
        self.episode: list[Label] = []
        return o * self.num_states + self._m, info

    def step(self, action: Any) -> tuple[int, float, bool, bool, dict[str, Any]]:
        observed, _, terminated, truncated, info = self.box.env.step(action)
        (z, shown), before = self.box.observe(observed), self._m
        label = self.box.label(self._shown, action, shown, info)
        self._m, _ = self._sampler.step(before, label, self.np_random)
        self._shown = shown
        self.episode.append(label)
        law = self.laws.label(self.box.machine, before, label, self._m)
        terminated = terminated or self._m in self.box.done_states
        return z * self.num_states + self._m, 0.0, terminated, truncated, {**info, LAW: law}

    def label(self, s: int, a: Any, s_next: int, info: dict[str, Any]) -> Label:
        """Return the label of a step taken, from ``info``; or else what it would be."""
        if LAW in info:
            return info[LAW]  # type: ignore[no-any-return]
        (o, m), (z, m_next) = divmod(s, self.num_states), divmod(s_next, self.num_states)
        label = self.box.label(self.box.observations.element(o), a, self.box.observations.element(z), info)
        return self.laws.label(self.box.machine, m, label, m_next)


@dataclass(frozen=True, eq=False)
class ProductBox(BlackBox):
    """The product of a black box and its machine, as a black box."""

    env: ProductEnv

    def warn_of_unmet(self, num_episodes: int) -> None:
        self.env.box.warn_of_unmet(num_episodes)

    def record_episode(self, labels: Iterable[Label], rewards: Iterable[float]) -> None:
        """Record an episode with the labels of the box itself."""
        self.env.box.record_episode(self.env.episode, rewards)


def product_box(box: BlackBox) -> BlackBox:
    """Return the product of a black box and its machine, as a black box."""
    env = ProductEnv(box)
    return ProductBox(env, env.label, env.laws.machine, box.horizon, discount=box.discount, name=box.name)


def shown_policy(policy: NDArray[Any], learner: Learner, machine: RewardMachine) -> NDArray[Any]:
    """Return a policy in the world of a learner, [H, O, M, …] or [H, O·M, 1, …], as users see it: [H, M, O, …]."""
    if learner.sees == "product":
        policy = policy.reshape(policy.shape[0], -1, machine.num_states, *policy.shape[3:])
    return policy.swapaxes(1, 2)
