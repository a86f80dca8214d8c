"""Compile kernels with Numba, and keep the result on disk so that nobody waits for it twice.

Compiled code is kept in a folder of its own for each version of the kernels, named after a checksum of their sources:
Numba notices a change in the file of a function, but not in another file that the function calls. The folder lies in
``NUMBA_CACHE_DIR`` if that is set, else in the user's folder for caches. What other versions left there is removed
after a month without use. Where no folder can be written, Numba looks for one itself, and where it finds none, kernels
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
    """Return how kernels are compiled: they allocate nothing, so that Numba need not count who owns their arrays.

    Counted at every call, for every array that a function is handed, this would take up to five times as long as the
    work. Numba does not document the option; a version that does not know it compiles slower kernels.
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
    options = {"nogil": True, **OPTIONS}
    usual = numba.config.CACHE_DIR  # type: ignore[attr-defined]
    numba.config.CACHE_DIR = CACHE_FOLDER  # type: ignore[attr-defined]  # Numba reads it when it is told to cache
    try:
        return numba.njit(cache=True, **options)(function)  # type: ignore[no-any-return]
    except RuntimeError:  # no folder can be written
        return numba.njit(**options)(function)  # type: ignore[no-any-return]
    finally:
        numba.config.CACHE_DIR = usual  # type: ignore[attr-defined]


class Announcement(event.Listener):
    """Say once, on a terminal, that kernels are being compiled. Commands have a notice of their own."""

    message = "compiling, first time only: later runs start without this wait"
    is_wanted = True

    def on_start(self, event: Any) -> None:
        ours = str(event.data["dispatcher"].py_func.__module__).startswith("praemia.")  # code in a string has none
        if not (ours and Announcement.is_wanted) or parent_process() is not None:
            return
        if sys.stderr is not None and sys.stderr.isatty():
            Announcement.is_wanted = False
            print(self.message, file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        pass


event.register("numba:compile", Announcement())


def _folder_name() -> str:
    sources = sorted(Path(__file__).parent.glob("*.py"))
    return f"{PREFIX}{zlib.crc32(b''.join(source.read_bytes() for source in sources)):08x}"


def _choose_folder() -> str:
    """Return the folder for compiled code: one that only this user can write to, because what is read there is run."""
    name = _folder_name()
    if numba.config.CACHE_DIR:  # type: ignore[attr-defined]
        return os.path.join(numba.config.CACHE_DIR, name)  # type: ignore[attr-defined]
    for base in (_user_cache(), Path(tempfile.gettempdir()) / f"praemia-{_user()}"):
        try:
            base.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder = base / name
            folder.mkdir(mode=0o700, exist_ok=True)
            if base.is_absolute() and _is_ours(base) and _is_ours(folder):
                os.utime(folder)  # its time says when a process last used it
                _remove_unused(base, folder)
                return str(folder)
        except OSError:
            continue
    return tempfile.mkdtemp(prefix="praemia-")


def _remove_unused(base: Path, own: Path) -> None:
    """Remove the folders of other versions that no process used for a month; what cannot be removed stays.

    A folder is renamed before it is emptied, so that a process that needs it at this moment creates a new one and never
    finds half of it.
    """
    latest = time.time() - UNUSED_SECONDS
    for folder in base.glob(f"{PREFIX}*"):
        try:
            if folder == own or folder.is_symlink() or not folder.is_dir() or folder.stat().st_mtime >= latest:
                continue
            shutil.rmtree(folder.rename(f"{folder}-{os.getpid()}"), ignore_errors=True)
        except OSError:  # another process was faster
            continue


def _is_ours(folder: Path) -> bool:
    """Tell whether a folder can be written to by this user and nobody else."""
    status = folder.stat()
    others_write = os.name == "posix" and status.st_mode & 0o022
    return status.st_uid == _user() and not others_write and os.access(folder, os.W_OK)


def _user_cache() -> Path:
    """Return the folder for caches on this system."""
    home = Path(os.path.expanduser("~"))
    places = {"win32": home / "AppData" / "Local", "darwin": home / "Library" / "Caches"}
    return places.get(sys.platform, Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")) / "praemia"


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0


CACHE_FOLDER = _choose_folder()
