"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from praemia.errors import FileError

READABLE = 0o644  # a temporary file is its owner's alone; what it becomes is to be read
PARTIAL = ".partial"  # how the name of a file ends that is not whole yet


def write_whole(path: Path, data: bytes) -> None:
    """Write under a temporary name, flush to the disk, rename: a reader never meets half a file.

    A link is followed, and what is there but is no file (a device, a pipe) is written to, not replaced.
    """
    path = path.resolve()
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            path.write_bytes(data)
            return
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=PARTIAL)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary, READABLE)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise FileError(f"{path}: cannot be written: {error.strerror}") from None


def read_bytes(path: Path) -> bytes:
    """Return a file's bytes; one that cannot be read is a FileError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}") from None
