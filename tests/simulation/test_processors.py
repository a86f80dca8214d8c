"""The promises about bits, shown by emulation: child processes that use another BLAS, NumPy without its dispatched
code, no compiler, a plain instruction set, or the C library's variants for older processors.

What is promised of which answer stands in docs/concepts/reproducibility.md; ``processor_answers`` computes them.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import processor_answers
import pytest
from processor_answers import Answers

pytestmark = pytest.mark.skipif(
    platform.machine().lower() not in ("x86_64", "amd64"), reason="the processors emulated here are x86"
)

WITHOUT_FMA = "glibc.cpu.hwcaps=-FMA,-AVX2,-FMA4,-AVX2_Usable,-FMA_Usable"


def dispatched_features() -> list[str]:
    """Return the processor's features for which NumPy has code of its own here; names differ between its versions."""
    from numpy._core import _multiarray_umath as core

    return [name for name in core.__cpu_dispatch__ if core.__cpu_features__[name]]


def blas_kernels() -> list[str]:
    """Return some kernels of OpenBLAS that this processor can run."""
    from numpy._core._multiarray_umath import __cpu_features__ as features

    return ["Prescott", "Nehalem", *(["Haswell"] if features.get("AVX2") and features.get("FMA3") else [])]


NO_FEATURES = {"NPY_DISABLE_CPU_FEATURES": " ".join(dispatched_features())}
UNCOMPILED = {"NUMBA_DISABLE_JIT": "1"}

# By default, one child for each way to run, with several causes in it.
COMBINED = {
    "another BLAS, no dispatch": NO_FEATURES | {"OPENBLAS_CORETYPE": "Prescott"},
    "uncompiled, another BLAS": UNCOMPILED | {"OPENBLAS_CORETYPE": "Nehalem"},
}
ALONE = {
    **{f"BLAS for {name}": {"OPENBLAS_CORETYPE": name} for name in blas_kernels()},
    **{f"without {name}": {"NPY_DISABLE_CPU_FEATURES": name} for name in dispatched_features()[-1:]},
    "no dispatch": NO_FEATURES,
    "uncompiled": UNCOMPILED,
    "uncompiled, no dispatch": UNCOMPILED | NO_FEATURES,
}
OTHER_PROCESSORS = {
    "a plain instruction set": {"NUMBA_CPU_NAME": "generic"},
    "a C library without FMA": {"GLIBC_TUNABLES": WITHOUT_FMA},
    "uncompiled, a C library without FMA, no dispatch": UNCOMPILED | NO_FEATURES | {"GLIBC_TUNABLES": WITHOUT_FMA},
}


@cache
def here() -> Answers:
    return processor_answers.answers()


def elsewhere(settings: dict[str, str]) -> Answers:
    """Return the answers of a child process."""
    command = [sys.executable, "-W", "error", processor_answers.__file__]
    paths = [str(Path(processor_answers.__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | settings | {"PYTHONPATH": os.pathsep.join(paths)}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    found: Answers = json.loads(ran.stdout)
    return found


def others(found: Answers, promise: str) -> list[str]:
    """Return the names of answers whose bits differ."""
    assert list(found[promise]) == list(here()[promise])
    return [name for name, bits in found[promise].items() if bits != here()[promise][name]]


def assert_same_on_one_machine(settings: dict[str, str]) -> None:
    found = elsewhere(settings)
    assert others(found, "x86") + others(found, "machine") == []


@pytest.mark.parametrize("settings", COMBINED.values(), ids=COMBINED)
def test_on_one_machine_bits_depend_on_no_blas_dispatch_or_compiler(settings: dict[str, str]) -> None:
    assert_same_on_one_machine(settings)


@pytest.mark.slow
@pytest.mark.parametrize("settings", ALONE.values(), ids=ALONE)
def test_on_one_machine_no_single_cause_changes_bits(settings: dict[str, str]) -> None:
    assert_same_on_one_machine(settings)


@pytest.mark.slow
@pytest.mark.parametrize("settings", OTHER_PROCESSORS.values(), ids=OTHER_PROCESSORS)
def test_on_other_x86_processors_bits_and_numbers_are_those_promised(settings: dict[str, str]) -> None:
    found = elsewhere(settings)
    assert others(found, "x86") == []
    for name, numbers in found["close"].items():
        np.testing.assert_allclose(numbers, here()["close"][name], rtol=1e-9, atol=1e-12)


@pytest.mark.slow
def test_the_emulation_reaches_the_arithmetic_below() -> None:
    """Else it would show nothing. What a machine cannot emulate is named by the skip."""
    causes = {
        "BLAS": {"OPENBLAS_CORETYPE": "Prescott"},
        "NumPy": NO_FEATURES,
        "C library": {"GLIBC_TUNABLES": WITHOUT_FMA},
    }
    same = [cause for cause, settings in causes.items() if not others(elsewhere(settings), "probe")]
    if same:
        pytest.skip(f"not emulated on this machine: {', '.join(same)}")
