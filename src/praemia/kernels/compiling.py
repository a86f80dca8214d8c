"""Compile kernels with Numba, and keep the result on disk so that nobody waits for it twice.

Numba notices a change in the file of a function, but not in another file that the function calls. So compiled code is
kept in a folder named after a checksum of all kernels, in ``NUMBA_CACHE_DIR`` if that is set, else in the user's folder
for caches. What other versions left there is removed after a month without use. Where no folder can be written, kernels
are compiled in every process.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import parent_process
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import event
from numba.extending import register_jitable

Function = TypeVar("Function", bound=Callable[..., Any])

PREFIX = "kernels-"
UNUSED_SECONDS = 30 * 24 * 3600.0  # after which the compiled code of other versions is removed


def _options() -> dict[str, Any]:
    """Return how kernels are compiled: they allocate nothing, so Numba need not count references to their arrays.

    Numba does not document the option ``_nrt``. A version without it compiles the same kernels, which are slower:
    docs/architecture.md has the numbers.
    """
    options: dict[str, Any] = {"error_model": "numpy", "_nrt": False}
    try:
        numba.njit(**options)(_options)
    except KeyError:
        options.pop("_nrt")
    return options


OPTIONS = _options()
# For functions that kernels call, and Python too, as they are.
part = register_jitable(**OPTIONS)
# The same for small ones, which are to be inlined.
inlined = register_jitable(forceinline=True, **OPTIONS)


def compiled(function: Function) -> Function:
    """Compile a function when it is called, and keep the result on disk. It releases Python's lock."""
    usual = numba.config.CACHE_DIR  # type: ignore[attr-defined]
    try:
        numba.config.CACHE_DIR = CACHE_FOLDER  # type: ignore[attr-defined]  # read by the next line
        return numba.njit(cache=bool(CACHE_FOLDER), nogil=True, **OPTIONS)(function)  # type: ignore[no-any-return]
    finally:
        numba.config.CACHE_DIR = usual  # type: ignore[attr-defined]


class Announcement(event.Listener):
    """Say once, on a terminal, that kernels are being compiled. Commands have a notice of their own."""

    message = "compiling, first time only: later runs start without this wait"
    is_wanted = True

    def on_start(self, event: Any) -> None:
        ours = str(event.data["dispatcher"].py_func.__module__).startswith("praemia.")  # code in a string has none
        if ours and self.is_wanted and parent_process() is None and sys.stderr is not None and sys.stderr.isatty():
            Announcement.is_wanted = False
            print(self.message, file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        pass


event.register("numba:compile", Announcement())


def _choose_folder() -> str:
    """Return the folder for compiled code; only this user may write to it, because what is read there is run."""
    sources = sorted(Path(__file__).parent.glob("*.py"))
    name = f"{PREFIX}{zlib.crc32(b''.join(source.read_bytes() for source in sources)):08x}"
    if numba.config.CACHE_DIR:  # type: ignore[attr-defined]
        folder = Path(numba.config.CACHE_DIR, name)  # type: ignore[attr-defined]
        with suppress(OSError):  # Numba would look for another one, and read there what other versions have left
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
            return str(folder)
        return ""
    for place in (_user_cache, _temporary):
        with suppress(OSError):
            base = place()
            base.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder = base / name
            folder.mkdir(mode=0o700, exist_ok=True)
            if base.is_absolute() and _is_ours(base) and _is_ours(folder):
                os.utime(folder)  # its time says when a process last used it
                _remove_unused(base, folder)
                return str(folder)
    return ""


def _remove_unused(base: Path, own: Path) -> None:
    """Remove the folders of other versions that no process used for a month; what cannot be removed stays.

    A folder is renamed before it is emptied, so that a process never finds half of what it needs.
    """
    latest = time.time() - UNUSED_SECONDS
    for folder in base.glob(f"{PREFIX}*"):
        with suppress(OSError):  # another process was faster
            if folder != own and folder.is_dir() and not folder.is_symlink() and folder.stat().st_mtime < latest:
                shutil.rmtree(folder.rename(f"{folder}-{os.getpid()}"), ignore_errors=True)


def _is_ours(folder: Path) -> bool:
    """Return whether a folder can be written to by this user and nobody else."""
    status = folder.stat()
    others_write = os.name == "posix" and status.st_mode & 0o022
    return status.st_uid == _user() and not others_write and os.access(folder, os.W_OK)


def _user_cache() -> Path:
    home = Path(os.path.expanduser("~"))
    places = {"win32": home / "AppData" / "Local", "darwin": home / "Library" / "Caches"}
    return places.get(sys.platform, Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")) / "praemia"


def _temporary() -> Path:
    return Path(tempfile.gettempdir()) / f"praemia-{_user()}"


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0


CACHE_FOLDER = _choose_folder()
