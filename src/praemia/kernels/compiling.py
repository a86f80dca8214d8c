"""Compile kernels, and keep the result on disk so that nobody waits for it twice.

``specialised`` compiles a function in which some global names are replaced, among them other functions, and the same
in the functions that it calls: one text then serves several learners, each as fast as if it were written for that one.
(Numba does not cache functions that take others as arguments or capture them in closures. It does cache these, because
each has its own name.)

Compiled code is kept on disk, in ``CACHE_FOLDER``: in ``NUMBA_CACHE_DIR`` if that is set, else in the user's cache
folder, else in a private temporary folder. So it works where the package is installed read-only. There it has a folder
named after a checksum of the kernels, because Numba does not notice a change in a kernel that another file calls.
Folders of other kernels that have not been used for a month are removed from the user's cache; those in
``NUMBA_CACHE_DIR`` are left alone.
"""

from __future__ import annotations

import dis
import gc
import os
import shutil
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Mapping
from multiprocessing import parent_process
from operator import itemgetter
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar

from numba import config, njit
from numba.core import event
from numba.extending import register_jitable

from praemia.kernels.inside_numba import KernelCompiler, keep_in

Function = TypeVar("Function", bound=Callable[..., Any])


# For kernels that allocate nothing: no references to their arrays are counted, which would cost more than the work.
UNCOUNTED: dict[str, Any] = {"_nrt": False, "error_model": "numpy"}
# For those that Python calls and kernels are handed, to call: such a call is compiled once for all of them.
POINTED_AT: dict[str, Any] = {**UNCOUNTED, "no_cfunc_wrapper": False}
# For kernels that only kernels call: the wrapper for Python takes long to compile.
INTERNAL: dict[str, Any] = {**UNCOUNTED, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
# For small ones among them.
INLINED: dict[str, Any] = {**INTERNAL, "forceinline": True}
# For those among these that Python calls too, as plain Python.
jitable = register_jitable(pipeline_class=KernelCompiler, **INLINED)


def compiled(*, keep: bool = True, **options: Any) -> Callable[[Function], Function]:
    """Compile a function when it is called, with Numba's options. Keep the result on disk."""

    def compile_later(function: Function) -> Function:
        # The wrapper for C takes long to compile, and few are called through it.
        kernel = njit(**{"no_cfunc_wrapper": True, "pipeline_class": KernelCompiler, **options})(function)
        if config.DISABLE_JIT:  # type: ignore[attr-defined]
            return function
        if keep:
            keep_in(CACHE_FOLDER, kernel)
        return kernel  # type: ignore[no-any-return]

    return compile_later


def plain(kernel: Any) -> Any:
    """Return a kernel as the plain Python function that it was compiled from."""
    return getattr(kernel, "py_func", kernel)


def inlined(function: Function) -> Function:
    """Compile a small function, to be inlined where it is called."""
    return compiled(keep=False, **INLINED)(function)


def called(function: Function) -> Function:
    """Mark a function that ``specialised`` kernels call, outside their inner loops: it is not inlined.

    (That takes less time to compile.)
    """
    function.is_called = True  # type: ignore[attr-defined]
    return function


def specialised(function: Any, name: str, parts: Mapping[str, Any], **options: Any) -> Any:
    """Compile a function with ``parts`` in place of some global names, there and in the kernels that it calls.

    Kernels that are compiled by themselves are called as they are; others are plain functions, which are compiled with
    the parts in them. ``name`` must be unique to the parts.
    """
    return compiled(**options)(_rebound(function, name, _own_parts(function, parts, {})))


_shared: dict[Any, Any] = {}  # what was compiled of plain kernels: others share what is the same for them


def _own_parts(function: Any, parts: Mapping[str, Any], made: dict[Any, Any]) -> dict[str, Any]:
    """Return what takes the place of which global names of a kernel."""
    own = {}
    for name in {step.argval for step in dis.get_instructions(function) if step.opname == "LOAD_GLOBAL"}:
        thing = parts.get(name, function.__globals__.get(name))
        if isinstance(thing, FunctionType) and (name in parts or _is_kernel(thing)):
            own[name] = _compiled_part(thing, parts, made)
        elif name in parts:
            own[name] = thing
    return own


def _compiled_part(function: Any, parts: Mapping[str, Any], made: dict[Any, Any]) -> Any:
    """Return a function with parts in it, to be linked into another: its name need not be unique.

    Functions of learners are compiled as they are. Those of users may take other values from outside by now than when
    they were compiled, so nothing is shared of them.
    """
    if function not in made:
        own = _own_parts(function, parts, made) if _is_kernel(function) else {}
        key = function, *sorted(own.items(), key=itemgetter(0))
        kernel = _shared.get(key)
        if kernel is None:
            options = INTERNAL if hasattr(function, "is_called") else INLINED
            kernel = compiled(keep=False, **options)(_rebound(function, function.__name__, own))
            if is_ours(function):
                _shared[key] = kernel
        made[function] = kernel
    return made[function]


def is_ours(function: Any) -> bool:
    """Tell whether a function is one of this package."""
    return str(function.__module__).startswith("praemia.")


def _is_kernel(function: Any) -> bool:
    return str(function.__module__).startswith("praemia.kernels.")


def _rebound(function: Any, name: str, replacements: Mapping[str, Any]) -> Any:
    """Return the same function under another name, with some of its global names replaced."""
    code, outer = function.__code__, {**function.__globals__, **replacements}
    copy: Any = FunctionType(code, outer, name, function.__defaults__, function.__closure__)
    copy.__qualname__, copy.__module__, copy.__doc__ = name, function.__module__, function.__doc__
    return copy


class Announcement(event.Listener):
    """Say once, on a terminal, that kernels are being compiled. Commands have a notice of their own."""

    message = "compiling, once: later runs start without this wait"
    is_wanted = True

    def on_start(self, event: Any) -> None:
        ours = str(event.data["dispatcher"].py_func.__module__).startswith("praemia.")  # code in a string has none
        if ours and Announcement.is_wanted and sys.stderr.isatty() and parent_process() is None:
            Announcement.is_wanted = False
            print(self.message, file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        pass


class RareCollections(event.Listener):
    """Collect garbage less often while kernels are compiled.

    The compiler makes many objects and keeps them: looking through them as often as usual costs a tenth of its time.
    Numba compiles in one thread at a time and parts within wholes, so the thresholds are put back in reverse order.
    """

    def __init__(self) -> None:
        self._thresholds: list[tuple[int, int, int]] = []

    def on_start(self, event: Any) -> None:
        self._thresholds.append(gc.get_threshold())
        if self._thresholds[-1][0] > 0:  # 0: the user has switched it off
            gc.set_threshold(100_000, 50, 100)

    def on_end(self, event: Any) -> None:
        gc.set_threshold(*self._thresholds.pop())


event.register("numba:compile", Announcement())
event.register("numba:compile", RareCollections())

PREFIX = "kernels-"
UNUSED_SECONDS = 30 * 24 * 3600.0  # after which compiled code of other kernels is removed


def _folder_name() -> str:
    room = Path(__file__).parent
    sources = sorted([*room.glob("*.py"), *(room.parent / "learners").glob("*.py")])
    return f"{PREFIX}{zlib.crc32(b''.join(source.read_bytes() for source in sources)):08x}"


def _choose_folder() -> str:
    """Choose a folder that only this user can write to: what is read from it is run."""
    name = _folder_name()
    if config.CACHE_DIR:  # type: ignore[attr-defined]
        return os.path.join(config.CACHE_DIR, name)  # type: ignore[attr-defined]
    for base in (_user_cache(), Path(tempfile.gettempdir()) / f"praemia-{_user()}"):
        if not base.is_absolute():  # the user has no known home folder
            continue
        try:
            base.parent.mkdir(parents=True, exist_ok=True)
            base.mkdir(mode=0o700, exist_ok=True)
            folder = base / name
            folder.mkdir(mode=0o700, exist_ok=True)
            if _is_ours(base) and _is_ours(folder):
                os.utime(folder)  # its time says when a process last used it
                _remove_unused(base, folder)
                return str(folder)
        except OSError:
            continue
    return tempfile.mkdtemp(prefix="praemia-")


def _remove_unused(base: Path, own: Path) -> None:
    """Remove the folders of other kernels that no process used for a month.

    A folder is renamed before it is emptied, so that a process that needs it at this moment creates a new one and never
    finds half of it. What cannot be removed is left for another time.
    """
    latest = time.time() - UNUSED_SECONDS
    for folder in base.glob(f"{PREFIX}*"):
        try:
            if folder == own or folder.is_symlink() or not folder.is_dir() or folder.stat().st_mtime >= latest:
                continue
            doomed = folder.rename(f"{folder}-{os.getpid()}")
        except OSError:  # another process was faster
            continue
        shutil.rmtree(doomed, ignore_errors=True)


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
