"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import stat
from functools import partial
from pathlib import Path
from secrets import token_hex

from praemia.errors import FileError

PARTIAL = ".partial"  # how the name of a file ends that is not whole yet


def write_whole(path: Path, data: bytes) -> None:
    """Write under a temporary name, flush to the disk, rename: a reader never meets half a file.

    Who may read it is as if it had been written in place: a new file gets what the umask allows, and one that was there
    keeps its permissions. A link is followed, and what is there but is no file (a device, a pipe) is written to, not
    replaced.
    """
    path = path.resolve()
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            path.write_bytes(data)
        else:
            _replace(path, data)
    except OSError as error:
        raise FileError(f"{path}: cannot be written: {error.strerror}") from None


def _replace(path: Path, data: bytes) -> None:
    kept = stat.S_IMODE(path.stat().st_mode) if path.is_file() else None
    temporary = path.parent / f".{token_hex(8)}{PARTIAL}"
    # The kernel applies the umask; to ask for it would change it for all threads. Nobody may read more than before.
    opener = partial(os.open, mode=0o666 if kept is None else kept)
    try:
        with open(temporary, "xb", opener=opener) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if kept is not None:
            os.chmod(temporary, kept)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def read_bytes(path: Path) -> bytes:
    """Return a file's bytes; one that cannot be read is a FileError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}") from None
