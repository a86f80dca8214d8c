"""At the theory's constants an optimistic learner never promises less than the optimum."""

from __future__ import annotations

import numpy as np
import pytest

from praemia import envs, learners, simulate
from praemia.learners import Learner
from praemia.tasks.task import Task

OPTIMISTIC = [name for name in learners.names() if learners.kind_of(name).optimistic]
NUM_TASKS = 40
LONG = {"mvp": 100_000}  # its constants are fifty times the others': its promises come down late


def small_task(seed: int) -> Task:
    """Return a random task so small that a few thousand episodes bring the promises below the trivial ones."""
    observations, actions, machine_states, horizon = 2 + seed % 2, 1 + seed % 3, 1 + seed % 4, 1 + seed % 3
    return envs.make(f"random-{observations}x{actions}x{machine_states}-{seed}", horizon=horizon)


def at_theory(name: str) -> Learner:
    """Return a learner with the constants under which its optimism is proved."""
    known = learners.make(name).parameters
    return learners.make(name, constants="theory") if "constants" in known else learners.make(name, bonus_scale=1.0)


@pytest.mark.parametrize("name", OPTIMISTIC)
def test_every_plan_of_a_long_run_promises_at_least_the_optimum(name: str) -> None:
    """The confidence of a run may fail with probability 0.05; with the seeds fixed here it never does."""
    learner = at_theory(name)
    telling = 0
    for seed in range(NUM_TASKS):
        task = small_task(seed)
        run = simulate(task, learner, LONG.get(name, 3_000), seed)
        assert np.all(run.optimistic_values >= run.optimal_value - 1e-9), task
        telling += run.optimistic_values[-1] < 0.9 * task.horizon
    assert telling >= NUM_TASKS // 3  # else the promises would be the trivial ones


@pytest.mark.parametrize("name", OPTIMISTIC)
def test_every_plan_of_a_short_run_promises_at_least_the_optimum(name: str) -> None:
    learner = at_theory(name)
    for seed in range(25):
        task = envs.make(f"random-5x2x3-{seed}", horizon=6)
        run = simulate(task, learner, 40, seed)
        assert np.all(run.optimistic_values >= run.optimal_value - 1e-9), task
