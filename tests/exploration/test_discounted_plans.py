"""Plans from data with a discount: as with a machine that halts, for data, plans, certificates, draws and commands."""

from __future__ import annotations

import numpy as np
import pytest
from helpers_exploration import tiny_task
from strategies import halting, with_rewards

import praemia
from praemia import Task
from praemia.exploration import Dataset, explore, plan_from
from praemia.exploration.estimate import Estimate
from praemia.exploration.likely_loss import Posterior

BOUNDS = ("bound", "largest", "optimistic", "pessimistic")


def explored(seed: int, *, discount: float = 0.8, episodes: int = 60, costs: bool = False) -> tuple[Task, Dataset]:
    task = tiny_task(seed, num_observations=4, horizon=5).with_discount(discount)
    if costs:
        task = task.with_machine(with_rewards(task.machine, -2.0, 1.0))
    return task, explore(task, num_episodes=episodes, seed=seed)


@pytest.mark.parametrize("costs", [False, True])
@pytest.mark.parametrize(("seed", "episodes"), [(0, 20), (1, 60), (2, 600), (3, 20_000)])
def test_a_plan_and_its_certificate_are_those_for_a_machine_that_halts(seed: int, episodes: int, costs: bool) -> None:
    """In the unit range a halted machine with costs pays for all steps left, so what it can lose at most is more."""
    task, data = explored(seed, episodes=episodes, costs=costs)
    plan, other = plan_from(data, task.machine), plan_from(data, halting(task).machine, discount=1.0)
    assert plan.estimate.discount == 0.8  # type: ignore[union-attr]
    assert plan.value == pytest.approx(other.value, rel=1e-12)
    assert plan.true_value(task) == pytest.approx(other.true_value(task), rel=1e-12)
    assert plan.optimum(task) == praemia.solve(task).value
    assert plan.gap(task) <= plan.certificate.bound <= other.certificate.bound + 1e-9
    assert plan.certificate.largest < other.certificate.largest or not costs
    for name in () if costs else BOUNDS:
        expected = getattr(other.certificate, name)
        assert getattr(plan.certificate, name) == pytest.approx(expected, rel=1e-9, abs=1e-12), name


@pytest.mark.parametrize("seed", range(3))
def test_values_in_a_posterior_draw_are_those_of_a_machine_that_halts(seed: int) -> None:
    task, data = explored(seed)
    estimates = Estimate.of(data, task.machine), Estimate.of(data, halting(task).machine, discount=1.0)
    values = []
    for estimate in estimates:
        policy = praemia.solve(estimate.model).policy
        drawn = Posterior(estimate, seed).draw()
        values.append([praemia.solve(drawn).value, praemia.evaluate(drawn, policy).value])
    np.testing.assert_allclose(values[0], values[1], rtol=1e-12)


def test_a_task_without_a_horizon_is_explored_over_the_steps_that_count() -> None:
    task = tiny_task(1).with_discount(0.5).with_horizon(None)
    data = explore(task, num_episodes=20)
    assert (data.horizon, data.discount) == (40, 0.5)
    plan = plan_from(data, task.machine)
    assert plan.optimum(task) == pytest.approx(praemia.solve(task).value, rel=1e-9)
