"""Ctrl-C while a learner from outside plans or is compiled is Ctrl-C, and never the learner's failure."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from learner_files import ALL, HEAD
from sweeps import PATIENCE

from praemia.cli import INTERRUPTED, execute
from praemia.experiments.jobs import Job, LearnerChoice, TaskText
from praemia.experiments.runner import perform

# What a compiler does that is interrupted, and what a careless learner does.
DISGUISES = {
    "cause": "raise SystemError('returned a result with an exception set') from error",
    "context": "raise ValueError('cleaning up failed')",
    "farther": "try:\n                1 // 0\n            finally:\n                raise RuntimeError('x')",
}
INTERRUPTED_PLAN = """
class Disguised(Learner):
    name = "disguised"

    def plan(self, experience, previous, rng):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:
            {}
"""


@pytest.mark.parametrize("disguise", DISGUISES)
def test_an_interrupt_in_disguise_is_an_interrupt(
    disguise: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.py"
    file.write_text(HEAD + INTERRUPTED_PLAN.format(DISGUISES[disguise]))
    job = Job(TaskText.builtin("riverswim-3"), LearnerChoice.of(f"{file}:Disguised"), 5, (0,))
    with pytest.raises(KeyboardInterrupt):
        perform(job)
    assert execute(["run", "riverswim-3", "--learner", f"{file}:Disguised", "--episodes", "5"]) == INTERRUPTED
    assert capfd.readouterr().err.strip().startswith("error: interrupted; nothing is stored")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_ctrl_c_at_any_moment_of_compiling_is_one_line(seed: int, tmp_path: Path) -> None:
    """The first Ctrl-C waits for the plan, the second does not; nothing compiled is there before."""
    file = tmp_path / "mine.py"
    file.write_text(ALL)
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from praemia.cli import main; import praemia.simulation; print('ready', flush=True); main(sys.argv[1:])"
    )
    arguments = ["run", "riverswim-3", "--learner", f"{file}:PerVisit", "--episodes", "1e8", "--jobs", "1"]
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")},
    )
    assert process.stdout is not None
    process.stdout.readline()
    moments = random.Random(seed)
    for pause in (moments.uniform(0.0, 8.0), moments.uniform(0.0, 1.0)):
        time.sleep(pause)
        process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == INTERRUPTED
    assert errors.splitlines()[-1].startswith("error: interrupted")
    assert "failed" not in errors
    assert "Traceback" not in errors
