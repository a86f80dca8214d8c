"""Time what a user waits for: import, ``praemia --help``, and a first run with an empty and with a full cache.

python -m pytest benchmarks/bench_start.py
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

STARTS = {
    "python alone": "",
    "import praemia": "import praemia",
    "import praemia.simulate": "from praemia import simulate",
    "praemia --help": "from praemia.cli import execute; execute(['--help'])",
}


def run(code: str, **variables: str) -> None:
    """Run a line of Python in a process of its own."""
    subprocess.run([sys.executable, "-c", code], env={**os.environ, **variables}, check=True, capture_output=True)


@pytest.mark.parametrize("code", STARTS.values(), ids=STARTS)
def test_start(benchmark: Any, code: str) -> None:
    benchmark.pedantic(run, (code,), rounds=5, warmup_rounds=1)


@pytest.mark.parametrize("learner", ["ucbvi-prm", "headroom"])
@pytest.mark.parametrize("cache", ["empty", "full"])
def test_first_run(benchmark: Any, tmp_path: Path, cache: str, learner: str) -> None:
    make = f"from praemia import envs, learners, simulate; learner = learners.make('{learner}')"
    code = f"{make}; simulate(envs.make('warehouse-4'), learner, 10)"
    folders = {"NUMBA_CACHE_DIR": str(tmp_path)}
    benchmark.pedantic(run, (code,), folders, rounds=1, warmup_rounds=1 if cache == "full" else 0)
