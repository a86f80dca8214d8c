"""A finished run leaves nothing behind, and keeps of its world what it shows."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import pytest
from hidden_tasks import hide

from praemia import Headroom, Task, envs, learners, simulate
from praemia.simulation.loop import World


@pytest.fixture(autouse=True)
def _little_to_collect() -> Iterator[None]:
    """Leave aside what was there before, through which every collection would have to go."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.parametrize("learner", [*learners.names(), Headroom(learn_machine=True)])
def test_no_task_outlives_its_runs(learner: Any) -> None:
    task: Task | None = envs.warehouse(size=3)
    assert task is not None
    simulate(task, learner, num_episodes=20)
    kept = [weakref.ref(own) for own in (task, task.spec, task.in_unit_range)]
    task = None
    gc.collect()
    assert [reference() for reference in kept] == [None, None, None]


@pytest.mark.parametrize("is_box", [False, True])
def test_a_run_keeps_no_world_and_gives_its_dataset_all_the_same(is_box: bool) -> None:
    task = envs.warehouse(size=3)
    run = simulate(hide(task) if is_box else task, "mvp", num_episodes=23)
    gc.collect()
    assert not [found for found in gc.get_objects() if issubclass(type(found), World) and found.played == 23]
    assert run.dataset.num_episodes == 23
