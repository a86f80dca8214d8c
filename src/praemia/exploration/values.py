"""The value of a policy over histories: exact where they can be enumerated, else an estimate with an interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from praemia.exploration.trajectories import HistoryPolicy, KernelView, Trajectory, TrajectoryReward, walk

MAX_HISTORIES = 50_000
SAMPLES = 2_000


@dataclass(frozen=True)
class Value:
    """A value, or the mean of sampled returns with a two-sided Hoeffding interval.

    Attributes
    ----------
    low, high : the interval; equal to ``value`` when it is exact.
    confidence : with which probability the interval holds.
    """

    value: float
    low: float
    high: float
    exact: bool
    confidence: float = 1.0

    @classmethod
    def exactly(cls, value: float) -> Value:
        return cls(value, value, value, True)

    def __str__(self) -> str:
        if self.exact:
            return f"{self.value:.6g} (exact)"
        return f"{self.value:.4g} (estimate; {self.low:.4g} … {self.high:.4g} with probability {self.confidence:g})"


def value_of_histories(
    view: KernelView,
    policy: HistoryPolicy,
    reward: TrajectoryReward,
    horizon: int,
    *,
    samples: int = SAMPLES,
    failure_prob: float = 0.05,
    seed: int = 0,
    max_histories: int = MAX_HISTORIES,
) -> Value:
    """Return Ĵ(π) = E[F(η)] in a kernel; trajectories that meet the sink are worth 0.

    All histories are enumerated when the policy makes at most ``max_histories`` of them, else episodes are sampled.
    """
    total = 0.0
    for seen, (history, mass) in enumerate(walk(view, policy, horizon)):
        if seen >= max_histories:
            return _sampled(view, policy, reward, horizon, samples, failure_prob, seed)
        if len(history.actions) == horizon:
            total += mass * reward(history)
    return Value.exactly(total)


def _sampled(
    view: KernelView,
    policy: HistoryPolicy,
    reward: TrajectoryReward,
    horizon: int,
    samples: int,
    failure_prob: float,
    seed: int,
) -> Value:
    rng = np.random.default_rng([seed, 17])
    returns = [_episode(view, policy, reward, horizon, rng) for _ in range(samples)]
    mean = math.fsum(returns) / samples
    half = reward.bound * math.sqrt(math.log(2.0 / failure_prob) / (2.0 * samples))
    return Value(mean, max(0.0, mean - half), min(reward.bound, mean + half), False, 1.0 - failure_prob)


def _episode(
    view: KernelView, policy: HistoryPolicy, reward: TrajectoryReward, horizon: int, rng: np.random.Generator
) -> float:
    history = Trajectory((pick(*view.start, rng.random()),), ())
    for _ in range(horizon):
        probs = policy.action_probs(history)
        a = pick(list(range(len(probs))), probs.tolist(), rng.random())
        successors, weights = view.row(history.last, a)
        if not successors:
            return 0.0
        history = history.then(a, pick(successors, weights, rng.random()))
    return reward(history)


def pick(items: list[int], probs: list[float], uniform: float) -> int:
    """Return the item at which the running sum of probabilities exceeds a uniform number."""
    for item, p in zip(items, probs, strict=True):
        uniform -= p
        if uniform < 0.0:
            return item
    return items[-1]
