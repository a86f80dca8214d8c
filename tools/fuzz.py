"""Run the property tests again and again, with new examples every time, until one fails or the time is over.

    python tools/fuzz.py [--minutes 10] [--seed N] [tests …]

A failure ends it, after its round, with the command that repeats it. A round that has begun is finished.
"""

from __future__ import annotations

import argparse
import secrets
import shlex
import sys
import time
from itertools import count

import pytest

COMMAND = ["-m", "hypothesis and not slow", "--hypothesis-profile", "fuzz"]


class Failures:
    """What failed in a round."""

    def __init__(self) -> None:
        self.tests: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.tests.append(report.nodeid)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=10.0, help="begin no round after so many minutes (10)")
    parser.add_argument("--seed", type=int, default=None, help="of the first round; the next ones count on (random)")
    parser.add_argument("tests", nargs="*", help="files or single tests (all)")
    chosen = parser.parse_args()
    end = time.monotonic() + 60.0 * chosen.minutes
    first = secrets.randbits(32) if chosen.seed is None else chosen.seed
    for seed in count(first):
        command, failures = [*COMMAND, "--hypothesis-seed", str(seed)], Failures()
        print(f"round with seed {seed}", flush=True)
        status = pytest.main(["-n", "auto", *command, *chosen.tests], plugins=[failures])
        if failures.tests:
            print("\nto repeat it:", shlex.join([sys.executable, "-m", "pytest", *command, *failures.tests]))
        if status != pytest.ExitCode.OK:
            return int(status)
        if time.monotonic() >= end:
            print(f"no failure with the seeds {first} to {seed}")
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
