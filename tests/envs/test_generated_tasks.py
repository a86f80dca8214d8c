"""Generated and random tasks: every seed gives a task of the sizes promised, and different seeds different ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from praemia import envs, solve
from praemia.envs.generated_tasks import KINDS
from praemia.errors import PraemiaError


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 2**63 - 1))
def test_every_seed_gives_a_task_within_the_sizes_that_has_a_value(kind: str, seed: int) -> None:
    task = envs.generated_task(kind, seed)
    assert 5 <= task.num_observations <= 81
    assert 1 <= task.num_machine_states <= 12
    assert 5 <= task.horizon <= 50
    assert 0.0 < solve(task, keep_values=False).value <= task.horizon


def test_kinds_have_what_they_are_for() -> None:
    tasks = [envs.generated_task(kind, seed) for kind in KINDS for seed in range(20)]
    assert len({solve(task).value for task in tasks if "maze" not in task.name}) > 140
    assert 0.3 < np.mean([task.machine.is_deterministic for task in tasks]) < 0.7
    assert min(task.num_actions for task in tasks if "actions" in task.name) >= 8
    assert all((task.mdp.to_dense() > 0.0).all() for task in tasks if "dense" in task.name)
    assert all(2 <= np.diff(task.mdp.indptr).max() <= 3 for task in tasks if "sparse" in task.name)


@pytest.mark.parametrize("arguments", [("laek", 0), ("lake", -1), ("lake", 0, "long"), (3, 0), ("lake", 1.5)])
def test_what_cannot_be_generated_is_refused_with_one_message(arguments: tuple[object, ...]) -> None:
    with pytest.raises(PraemiaError):
        envs.generated_task(*arguments)  # type: ignore[arg-type]


@given(st.integers(1, 12), st.integers(1, 4), st.integers(1, 6), st.integers(0, 2**40), st.integers(1, 5))
def test_a_random_task_depends_on_its_arguments_alone(
    observations: int, actions: int, machine_states: int, seed: int, horizon: int
) -> None:
    sizes = (observations, actions, machine_states)
    task = envs.random_task(*sizes, horizon=horizon, seed=seed)
    again = envs.make(f"random-{observations}x{actions}x{machine_states}-{seed}", horizon=horizon + 1)
    assert (task.num_observations, task.num_actions, task.num_machine_states) == sizes
    assert np.array_equal(task.mdp.probs, again.mdp.probs)
    assert np.array_equal(task.mdp.successors, again.mdp.successors)
    assert (task.machine, task.mdp.label_sets) == (again.machine, again.mdp.label_sets)


def test_random_tasks_differ_between_seeds_and_mix_kinds_of_rewards() -> None:
    tasks = [envs.random_task(seed=seed) for seed in range(5)]
    assert len({task.machine for task in tasks}) == 5
    rewards = [out.reward for task in tasks for rule in task.machine.rules for out in rule.outcomes]
    assert {len(reward.values) for reward in rewards} >= {1, 2, 3}
    assert any(reward.is_constant and 0.0 < reward.mean < 1.0 for reward in rewards)
    assert any(not task.machine.is_deterministic for task in tasks)
