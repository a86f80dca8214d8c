"""Limits: the length of a run, and what could not fit in memory, refused before any of it is allocated."""

from __future__ import annotations

import os
from pathlib import Path

from praemia.errors import SizeError

GIB = 1 << 30
MAX_EPISODES = 10**9  # of a run


def memory_limit() -> int:
    """Return how many bytes this process may hope for: the machine's memory, or its container's share of it."""
    limit = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    container = Path("/sys/fs/cgroup/memory.max")
    try:
        return min(limit, int(container.read_text()))
    except (OSError, ValueError):
        return limit


def require_memory(num_bytes: int, purpose: str) -> None:
    """Raise a SizeError when a purpose needs more bytes than this machine has."""
    limit = memory_limit()
    if num_bytes > limit:
        raise SizeError(
            f"{purpose} needs {num_bytes / GIB:,.1f} GiB of memory; this machine has {limit / GIB:,.1f} GiB"
        )
