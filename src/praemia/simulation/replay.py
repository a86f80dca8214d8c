"""Repeat a run to see its policies: a run records the value of each plan, and of the policies only the last."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia._support.text_tables import plural
from praemia.envs.black_box import BlackBox
from praemia.errors import PraemiaError
from praemia.learners.base import Learner
from praemia.simulation.loop import World, run_loop
from praemia.simulation.run import Run, versions
from praemia.simulation.simulate import world_of
from praemia.tasks.task import Task


def replay(
    task: Task | BlackBox,
    learner: Learner,
    run: Run,
    plans: Sequence[int],
    on_progress: Callable[[int], None] | None = None,
) -> Iterator[NDArray[Any]]:
    """Yield the policies of some plans of a run, numbered from 0 in rising order, each [H, M, O] or [H, M, O, A].

    The run is played again, up to the last of these plans. If that is another run, by another version or on a changed
    task, it is an error.
    """
    if run.data_episodes:
        raise PraemiaError(f"the run of {run.learner} on {run.task} began with data, without which it is another run")
    task = task.for_run() if isinstance(task, BlackBox) else task
    world = world_of(task, learner, run.num_episodes if run.step_budget is None else None, run.seed, run.step_budget)
    for plan in plans:
        run_loop(world, int(run.plan_episodes[plan]), on_progress=on_progress)
        if world.is_due:
            world.replan()
        _require_equal(run, world, task)
        yield world.shown(world.policy).copy()


def _require_equal(run: Run, world: World, task: Task | BlackBox) -> None:
    """Refuse to go on with what is not the run that was recorded."""
    episodes, returns = world.log.plans["episode"][: world.num_plans], world.log.returns[: world.played]
    returns = task.values_from_unit(returns.copy()) if isinstance(task, Task) else returns
    same_plans = np.array_equal(episodes, run.plan_episodes[: len(episodes)])
    if same_plans and np.array_equal(returns, run.returns[: len(returns)]):
        return
    reason, here = "the task or the learner is not the one that it was made with", versions()
    if run.versions != here:
        made, here_is = (" ".join(f"{name} {each[name]}" for name in sorted(each)) for each in (run.versions, here))
        reason = f"it was made with {made or 'unknown versions'}, here is {here_is}"
    raise PraemiaError(
        f"the run of {run.learner} on {run.task} cannot be repeated: played again it differs within "
        f"{plural(world.played + 1, 'episode')}; {reason}"
    )
