"""Measure how much processor time compiling takes: a first run against another version, and each further learner.

    git worktree add ../praemia-0.4 94fb1644
    python benchmarks/first_runs.py ../praemia-0.4 --turns 5

The versions take turns at ``praemia run warehouse-4`` with an empty cache. Then each learner is run twice in a copy of
a cache that such a run has filled: the difference is what it compiles. Times are processor times, of user and system,
because other work may be on the machine.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

OURS = Path(__file__).parents[1]
LEARNERS = (
    *("q-learning", "crm", "qr-max", "mvp", "eqo", "ucbvi-bf", "euler", "ucbvi", "ucbvi-prm", "psrl", "opsrl"),
    *("ucrl2-rm-l", "ucrl2-rm-b"),
)


def seconds(version: Path, cache: str, *options: str) -> float:
    """Return the processor time of ``praemia run`` in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(version / "src"), "NUMBA_CACHE_DIR": cache}
    command = [sys.executable, "-m", "praemia", "run", *options]
    before = os.times()
    subprocess.run(command, env=environment, check=True, capture_output=True)
    after = os.times()
    return after.children_user - before.children_user + after.children_system - before.children_system


def first_run(version: Path, run: list[str]) -> float:
    """Return the processor time of a run that finds nothing compiled."""
    with TemporaryDirectory() as cache:
        return seconds(version, cache, *run)


def further_run(filled: str, run: list[str], learner: str) -> float:
    """Return how much longer a learner's first run takes than its second, in a copy of a cache that is filled."""
    with TemporaryDirectory() as folder:
        cache = str(shutil.copytree(filled, Path(folder) / "cache"))
        command = [*run, "--learner", learner]
        return seconds(OURS, cache, *command) - seconds(OURS, cache, *command)


def main() -> None:
    """Measure in turns and print medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path, help="a checkout of the other version")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--learners", nargs="*", default=LEARNERS)
    parser.add_argument("--episodes", type=int, help="of a run; as many as the task suggests by default")
    chosen = parser.parse_args()
    run = ["warehouse-4", *(() if chosen.episodes is None else ("--episodes", str(chosen.episodes)))]
    turns = [(first_run(chosen.other, run), first_run(OURS, run)) for _ in range(chosen.turns)]
    theirs, ours = (median(times) for times in zip(*turns, strict=True))
    print(f"first run      {theirs:6.2f} s → {ours:6.2f} s   {ours / theirs:.2f} of the other's", flush=True)
    with TemporaryDirectory() as cache:
        seconds(OURS, cache, *run)
        for learner in chosen.learners:
            times = [further_run(cache, run, learner) for _ in range(chosen.turns)]
            print(f"and {learner:12} {median(times):6.2f} s", flush=True)


if __name__ == "__main__":
    main()
