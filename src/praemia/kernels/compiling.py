"""How kernels are compiled, and where the result is kept so that nobody waits for it twice.

Compiled code is kept on disk: where ``NUMBA_CACHE_DIR`` says, else in the user's cache folder, else in a folder of
their own for temporary files. That works also where the package is installed read-only. There it has a folder named
after a checksum of the kernels, because Numba does not notice a change in a kernel that another file calls.
"""

from __future__ import annotations

import os
import sys
import tempfile
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from numba import config, njit

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(**options: Any) -> Callable[[Function], Function]:
    """Compile a function when it is first called, with Numba's options; keep the result on disk."""

    def compile_later(function: Function) -> Function:
        # Numba looks the folder up here, once for each function; code that is not ours keeps its own place.
        chosen = config.CACHE_DIR  # type: ignore[attr-defined]
        config.CACHE_DIR = os.path.join(chosen, _name()) if chosen else cache_folder()  # type: ignore[attr-defined]
        try:
            kernel: Function = njit(cache=True, **options)(function)
            return kernel
        finally:
            config.CACHE_DIR = chosen  # type: ignore[attr-defined]

    return compile_later


@cache
def _name() -> str:
    sources = sorted(Path(__file__).parent.glob("*.py"))
    return f"kernels-{zlib.crc32(b''.join(source.read_bytes() for source in sources)):08x}"


@cache
def cache_folder() -> str:
    """Return a folder that only this user can write to: what is read from it is run."""
    for base in (_user_cache(), Path(tempfile.gettempdir()) / f"praemia-{_user()}"):
        if not base.is_absolute():  # nobody knows where this user's home is
            continue
        try:
            base.parent.mkdir(parents=True, exist_ok=True)
            base.mkdir(mode=0o700, exist_ok=True)
            folder = base / _name()
            folder.mkdir(mode=0o700, exist_ok=True)
            if _is_ours(base) and _is_ours(folder):
                return str(folder)
        except OSError:
            continue
    return tempfile.mkdtemp(prefix="praemia-")


def _is_ours(folder: Path) -> bool:
    """Tell whether a folder can be written to by this user and by nobody else."""
    found = folder.stat()
    others_write = os.name == "posix" and found.st_mode & 0o022
    return found.st_uid == _user() and not others_write and os.access(folder, os.W_OK)


def _user_cache() -> Path:
    """Return where the system keeps what can be made again."""
    home = Path(os.path.expanduser("~"))
    places = {"win32": home / "AppData" / "Local", "darwin": home / "Library" / "Caches"}
    return places.get(sys.platform, Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")) / "praemia"


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0
