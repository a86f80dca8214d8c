"""Open files to read them, and write them whole. Every reader and writer of this package comes here.

Only regular files are read. ``within`` is a folder that others may have filled: no link that leads out is followed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

from praemia.errors import FileError

LARGEST = 1 << 30  # bytes of a file that are read
TEXT = 16 << 20  # bytes of a text that are read
PARTIAL = ".partial"  # how the name of a file ends that is not whole yet
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)  # opening a pipe would wait for its other end


@contextmanager
def open_to_read(path: Path, *, within: Path | None = None) -> Iterator[BinaryIO]:
    """Open a regular file; anything else is a FileError, and so is a link out of the folder ``within``."""
    place = require_inside(path, within)
    with _failing("read", path):
        _require_regular(path, place.stat())  # before it is opened: opening a device may do something
        with open(place, "rb", opener=lambda name, flags: os.open(name, flags | _NONBLOCK)) as file:
            _require_regular(path, os.fstat(file.fileno()))  # another file may have taken its place
            yield file


def read_bytes(path: Path, *, within: Path | None = None, budget: int = LARGEST) -> bytes:
    """Return the bytes of a regular file, which may have at most ``budget`` of them."""
    with open_to_read(path, within=within) as file:
        size = os.fstat(file.fileno()).st_size
        if size > budget:
            raise FileError(f"{path}: {size:,} bytes; at most {budget:,} are read; build what is larger in Python")
        return file.read(size)


def write_whole(path: Path, data: bytes, *, within: Path | None = None) -> None:
    """Write under a temporary name, flush to the disk, rename; an existing file keeps its permissions.

    With ``within``, missing folders are made and only regular files replaced; without it, a device may be written to.
    """
    with _writing(path, within) as place:
        if place.exists() and not place.is_file() and not place.is_dir():
            place.write_bytes(data)
        else:
            _replace(place, data)


def append(path: Path, data: bytes, *, within: Path) -> None:
    """Append to a regular file below a folder, or begin one; processes may share it."""
    with _writing(path, within) as place, open(place, "ab") as file:
        file.write(data)


def require_inside(path: Path, folder: Path | None) -> Path:
    """Return where a path leads; refuse one that leaves a folder by a link."""
    try:
        place = path.resolve()
        base = place if folder is None else folder.resolve()
    except (OSError, ValueError, RuntimeError) as error:  # a path with a zero byte, or links in a circle
        raise FileError(f"{path}: cannot be read: {error}") from None
    if not place.is_relative_to(base):
        raise FileError(f"{path}: it leads out of {folder}, where nothing is read or written")
    return place


@contextmanager
def _writing(path: Path, within: Path | None) -> Iterator[Path]:
    place = require_inside(path, within)
    with _failing("written", path):
        if within is not None:
            place.parent.mkdir(parents=True, exist_ok=True)
            if place.exists():
                _require_regular(path, place.stat())
        yield place


@contextmanager
def _failing(what: str, path: Path) -> Iterator[None]:
    """Turn the errors of the system into one message about a file."""
    try:
        yield
    except OSError as error:
        raise FileError(f"{path}: cannot be {what}: {error.strerror}") from None


def _require_regular(path: Path, status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise FileError(f"{path}: this is a folder; expected a file")
    if not stat.S_ISREG(status.st_mode):
        raise FileError(f"{path}: this is not a regular file, but a device, a pipe or a socket")


def _replace(path: Path, data: bytes) -> None:
    mode = stat.S_IMODE(path.stat().st_mode) if path.is_file() else None
    temporary = path.parent / f".{token_hex(8)}{PARTIAL}"
    # The kernel applies the umask; to ask for it would change it for all threads. Nobody may read more than before.
    opener = partial(os.open, mode=0o666 if mode is None else mode)
    try:
        with open(temporary, "xb", opener=opener) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
