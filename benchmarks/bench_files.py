"""Time reading task files, small ones and one with 2,500 observations: parsing the text, and building the task.

python -m pytest benchmarks/bench_files.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from praemia import envs
from praemia.files.building import parse_task
from praemia.files.load_save import load_task, save_task

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.yaml"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_parse_an_example(benchmark: Any, path: Path) -> None:
    benchmark(parse_task, path.read_text(encoding="utf-8"), path.name)


@pytest.mark.parametrize("suffix", [".yaml", ".json"])
@pytest.mark.parametrize("side", [10, 50])
def test_load_a_written_grid(benchmark: Any, tmp_path: Path, side: int, suffix: str) -> None:
    path = tmp_path / f"task{suffix}"
    save_task(envs.make(f"warehouse-{side}"), path)
    task = benchmark.pedantic(load_task, (path,), rounds=3)
    benchmark.extra_info.update(observations=task.num_observations, bytes=path.stat().st_size)
