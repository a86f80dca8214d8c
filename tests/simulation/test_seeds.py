"""A run's two streams of random numbers: independent, from the seed alone, and each for its own purpose."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from praemia import Learner, LearnerPlan, envs, simulate
from praemia.simulation.run import generators


class Steady(Learner):
    """Take the last action, always, and draw some random numbers for nothing."""

    name: ClassVar[str] = "steady"
    draws: int = 0

    def plan(self, experience: Any, previous: Any, rng: np.random.Generator) -> LearnerPlan:
        rng.random(self.draws)
        spec = experience.spec
        shape = (spec.horizon, spec.num_machine_states, spec.num_observations)
        return LearnerPlan(np.full(shape, spec.num_actions - 1))


def test_the_streams_of_a_run_and_of_other_runs_are_different() -> None:
    seeds = [(0,), (1,), (0, 1), (1, 1), (0, 1, 1)]
    first = [stream.integers(2**63, size=4).tobytes() for seed in seeds for stream in generators(seed)]
    assert len(set(first)) == 2 * len(seeds)
    assert first == [stream.integers(2**63, size=4).tobytes() for seed in seeds for stream in generators(seed)]


def test_the_streams_of_a_run_are_not_correlated() -> None:
    """10,000 numbers of each: the correlation has the deviation 0.01; error level 1e-6."""
    world, learner = generators((5,))
    assert abs(np.corrcoef(world.random(10_000), learner.random(10_000))[0, 1]) < 0.05


def test_what_a_learner_draws_does_not_change_the_world() -> None:
    task = envs.make("riverswim-5")
    returns = [simulate(task, Steady(draws=draws), 200, 3).returns.tolist() for draws in (0, 1, 1000)]
    assert returns[0] == returns[1] == returns[2]
    assert len(set(returns[0])) > 1
