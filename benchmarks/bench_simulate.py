"""Time whole runs: 10,000 episodes in the 5 × 5 warehouse, and a few episodes in one with 50,176 observations.

python -m pytest benchmarks/bench_simulate.py
python benchmarks/bench_simulate.py 224         # the memory held before the large run, and its peak, in bytes
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from praemia import envs, learners, simulate

MIB = 1 << 20
LARGE = 224  # cells on a side


@pytest.mark.parametrize("name", ["headroom", "ucbvi-prm", "ucbvi", "ucrl2-rm-l", "ucrl2-rm-b", "euler", "psrl", "crm"])
def test_run_in_the_warehouse(benchmark: Any, name: str) -> None:
    task, learner = envs.make("warehouse-5"), learners.make(name)
    simulate(task, learner, 20)  # compile first
    run = benchmark.pedantic(simulate, (task, learner, 10_000), {"seed": 1}, rounds=3)
    benchmark.extra_info.update(regret=round(float(run.regret[-1]), 2), plans=run.num_plans)


def test_run_in_a_large_warehouse(benchmark: Any) -> None:
    task, learner = envs.make(f"warehouse-{LARGE}"), learners.make("ucbvi-prm")
    simulate(envs.make("warehouse-3"), learner, 20)  # compile first
    run = benchmark.pedantic(simulate, (task, learner, 20), {"seed": 1}, rounds=1)
    benchmark.extra_info.update(plans=run.num_plans)


def test_memory_of_a_run_in_a_large_warehouse(benchmark: Any) -> None:
    """Measure the peak memory of a separate process, and the share of the run; a policy alone takes 193 MiB there."""
    command = [sys.executable, __file__, str(LARGE)]
    ran = benchmark.pedantic(subprocess.run, (command,), {"capture_output": True, "check": True}, rounds=1)
    before, peak = map(int, ran.stdout.split())
    benchmark.extra_info.update({"held before, MiB": before // MIB, "peak, MiB": peak // MIB})
    print(f"\nwarehouse-{LARGE}: held before {before / MIB:.0f} MiB, peak {peak / MIB:.0f} MiB")
    assert peak < 4 << 30


def peak_memory() -> int:
    """Return the most memory, in bytes, that this process has held; resource usage would count its parent's too."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024  # type: ignore[index]


if __name__ == "__main__":
    small, large = envs.make("warehouse-3"), envs.make(f"warehouse-{sys.argv[1]}")
    simulate(small, learners.make("ucbvi-prm"), 20)
    held = peak_memory()
    simulate(large, learners.make("ucbvi-prm"), 20, seed=1)
    print(held, peak_memory())
