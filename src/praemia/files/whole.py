"""Files that are there whole or not at all, and arrays in a file that nothing executes."""

from __future__ import annotations

import io
import os
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from praemia.errors import FileError

READABLE = 0o644  # a temporary file is its owner's alone; what it becomes is to be read
PARTIAL = ".partial"  # how the name of a file ends that is not whole yet
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the time of day must not change the bytes


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


def other_format(what: str, found: object, expected: int) -> str:
    """Say that something was written by another version, and what to do."""
    is_older = isinstance(found, int) and found < expected
    if found == 1:
        remedy = "read it with praemia 0.2, or make it again"
    elif is_older:
        remedy = "a development version between 0.2 and 0.3 wrote it; make it again"
    else:
        remedy = "read it with the version that wrote it, which is newer"
    return f"{what} of format {found}; this version of praemia reads format {expected}: {remedy}"


def pack_arrays(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Write arrays as the bytes of an .npz file; equal arrays give equal bytes, which NumPy's own writer does not."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            entry = io.BytesIO()
            npy.write_array(entry, array, allow_pickle=False)
            info = zipfile.ZipInfo(f"{name}.npy", _EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, entry.getvalue())
    return buffer.getvalue()


def unpack_arrays(data: bytes) -> dict[str, NDArray[Any]]:
    """Read the arrays of an .npz file, without pickle. Bytes that are no such file raise errors of many kinds."""
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}
