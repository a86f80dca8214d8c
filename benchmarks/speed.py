"""Time start-up, loading a file, exact planning, one plan of each learner, and whole runs.

python -m pytest benchmarks/speed.py [-k solve] [--benchmark-json=FILE]
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from praemia import envs, evaluate, learners, load_task, occupancy, save_task, simulate, solve
from praemia.simulation.loop import run_loop
from praemia.simulation.task_world import TaskWorld

STARTS = {
    "python alone": "",
    "import praemia": "import praemia",
    "praemia --help": "from praemia.cli import execute; execute(['--help'])",
}
FIRST_RUN = "from praemia import envs, simulate; simulate(envs.make('warehouse-4'), {!r}, 10)"
EXACT = {"solve": solve, "evaluate": evaluate, "occupancy": occupancy}


def run(code: str, **variables: str) -> None:
    """Run a line of Python in a process of its own."""
    subprocess.run([sys.executable, "-c", code], env={**os.environ, **variables}, check=True, capture_output=True)


@pytest.mark.parametrize("code", STARTS.values(), ids=STARTS)
def test_start(benchmark: Any, code: str) -> None:
    benchmark.pedantic(run, (code,), rounds=5, warmup_rounds=1)


@pytest.mark.parametrize("learner", ["ucbvi-prm", "headroom"])
@pytest.mark.parametrize("cache", ["empty", "full"])
def test_first_run(benchmark: Any, tmp_path: Path, cache: str, learner: str) -> None:
    folders, rounds = {"NUMBA_CACHE_DIR": str(tmp_path)}, int(cache == "full")
    benchmark.pedantic(run, (FIRST_RUN.format(learner),), folders, rounds=1, warmup_rounds=rounds)


@pytest.mark.parametrize("side", [10, 50])
def test_load_a_written_grid(benchmark: Any, tmp_path: Path, side: int) -> None:
    save_task(envs.make(f"warehouse-{side}"), tmp_path / "task.yaml")
    benchmark.pedantic(load_task, (tmp_path / "task.yaml",), rounds=3)


@pytest.mark.parametrize("task", ["warehouse-5", "warehouse-100", "office-mail", "random-200x8x50-0"])
@pytest.mark.parametrize("name", EXACT)
def test_plan_exactly(benchmark: Any, name: str, task: str) -> None:
    made = envs.make(task)
    arguments = (made,) if name == "solve" else (made, solve(made).policy)
    benchmark.pedantic(EXACT[name], arguments, rounds=5, warmup_rounds=1)


@pytest.mark.parametrize("name", [name for name in learners.names() if name not in ("random", "optimal")])
@pytest.mark.parametrize("task", ["warehouse-5", "office-coffee"])
def test_one_plan(benchmark: Any, task: str, name: str) -> None:
    world = TaskWorld(envs.make(task), learners.make(name), 300, (0,), valued=False)
    run_loop(world, 300)
    benchmark.pedantic(world.replan, rounds=20, warmup_rounds=1)


@pytest.mark.parametrize("name", ["headroom", "ucbvi-prm", "ucbvi", "ucrl2-rm-b", "euler", "psrl", "crm"])
@pytest.mark.parametrize(("task", "num_episodes"), [("warehouse-5", 10_000), ("warehouse-60", 20)])
def test_run(benchmark: Any, task: str, num_episodes: int, name: str) -> None:
    made = envs.make(task)
    simulate(made, name, 2)  # compile first
    benchmark.pedantic(simulate, (made, name, num_episodes), {"seed": 1}, rounds=3)
