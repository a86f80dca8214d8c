"""Where to go to find out what named machines' plans lose: to the pairs on which likely optima and the plan differ.

A draw from the posterior in which the plan loses much has another optimal policy than the plan. What the data must
decide is whether that policy is really better, and it can do so only where the two differ. So the draws with the
largest losses give each pair a weight,

    w(o, a) = Σ_draws loss · |μ^{π*_draw}(o, a) − μ^π̂(o, a)|,

with occupancies in p̂. What a pair contributes to the loss shrinks as w/√n, so a visit gains in proportion to w/n^{3/2};
the policy to play is the one that collects the most of this in p̂.
"""

from __future__ import annotations

import heapq
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from praemia.exploration.dataset import Dataset
from praemia.exploration.estimate import estimated_mdp, estimated_task
from praemia.exploration.likely_loss import DRAWS, LEVEL, LikelyLoss, random_numbers
from praemia.exploration.posterior import Posterior
from praemia.exploration.reach import sparse_kernel
from praemia.kernels.arrays import Actions, action_type
from praemia.models.machine import RewardMachine
from praemia.models.task import Task
from praemia.planning.exact import occupancy, solve

WORST = 25  # draws that give weights

Weights: TypeAlias = NDArray[np.float64]


def judged(dataset: Dataset, machine: RewardMachine) -> tuple[LikelyLoss, Weights]:
    """Return the likely loss of a machine's plan, equal to ``plan.likely_loss``, and the weights w[O, A] of pairs."""
    task = estimated_task(dataset, machine)
    policy = solve(task, keep_values=False).policy
    posterior = Posterior(dataset, machine, policy[:, :, :-1], None, random_numbers(0))
    worst: list[tuple[float, int, Actions]] = []

    def keep_worst(number: int, loss: float) -> None:
        if number < WORST:
            heapq.heappush(worst, (loss, number, posterior.best_policy))
        elif loss > worst[0][0]:
            heapq.heapreplace(worst, (loss, number, posterior.best_policy))

    losses = posterior.losses(DRAWS, keep_worst)
    weights, own = np.zeros(dataset.visits.shape), occupancy(task, policy).pairs[:-1]
    for loss, _, other in worst:
        weights += loss * np.abs(occupancy(task, _with_sink(task, other)).pairs[:-1] - own)
    return LikelyLoss(np.sort(losses), LEVEL, 0, posterior.draws_labels), weights


def _with_sink(task: Task, policy: Actions) -> Actions:
    """Return a policy [H, M, O] for the estimate, whose last observation is its sink."""
    padded = np.zeros((*policy.shape[:2], task.num_observations), dtype=policy.dtype)
    padded[:, :, :-1] = policy
    return padded


def most_gain(dataset: Dataset, gain: Weights) -> Actions:
    """Return the policy [H, 1, O] that collects the most of gain[O, A] in p̂; what was never visited leads nowhere."""
    size, num_actions = gain.shape
    kernel = sparse_kernel(estimated_mdp(dataset))[: gain.size, :size]
    values = np.zeros(size)
    policy = np.zeros((dataset.horizon, 1, size), dtype=action_type(num_actions))
    for h in range(dataset.horizon - 1, -1, -1):
        table = gain + (kernel @ values).reshape(size, num_actions)
        policy[h, 0], values = table.argmax(axis=1), table.max(axis=1)
    return policy
