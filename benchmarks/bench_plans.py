"""Time one plan of each learner, from its data after 300 episodes.

python -m pytest benchmarks/bench_plans.py
"""

from __future__ import annotations

from typing import Any

import pytest

from praemia import envs, learners
from praemia.simulation.loop import run_loop
from praemia.simulation.task_world import TaskWorld

PLANNERS = [name for name in learners.names() if name not in ("random", "optimal")]


@pytest.mark.parametrize("name", PLANNERS)
@pytest.mark.parametrize("task", ["warehouse-5", "office-coffee"])
def test_plan(benchmark: Any, task: str, name: str) -> None:
    world = TaskWorld(envs.make(task), learners.make(name), 300, (0,), valued=False)
    run_loop(world, 300)
    benchmark.pedantic(world.replan, rounds=20, warmup_rounds=1)
    benchmark.extra_info.update(pairs=int((world.counts.visits > 0).sum()))
