"""Tell a policy from an optimal one by sampled episodes: the yardstick of work that has no exact values.

Welch's t test compares the returns of 100 episodes of a policy with those of 100 episodes of an optimal one. A policy
that is a little worse passes it often, and where success is rare even one that never succeeds may.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.learners.baselines import Random
from praemia.planning.exact import evaluate, solve
from praemia.simulation.loop import World, play_policy, run_loop
from praemia.simulation.task_world import TaskWorld
from praemia.tasks.task import Task

SAMPLED_EPISODES = 100


class OptimalityTest:
    """Sample the returns of policies in a task, and test them against those of an optimal policy, sampled once."""

    def __init__(self, task: Task, seed: tuple[int, ...]) -> None:
        self._world = TaskWorld(task, Random(), SAMPLED_EPISODES, (*seed, SAMPLED_EPISODES), valued=False)
        best = solve(task.model, keep_values=False).policy
        self._optimal = self._sample(best)

    def _sample(self, policy: NDArray[Any]) -> NDArray[np.float64]:
        """Return the returns of sampled episodes of policy[H, M, O]."""
        world = self._world
        for name in ("played", "steps"):
            world.progress[name] = 0
        play_policy(world, np.ascontiguousarray(policy.swapaxes(1, 2)), SAMPLED_EPISODES)
        return world.log.returns.copy()

    def p_value(self, policy: NDArray[Any]) -> float:
        """Return the p-value of the test, two-sided; NaN where no return differs from any other."""
        from scipy.stats import ttest_ind_from_stats  # which takes long to import

        own, best = ((returns.mean(), returns.std(ddof=1)) for returns in (self._sample(policy), self._optimal))
        if own[1] == best[1] == 0.0:
            return math.nan
        size = SAMPLED_EPISODES
        return float(ttest_ind_from_stats(own[0], own[1], size, best[0], best[1], size, equal_var=False).pvalue)


def tested_loop(
    world: World, task: Task, test_every: int, seed: tuple[int, ...], on_progress: Callable[[int], None] | None
) -> NDArray[np.float64]:
    """Play a run to its end, and return its tests, float64[n, 4] (``Run.tests``)."""
    test, progress = OptimalityTest(task, seed), world.progress
    budget, tests = int(progress["budget"]), []
    while world.steps_played < budget:
        progress["budget"] = min(budget, world.steps_played + test_every)
        run_loop(world, len(world.log.returns), on_progress=on_progress)
        plan, learned = world.shown(world.policy), world.shown(world.learned_policy())
        value = evaluate(task, learned, keep_values=False).value
        tests.append((float(world.steps_played), test.p_value(plan), test.p_value(learned), value))
    return np.array(tests).reshape(-1, 4)
