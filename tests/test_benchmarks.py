"""Every benchmark runs, in its smallest form: what it imports is there, and what it calls is called so."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"
SMALLEST = {  # arguments; a suite for pytest-benchmark has those of pytest. FOLDER is replaced by a temporary one
    "against_all.py": "psrl --tasks 2 --runs 1 --episodes 20",
    "against_version.py": "CHECKOUT --turns 1 --only --learners ucbvi-prm --tasks warehouse-3",
    "bench_explore.py": "--tasks riverswim-5 --episodes 20 --seeds 1",
    "bench_files.py": "-k 'fetch or 10'",
    "bench_likely_loss.py": "coverage --share 0.01 --draw FOLDER/likely.svg",
    "bench_plans.py": "-k 'warehouse and (headroom or euler)'",
    "bench_simulate.py": "-k 'in_the_warehouse and prm'",
    "bench_solve.py": "-k 'tiny and one or occupancy'",
    "bench_start.py": "-k 'python or help'",
    "box_speed.py": "--episodes 2",
    "certificates.py": "--tasks riverswim-5 --episodes 20",
    "craft_steps.py": "--steps 200 --maps 1",
    "deep_counterfactual.py": "--study warehouse --steps 1000 --seeds 2 --folder FOLDER",
    "first_runs.py": "CHECKOUT --turns 1 --learners crm --episodes 5",
    "formula_families.py": "--only 'counter 1'",
    "infer_traces.py": "--traces 100",
    "interval_coverage.py": "FOLDER --runs 8 --episodes 5 --trials 2",
    "learned_machine.py": "--tasks riverswim-5 --runs 4 --episodes 10",
    "merge_states.py": "--machines 1 --traces 50",
    "office_optima.py": "--maps 1",
    "peer_stationary.py": "--sides 8 --rounds 1",
    "peers.py": "--sizes tiny --kinds few-sparse --rounds 1",
    "plain_python.py": "--turns 1 --length 2 --episodes 20",
    "plan_cost.py": "--learners ucbvi-prm --sweeps horizon --rounds 1",
    "published_steps.py": "--task office-map1-exp1 --learner crm --runs 2 --length 0.03 --jobs 1",
    "published_variants.py": "--variant released --method CRM --exp 1 --runs 1 --length 0.03",
    "step_machines.py": "--copies 8 --steps 2",
    "tails.py": "--runs 4 --episodes 10 --seeds 1",
}
UNCOMPILED = ("first_runs.py", "published_variants.py")  # compiling would take longest
NEEDED = {"deep_counterfactual.py": ("torch", "stable_baselines3"), "peer_stationary.py": ("quantecon",)}
PARTS = {  # what several of them import
    *("deep_pycrm.py", "deep_worlds.py", "explicit.py", "grid_tasks.py", "machine_family.py", "memory_speed.py"),
    *("peer_solvers.py", "plotting.py", "released_learners.py"),
}


def test_none_is_left_out() -> None:
    assert {path.name for path in FOLDER.glob("*.py")} == {*SMALLEST, *PARTS}


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALLEST)
def test_a_benchmark_runs(name: str, tmp_path: Path) -> None:
    for package in NEEDED.get(name, ()):
        if find_spec(package) is None:
            pytest.skip(f"{name} needs {package}")
    text = SMALLEST[name].replace("FOLDER", str(tmp_path)).replace("CHECKOUT", str(FOLDER.parent))
    suite = ["-m", "pytest", "-p", "no:cacheprovider", "--benchmark-disable"]
    is_suite = "import pytest" in (FOLDER / name).read_text(encoding="utf-8")
    command = [sys.executable, *(suite if is_suite else ()), str(FOLDER / name), *shlex.split(text)]
    environment = {**os.environ, **({"NUMBA_DISABLE_JIT": "1"} if name in UNCOMPILED else {})}
    ran = subprocess.run(command, cwd=FOLDER.parent, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout
