"""Every benchmark runs, in its smallest form: what it imports is there, and what it calls is called so."""

from __future__ import annotations

import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"
SMALLEST = {  # arguments; FOLDER is replaced by a temporary one, CHECKOUT by this one
    "against_version.py": "CHECKOUT --turns 1 --only --learners ucbvi-prm --tasks warehouse-3",
    "box_speed.py": "--episodes 2",
    "deep_counterfactual.py": "--study warehouse --steps 1000 --seeds 2 --folder FOLDER",
    "interval_coverage.py": "FOLDER --runs 8 --episodes 5 --trials 2",
    "learned_machine.py": "--tasks riverswim-5 --runs 4 --episodes 10",
    "likely_loss.py": "--share 0.01 --draw FOLDER/likely.svg",
    "office_optima.py": "--maps 1",
    "peers.py": "--side 8 --machine-states 4 --horizon 30 --rounds 1",
    "plain_python.py": "--turns 1 --length 2 --episodes 20",
    "published_steps.py": "--task office-map1-exp1 --learner crm --runs 2 --length 0.03 --jobs 1",
    "speed.py": "-k 'warehouse-5 and (headroom or solve) or help or 10'",
    "step_machines.py": "--copies 8 --steps 2",
    "tails.py": "--runs 4 --episodes 10 --seeds 1",
}
NEEDED = {"deep_counterfactual.py": ("torch", "stable_baselines3")}
PARTS = {"deep_worlds.py"}  # what another one imports


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
    ran = subprocess.run(command, cwd=FOLDER.parent, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout
