"""Write files so that they are there completely or not at all."""

from __future__ import annotations

import os
import stat
from functools import partial
from pathlib import Path
from secrets import token_hex

from praemia.errors import FileError

PARTIAL = ".partial"  # how the name of a file ends that is not whole yet


def write_whole(path: Path, data: bytes) -> None:
    """Write under a temporary name, flush to the disk, rename: nobody ever reads half a file.

    Permissions are those of a file written in place: a new file gets what the umask allows, an existing one keeps its
    own. A link is followed; a device or a pipe is written to, not replaced.
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


def read_bytes(path: Path) -> bytes:
    """Return a file's bytes; one that cannot be read is a FileError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}") from None
