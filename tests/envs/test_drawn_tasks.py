"""Drawn tasks: every seed gives a whole task of the sizes promised, and one that can be told from the others."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from praemia import envs, solve
from praemia.envs.builtin_machines import in_any_order, in_order, moods, prices
from praemia.envs.drawn_tasks import KINDS
from praemia.errors import PraemiaError
from praemia.tasks.task import Task


def digest(task: Task) -> str:
    """Return a name for all that makes a task what it is."""
    parts = (task.mdp.indptr, task.mdp.successors, task.mdp.probs, task.mdp.start_probs)
    known = hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in parts))
    known.update(repr((task.machine, task.horizon)).encode())
    return known.hexdigest()


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 2**63 - 1))
def test_every_seed_gives_a_task_within_the_sizes_from_which_something_can_be_earned(kind: str, seed: int) -> None:
    task = envs.drawn_task(kind, seed)
    assert 5 <= task.num_observations <= 81
    assert 1 <= task.num_machine_states <= 12
    assert 5 <= task.horizon <= 50
    assert 0.0 < solve(task, keep_values=False).value <= task.horizon


@pytest.mark.parametrize("kind", KINDS)
def test_large_tasks_are_larger_and_bounded(kind: str) -> None:
    tasks = [envs.make(f"drawn-{kind}-large-{seed}") for seed in range(3)]
    assert all(task.num_observations <= 400 and task.num_machine_states <= 52 for task in tasks)
    assert all(50 <= task.horizon <= 200 for task in tasks)
    assert all(task.num_machine_states >= 9 for task in tasks)


def test_one_seed_gives_one_task_and_different_seeds_and_kinds_different_ones() -> None:
    names = [f"drawn-{kind}-{seed}" for kind in KINDS for seed in range(6)]
    digests = [digest(envs.make(name)) for name in names]
    assert digests == [digest(envs.make(name)) for name in names]
    assert len(set(digests)) == len(names)


def test_kinds_have_what_they_are_for() -> None:
    tasks = [envs.drawn_task(kind, seed) for kind in KINDS for seed in range(20)]
    assert 0.3 < np.mean([task.machine.is_deterministic for task in tasks]) < 0.7
    assert min(task.num_actions for task in tasks if "actions" in task.name) >= 8
    dense = [task for task in tasks if "dense" in task.name]
    assert all((task.mdp.to_dense() > 0.0).all() for task in dense)
    sparse = [task for task in tasks if "sparse" in task.name]
    assert all(2 <= np.diff(task.mdp.indptr).max() <= 3 for task in sparse)


def test_no_two_actions_of_a_small_store_order_the_same() -> None:
    assert len(set(envs.drawn_task("store", 513).mdp.action_names or ())) == 5


@pytest.mark.parametrize("arguments", [("laek", 0), ("lake", -1), ("lake", 0, "huge"), (3, 0), ("lake", 1.5)])
def test_what_cannot_be_drawn_is_refused_with_one_message(arguments: tuple[object, ...]) -> None:
    with pytest.raises(PraemiaError):
        envs.drawn_task(*arguments)


def word(*labels: str) -> list[set[str]]:
    return [set(label.split()) for label in labels]


def test_machines_pay_as_they_say() -> None:
    late = in_order(["a", "b"], ["a", "b", "trap"], share=0.0, again=False)
    assert sum(late.expected_rewards(word("a", "", "b", "a", "b"))) == 1.0
    assert sum(late.expected_rewards(word("a", "trap", "b"))) == 0.0
    early = in_order(["a", "b"], ["a", "b"], share=0.5, again=True, notice=0.8)
    assert sum(early.expected_rewards(word("a"))) == pytest.approx(0.4)
    bag = in_any_order(["x", "y"], "desk")
    assert sum(bag.expected_rewards(word("desk", "y", "x", "desk", "desk"))) == 1.0
    assert sum(bag.expected_rewards(word("x y", "desk"))) == 0.0  # one item at a time
    assert sum(prices({"a": 0.25, "b": 1.0}).expected_rewards(word("a b", "b"))) == 1.25
    mood = moods(2, {"good": 0.5}, "bad", "good", 1.0)
    assert sum(mood.expected_rewards(word("good", "bad", "good", "good"))) == pytest.approx(0.5 + 0.25 + 0.5)
