"""Arrays with a JSON header in one file: a zip of plain arrays that nothing executes and nothing trusts.

What is wrong with a file is said in this package's words: ``DamageError`` holds one clause, ``damage_named`` makes a
message of it that names the file. Sizes are checked before anything of that size is read.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from praemia.errors import FileError, PraemiaError, SizeError
from praemia.limits import require_memory

HEADER = "header"
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the time of day must not change the bytes
_KINDS = {"b": "true or false", "i": "whole numbers", "u": "whole numbers", "f": "numbers"}
_READERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


class DamageError(PraemiaError):
    """Say in one clause what is wrong with the bytes of a file."""


@contextmanager
def damage_named(where: str, what: str) -> Iterator[None]:
    """Turn whatever fails in reading a file into one message: where it is, what it should be, what is wrong."""
    try:
        yield
    except (FileError, SizeError):
        raise
    except PraemiaError as error:
        raise FileError(f"{where}: damaged, or not {what}: {error}") from None
    except Exception:  # damaged bytes can fail in any way, and in words that help nobody
        raise FileError(f"{where}: damaged, or not {what}") from None


def pack_arrays(
    header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], plain: Callable[[object], object] | None = None
) -> bytes:
    """Write a header and arrays as the bytes of an .npz file; equal ones give equal bytes, unlike NumPy's writer.

    ``plain`` makes data of what JSON does not know.
    """
    text = json.dumps(header, sort_keys=True, default=plain).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in {HEADER: np.frombuffer(text, dtype=np.uint8), **arrays}.items():
            entry = io.BytesIO()
            npy.write_array(entry, array, allow_pickle=False)
            info = zipfile.ZipInfo(f"{name}.npy", _EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, entry.getvalue())
    return buffer.getvalue()


class PackedArrays:
    """The bytes of an .npz file, read array by array."""

    def __init__(self, data: bytes, where: str) -> None:
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(data))
        except Exception:
            raise DamageError("it is cut short, or no archive of arrays") from None
        entries = self._archive.infolist()
        # A damaged table of contents can hide an entry; the archive's last bytes say how many there are.
        if int.from_bytes(data[-12:-10], "little") != len(entries):
            raise DamageError("its table of contents is damaged")
        self._entries = {entry.filename.removesuffix(".npy"): entry for entry in entries}
        if len(self._entries) < len(entries):
            raise DamageError("it has two arrays of one name")
        # The archive says how much there is to unpack, which may be far more than the file's own size.
        require_memory(2 * sum(entry.file_size for entry in entries), f"reading {where}")

    def header(self) -> dict[str, Any]:
        """Return the header."""
        text = self.array(HEADER, "u", (1,)).tobytes()
        try:
            found = json.loads(text)
        except Exception:
            raise DamageError("its header is not JSON") from None
        if not isinstance(found, dict):
            raise DamageError("its header is not an object of JSON")
        return found

    def require_names(self, required: set[str], optional: set[str]) -> None:
        """Refuse a file that lacks an array or has one too many."""
        found = self._entries.keys() - {HEADER}
        if required - found:
            raise DamageError(f"it has no array {min(required - found)!r}")
        if found - required - optional:
            raise DamageError(f"it has an array {min(found - required - optional)!r}, which does not belong there")

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def array(self, name: str, kinds: str, dimensions: tuple[int, ...]) -> NDArray[Any]:
        """Return an array whose type is of one of NumPy's ``kinds``, with one of the numbers of dimensions."""
        if name not in self:
            raise DamageError(f"it has no array {name!r}")
        try:
            return self._read(self._entries[name], kinds, dimensions)
        except DamageError as error:
            raise DamageError(f"its array {name!r} {error}") from None
        except Exception:
            raise DamageError(f"its array {name!r} cannot be read") from None

    def _read(self, entry: zipfile.ZipInfo, kinds: str, dimensions: tuple[int, ...]) -> NDArray[Any]:
        data = self._archive.read(entry)
        begin = 10 + int.from_bytes(data[8:10], "little") if data[6] == 1 else 12 + int.from_bytes(data[8:12], "little")
        shape, is_fortran, dtype = _array_header(data[:begin])
        if dtype.hasobject:
            raise DamageError("holds Python objects, which are never read")
        if dtype.kind not in kinds:
            raise DamageError(f"is of type {dtype}; expected {_KINDS[kinds[0]]}")
        if len(shape) not in dimensions or min(shape) < 0:
            raise DamageError(f"has the shape {shape}; expected {' or '.join(map(str, dimensions))} dimensions")
        claimed, there = math.prod(shape) * dtype.itemsize, len(data) - begin
        if claimed != there:
            raise DamageError(f"claims {claimed:,} bytes; there are {there:,}")
        found = np.frombuffer(data, dtype, offset=begin).reshape(shape, order="F" if is_fortran else "C")
        return found.astype(dtype.newbyteorder("="))


@lru_cache(maxsize=4096)  # thousands of runs have the same few
def _array_header(data: bytes) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Parse the header of an array in NumPy's format: its shape, order in memory and type."""
    file = io.BytesIO(data)
    shape, is_fortran, dtype = _READERS[npy.read_magic(file)](file)
    return shape, is_fortran, dtype


def require_fields(header: Mapping[str, Any], types: Mapping[str, tuple[type, ...]]) -> None:
    """Refuse a header that lacks a field, has one too many, or one of another type."""
    for name in types.keys() - header.keys():
        raise DamageError(f"its header has no {name!r}")
    for name, value in header.items():
        if name not in types:
            raise DamageError(f"its header has a field {name!r}, which does not belong there")
        if not isinstance(value, types[name]) or (isinstance(value, bool) and bool not in types[name]):
            raise DamageError(f"its header has {name} = {str(value)[:50]!r}")


def require_kind(header: dict[str, Any], where: str, kind: str, number: int, what: str) -> None:
    """Refuse another kind of file or another format, and take both out of the header."""
    found_kind, found = header.pop("kind", kind), header.pop("format", None)
    if found_kind != kind:
        raise FileError(f"{where}: a {found_kind}; expected a {kind}")
    if found != number:
        raise FileError(f"{where}: {other_format(what, found, number)}")


def other_format(what: str, found: object, expected: int) -> str:
    """Say that something was written by another version, and what to do."""
    if found == 1:
        remedy = "read it with praemia 0.2, or make it again"
    elif isinstance(found, int) and found < expected:
        remedy = "a development version between 0.2 and 0.3 wrote it; make it again"
    else:
        remedy = "read it with the version that wrote it, which is newer"
    return f"{what} of format {found}; this version of praemia reads format {expected}: {remedy}"
