"""Compare whole runs and exact planning with another version of praemia, taking turns, as ratios within one session.

    git worktree add ../praemia-before COMMIT
    python benchmarks/against_version.py ../praemia-before --turns 9

The other version is a checkout. This interpreter runs both, each in its own process, which stays alive and does one
run at a time. Times are processor times, because other work may be on the machine. Ratios, ours ÷ theirs, are taken
within a turn; the script prints their median and range, and the geometric mean of a learner's medians.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from statistics import geometric_mean, median

LEARNERS = (
    *("ucbvi-prm", "headroom", "euler", "ucrl2-rm-l", "ucrl2-rm-b", "opsrl", "psrl", "ucbvi", "eqo", "mvp", "crm"),
    *("ucbvi-bf", "qr-max", "q-learning", "random", "optimal", "told-support"),
)
SLOW = ("crm", "q-learning", "told-support")  # they plan in Python, in every episode or nearly so
EXACT = ("warehouse-5", "warehouse-40", "office-mail", "random-50x4x20-0")
WORKER = """
import sys, time
from praemia import envs, evaluate, learners, simulate, solve
for line in sys.stdin:
    task, work, times = line.strip().split("|")
    world = envs.make(task)
    if work in ("solve", "evaluate"):
        policy = solve(world, threads=1).policy
        evaluate(world, policy, threads=1)
        began = time.process_time()
        for _ in range(int(times)):
            solve(world, threads=1) if work == "solve" else evaluate(world, policy, threads=1)
    else:
        simulate(world, learners.make(work), 20)
        began = time.process_time()
        simulate(world, learners.make(work), int(times), 1)
    print(time.process_time() - began, flush=True)
"""


class Version:
    """A version of praemia in its own process."""

    def __init__(self, source: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": str(source)}
        command = [sys.executable, "-c", WORKER]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True)

    def seconds(self, task: str, work: str, times: int) -> float:
        """Return how long a run of so many episodes takes, or solving or evaluating so many times."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{task}|{work}|{times}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


def settings(learners: Sequence[str], tasks: Sequence[str]) -> Iterator[tuple[str, str, int]]:
    """Yield what is measured: the task, the learner or the planning, and how many episodes or times."""
    for name in learners:
        for task in tasks:
            yield task, name, 500 if name in SLOW else 10_000
    for task in EXACT:
        yield task, "solve", 100
        yield task, "evaluate", 100


def main() -> None:
    """Measure in turns and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path, help="a checkout of the other version")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--learners", nargs="+", default=LEARNERS)
    parser.add_argument("--tasks", nargs="+", default=["warehouse-5"], help="those that learners play")
    parser.add_argument("--only", action="store_true", help="the learners and no exact planning")
    chosen = parser.parse_args()
    ours, theirs = Version(Path(__file__).parents[1] / "src"), Version(chosen.other / "src")
    measured, medians = settings(chosen.learners, chosen.tasks), dict[str, list[float]]()
    for task, name, times in islice(measured, len(chosen.learners) * len(chosen.tasks) if chosen.only else None):
        pairs = [(theirs.seconds(task, name, times), ours.seconds(task, name, times)) for _ in range(chosen.turns)]
        ratios = sorted(own / other for other, own in pairs)
        before, after = (1e3 * min(times) for times in zip(*pairs, strict=True))
        spread = f"({ratios[0]:.2f} – {ratios[-1]:.2f})"
        shown = f"{task:16} {name:12} {before:8.1f} ms → {after:8.1f} ms"
        print(f"{shown}   {median(ratios):.2f} × {spread}", flush=True)
        medians.setdefault(name, []).append(median(ratios))
    for name in chosen.learners if len(chosen.tasks) > 1 else ():
        print(f"{name}: {geometric_mean(medians[name]):.2f} × in the geometric mean of {len(medians[name])} tasks")


if __name__ == "__main__":
    main()
