"""Limits: the length of a run, and what could not fit in memory, refused before any of it is allocated."""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from pathlib import Path

from praemia.errors import SizeError

GIB = 1 << 30
MAX_EPISODES = 10**9  # of a run
MAX_RUNS = 1_000_000  # of a learner on a task


@cache
def memory_limit() -> int:
    """Return the most memory that this process can have, in bytes: the machine's, or its container's share of it."""
    limit = _computer_memory()
    container = Path("/sys/fs/cgroup/memory.max")
    try:
        return min(limit, int(container.read_text(encoding="ascii")))
    except (OSError, ValueError):
        return limit


def _computer_memory() -> int:
    """Return the bytes of memory of this computer, or sys.maxsize if unknown."""
    if sys.platform == "win32":
        status = _MemoryStatus(length=ctypes.sizeof(_MemoryStatus))
        if ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)):
            return int(status.total_physical)
        return sys.maxsize
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # a system without sysconf, or without these names
        return sys.maxsize


class _MemoryStatus(ctypes.Structure):
    """MEMORYSTATUSEX, as Windows fills it."""

    _fields_ = (
        ("length", ctypes.c_uint32),
        ("percent_in_use", ctypes.c_uint32),
        ("total_physical", ctypes.c_uint64),
        ("others", ctypes.c_uint64 * 6),
    )


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def require_memory(num_bytes: int, purpose: str) -> None:
    """Raise a SizeError when a purpose needs more bytes than this computer has."""
    limit = memory_limit()
    if num_bytes > limit:
        raise SizeError(
            f"{purpose} needs {num_bytes / GIB:,.1f} GiB of memory; this computer has {limit / GIB:,.1f} GiB"
        )
