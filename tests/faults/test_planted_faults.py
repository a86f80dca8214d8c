"""Would the default tests notice a small fault? Each is planted in a copy of the source, and they must fail there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from faults import FAULTS, Fault

TESTS = Path(__file__).resolve().parents[1]
SOURCE = TESTS.parent / "src"
PASSED, FAILED = 0, 1  # exit statuses of pytest


def copied(folder: Path) -> Path:
    """Return a copy of the source tree."""
    return Path(shutil.copytree(SOURCE, folder / "src", ignore=shutil.ignore_patterns("__pycache__")))


def plant(source: Path, fault: Fault) -> None:
    path = source / "praemia" / fault.file
    path.write_text(path.read_text(encoding="utf-8").replace(fault.text, fault.becomes), encoding="utf-8")


def run_tests(source: Path, tests: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run default tests on a copy. Kernels are not compiled: the same text gives the same bits, and sooner."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(source),
        "NUMBA_DISABLE_JIT": "1",
        "HYPOTHESIS_STORAGE_DIRECTORY": str(folder / "hypothesis"),
    }
    options = ["-x", "-p", "no:cacheprovider", "-n", "0", "--hypothesis-profile", "unshrunk"]
    settings = ["-c", str(TESTS.parent / "pyproject.toml")]
    command = [sys.executable, "-m", "pytest", *options, *settings, *(str(TESTS / test) for test in tests)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder, timeout=1800)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_can_still_be_planted(fault: Fault) -> None:
    """The list follows the source: what it replaces is there, once, and what notices it is there too."""
    assert (SOURCE / "praemia" / fault.file).read_text(encoding="utf-8").count(fault.text) == 1
    assert fault.becomes != fault.text
    for test in fault.tests.split():
        file, _, name = test.partition("[")[0].partition("::")
        assert f"def {name or 'test_'}" in (TESTS / file).read_text(encoding="utf-8")


def test_there_are_faults_enough_and_none_twice() -> None:
    assert len({(fault.file, fault.text, fault.becomes) for fault in FAULTS}) == len(FAULTS) >= 25
    assert {fault.file.partition("/")[0] for fault in FAULTS} >= {"kernels", "simulation", "exploration"}


@pytest.mark.slow
def test_the_tests_pass_where_no_fault_is_planted(tmp_path: Path) -> None:
    """Else they would fail whatever is planted."""
    tests = sorted({test for fault in FAULTS for test in fault.tests.split()})
    done = run_tests(copied(tmp_path), tests, tmp_path)
    assert done.returncode == PASSED, done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_planted_fault_is_caught(fault: Fault, tmp_path: Path) -> None:
    source = copied(tmp_path)
    plant(source, fault)
    done = run_tests(source, fault.tests.split(), tmp_path)
    assert done.returncode == FAILED, f"the fault survived, or broke more than a test:\n{done.stdout}\n{done.stderr}"
