"""Many processes start into one new folder at the same time, as the parts of an array job do; some are killed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

RACE = Path(__file__).parent / "store_race.py"


@pytest.mark.parametrize(
    ("num_folders", "num_processes"), [(5, 8), pytest.param(50, 20, marks=pytest.mark.slow)], ids=["small", "large"]
)
def test_processes_that_start_at_once_make_one_whole_store(
    num_folders: int, num_processes: int, tmp_path: Path
) -> None:
    """Every run is written by several. In the first folders all are left alone, in the others half are killed."""
    arguments = [str(tmp_path), str(num_folders), str(num_processes)]
    done = subprocess.run([sys.executable, str(RACE), *arguments], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    assert done.stderr == ""
