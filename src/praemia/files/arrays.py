"""Arrays with a JSON header in one .npz file, read without pickle; anybody may have made the file.

An ``ArchiveKind`` says what a kind of file has in it. What is wrong with a file is said in this package's words:
``DamageError`` holds one clause, ``damage_named`` makes a message of it that names the file. Sizes are checked before
anything of that size is read.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from praemia.errors import FileError, PraemiaError, SizeError
from praemia.limits import require_memory

HEADER = "header"
Types: TypeAlias = tuple[type, ...]

_DTYPE_KINDS = {"b": "true or false", "i": "whole numbers", "u": "whole numbers", "f": "numbers"}
_READERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


class ArrayType(NamedTuple):
    """What an array of a file may be: NumPy's kinds of types, and numbers of dimensions."""

    dtype_kinds: str
    dimensions: tuple[int, ...] = (1,)
    is_optional: bool = False


class DamageError(PraemiaError):
    """Say in one clause what is wrong with the bytes of a file."""


@contextmanager
def damage_named(where: str, what: str) -> Iterator[None]:
    """Turn any failure to read a file into one message: where the file is, what it should be, what is wrong."""
    try:
        yield
    except (FileError, SizeError):
        raise
    except PraemiaError as error:
        raise FileError(f"{where}: damaged, or not {what}: {error}") from None
    except Exception:  # damaged bytes can raise any error, with messages about internals
        raise FileError(f"{where}: damaged, or not {what}") from None


def pack_arrays(
    header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], plain: Callable[[object], object] | None = None
) -> bytes:
    """Write a header and arrays as the bytes of an .npz file; equal ones give equal bytes, whatever the time.

    ``plain`` makes data of what JSON does not know.
    """
    text = json.dumps(header, sort_keys=True, default=plain).encode()
    # The order in memory would show in the bytes.
    ordered = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **{HEADER: np.frombuffer(text, dtype=np.uint8), **ordered})  # type: ignore[arg-type]
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
        text = self.array(HEADER, ArrayType("u")).tobytes()
        try:
            header = json.loads(text)
        except Exception:
            raise DamageError("its header is not JSON") from None
        if not isinstance(header, dict):
            raise DamageError("its header is not a JSON object")
        return header

    def arrays(self, types: Mapping[str, ArrayType]) -> dict[str, NDArray[Any]]:
        """Return all arrays; one that is missing, or does not belong there, is an error."""
        extra = self._entries.keys() - types.keys() - {HEADER}
        if extra:
            raise DamageError(f"it has an array {min(extra)!r}, which does not belong there")
        present = {name: kind for name, kind in types.items() if name in self._entries or not kind.is_optional}
        return {name: self.array(name, kind) for name, kind in present.items()}

    def array(self, name: str, kind: ArrayType) -> NDArray[Any]:
        """Return one array."""
        if name not in self._entries:
            raise DamageError(f"it has no array {name!r}")
        try:
            return self._read(self._entries[name], kind)
        except DamageError as error:
            raise DamageError(f"its array {name!r} {error}") from None
        except Exception:
            raise DamageError(f"its array {name!r} cannot be read") from None

    def _read(self, entry: zipfile.ZipInfo, kind: ArrayType) -> NDArray[Any]:
        data = self._archive.read(entry)
        begin = 10 + int.from_bytes(data[8:10], "little") if data[6] == 1 else 12 + int.from_bytes(data[8:12], "little")
        shape, is_fortran, dtype = _array_header(data[:begin])
        if dtype.hasobject:
            raise DamageError("holds Python objects, which are never read")
        if dtype.kind not in kind.dtype_kinds:
            raise DamageError(f"is of type {dtype}; expected {_DTYPE_KINDS[kind.dtype_kinds[0]]}")
        if len(shape) not in kind.dimensions or min(shape) < 0:
            raise DamageError(f"has the shape {shape}; expected {' or '.join(map(str, kind.dimensions))} dimensions")
        num_claimed, num_bytes = math.prod(shape) * dtype.itemsize, len(data) - begin
        if num_claimed != num_bytes:
            raise DamageError(f"claims {num_claimed:,} bytes; there are {num_bytes:,}")
        array = np.frombuffer(data, dtype, offset=begin).reshape(shape, order="F" if is_fortran else "C")
        return array.astype(dtype.newbyteorder("="))


@lru_cache(maxsize=4096)  # thousands of runs have the same few
def _array_header(data: bytes) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Parse the header of an array in NumPy's format: its shape, order in memory and type."""
    file = io.BytesIO(data)
    shape, is_fortran, dtype = _READERS[npy.read_magic(file)](file)
    return shape, is_fortran, dtype


@dataclass(frozen=True)
class ArchiveKind:
    """A kind of file: its name in the header, what it is in messages, the format that is written, and what it holds.

    ``fields`` are those of the header, with their types as JSON gives them.
    """

    name: str
    what: str
    format: int
    fields: Mapping[str, Types]
    arrays: Mapping[str, ArrayType]

    def pack(self, values: Mapping[str, Any], plain: Callable[[object], object] | None = None) -> bytes:
        """Write fields and arrays as the bytes of a file; an array that is None is left out."""
        header = {"kind": self.name, "format": self.format, **{name: values[name] for name in self.fields}}
        arrays = {name: values[name] for name in self.arrays if values[name] is not None}
        return pack_arrays(header, arrays, plain)

    @contextmanager
    def unpack(self, data: bytes, where: str) -> Iterator[dict[str, Any]]:
        """Yield fields and arrays by name; what is wrong with them, here or within, is a FileError that names the file.

        An optional array that is missing is None.
        """
        with damage_named(where, self.what):
            packed = PackedArrays(data, where)
            header = packed.header()
            self._require_kind(header, where)
            self._require_fields(header)
            yield dict.fromkeys(self.arrays) | header | packed.arrays(self.arrays)

    def _require_kind(self, header: dict[str, Any], where: str) -> None:
        """Refuse another kind of file or another format, and take both out of the header."""
        name, number = header.pop("kind", self.name), header.pop("format", None)
        if name != self.name:
            raise FileError(f"{where}: a {name}; expected a {self.name}")
        if number != self.format:
            raise FileError(f"{where}: {other_format(self.what, number, self.format)}")

    def _require_fields(self, header: Mapping[str, Any]) -> None:
        """Refuse a header that lacks a field, has one too many, or one of another type."""
        missing, extra = self.fields.keys() - header.keys(), header.keys() - self.fields.keys()
        if missing:
            raise DamageError(f"its header has no {min(missing)!r}")
        if extra:
            raise DamageError(f"its header has a field {min(extra)!r}, which does not belong there")
        for name, value in header.items():
            types = self.fields[name]
            if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
                raise DamageError(f"its header has {name} = {str(value)[:50]!r}")


def other_format(what: str, number: object, expected: int) -> str:
    """Say that something was written by another version, and what to do."""
    if number == 1:
        remedy = "read it with praemia 0.2, or make it again"
    elif isinstance(number, int) and number < expected:
        remedy = "an older version wrote it, 0.3 or one in development; make it again"
    else:
        remedy = "read it with the version that wrote it, which is newer"
    return f"{what} of format {number}; this version of praemia reads format {expected}: {remedy}"
