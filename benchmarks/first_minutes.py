"""Measure a new user's first minutes: from an empty environment to the first regret, and what they see meanwhile.

Builds the wheel, makes an empty environment in a temporary folder, installs the wheel there with its dependencies, and
runs ``praemia run warehouse-4`` twice: the first run compiles. Prints every line of output with the seconds since its
command started. pip must be able to find the dependencies.

python benchmarks/first_minutes.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
FIRST_COMMAND = ("run", "warehouse-4")


def watched(title: str, command: list[str], environment: dict[str, str], folder: Path) -> float:
    """Run a command, print its output with the seconds, and return the duration."""
    print(f"\n$ {title}")
    began = time.perf_counter()
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, env=environment, cwd=folder, text=True, **streams) as process:  # type: ignore[call-overload]
        for line in process.stdout:
            print(f"{time.perf_counter() - began:7.1f} s  {line.rstrip()}", flush=True)
    if process.returncode != 0:
        sys.exit(f"{title} ended with exit status {process.returncode}")
    return time.perf_counter() - began


def main() -> None:
    """Print the output of every step, and the times."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        environment |= {"NUMBA_CACHE_DIR": str(folder / "cache"), "PYTHONUNBUFFERED": "1"}
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
        subprocess.run([*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", name, str(ROOT)], check=True)
        (wheel,) = folder.glob("*.whl")
        venv.create(folder / "empty", with_pip=True)
        scripts = folder / "empty" / ("Scripts" if os.name == "nt" else "bin")
        install = [str(scripts / "python"), *pip[1:], "install", "--quiet", str(wheel)]
        first = [str(scripts / "praemia"), *FIRST_COMMAND]
        times = {
            "installing": watched(f"pip install {wheel.name}", install, environment, folder),
            "the first run": watched("praemia run warehouse-4", first, environment, folder),
            "the same again": watched("praemia run warehouse-4", first, environment, folder),
        }
    print()
    for what, seconds in times.items():
        print(f"{what:15} {seconds:6.1f} s")
    print(f"from the empty environment to the first regret: {times['installing'] + times['the first run']:.1f} s")


if __name__ == "__main__":
    main()
