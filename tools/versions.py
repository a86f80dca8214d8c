"""Run a task end to end with the packages of this environment.

``make test-versions`` does it with the oldest and with the newest packages.
``--oldest`` prints the constraints that pin what pyproject.toml allows at least.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import tomllib
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[1]
TASK = """
environment: {name: warehouse, size: 3}
machine: {ltlf: "F(item & X F delivery)", chance: {item: 0.8, delivery: 0.9}}
horizon: 9
"""


def bounds() -> dict[str, str]:
    """Return the lower bound of each dependency."""
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    pairs = [re.fullmatch(r"([\w-]+)>=([\d.]+)", each) for each in listed]
    return {pair[1]: pair[2] for pair in pairs if pair is not None}


def command(*arguments: str) -> str:
    """Run praemia's command; return what it prints."""
    done = subprocess.run([sys.executable, "-m", "praemia", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"praemia {' '.join(arguments)}: status {done.returncode}\n{done.stderr}")
    return done.stdout


def main() -> None:
    """Solve, learn with each kind of kernel, explore, keep, load, and ask the command for the same."""
    import numpy as np

    import praemia

    print(", ".join(f"{name} {version(name)}" for name in bounds()))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "task.yaml"
        path.write_text(TASK, encoding="utf-8")
        task = praemia.load_task(path)
        best = praemia.solve(task).value
        assert abs(best - praemia.solve(praemia.envs.warehouse(size=3)).value) < 1e-12
        for name in praemia.learners.names():
            run = praemia.simulate(task, name, num_episodes=100, seed=0)
            assert np.isfinite(run.regret).all(), name
            assert run.regret[-1] >= 0, name
        run.save(Path(folder) / "run.npz")
        data = praemia.explore(task, num_episodes=200, seed=0)
        assert praemia.plan_from(data, task.machine).certificate.bound <= 1
        assert abs(json.loads(command("solve", str(path), "--json"))["value"] - best) < 1e-12
        command("run", str(path), "--episodes", "50", "--runs", "2", "--jobs", "2", "--out", str(Path(folder) / "out"))
        command("check", str(path))
    print("1 passed, 0 failed")


if __name__ == "__main__":
    if "--oldest" in sys.argv:
        print("\n".join(f"{name}=={bound}" for name, bound in bounds().items()))
    else:
        main()
