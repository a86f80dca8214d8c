"""How much memory there is, on any system, and what does not fit."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from pathlib import Path

import pytest

from praemia._support import limits
from praemia.errors import SizeError

MEMORY_TABLE = Path("/proc/meminfo")


@pytest.mark.skipif(not MEMORY_TABLE.exists(), reason="this system has no such table")
def test_the_limit_is_the_machines_memory_or_less() -> None:
    found = re.search(r"MemTotal: +(\d+) kB", MEMORY_TABLE.read_text())
    assert found is not None
    assert 0 < limits.memory_limit() <= 1024 * int(found[1])


def test_a_system_that_does_not_tell_refuses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sysconf", raising=False)
    assert limits._computer_memory() == sys.maxsize


def test_windows_gets_the_structure_that_it_expects() -> None:
    """MEMORYSTATUSEX: two numbers of 32 bits and seven of 64; the second of all is the load, the third the memory."""
    assert ctypes.sizeof(limits._MemoryStatus) == 2 * 4 + 7 * 8
    assert limits._MemoryStatus.total_physical.offset == 8


def test_what_cannot_fit_is_refused_with_its_size() -> None:
    limits.require_memory(1, "a byte")
    with pytest.raises(
        SizeError, match=r"a table of everything needs 1,073,741,824\.0 GiB of memory; this computer has"
    ):
        limits.require_memory(1 << 60, "a table of everything")
