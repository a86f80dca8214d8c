"""Arrays with a JSON header in one .npz file, read without pickle and within a budget of memory."""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from praemia.errors import FileError, PraemiaError, SizeError

HEADER = "header"
LARGEST, LARGEST_HEADER = 2 << 30, 64 << 20  # bytes of all arrays of a file, and of its header, once unpacked
_KINDS = {"b": "true or false", "i": "integers", "u": "integers", "f": "numbers"}


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


def read_archive(data: bytes, where: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the header and the arrays of a file of any kind. Any error may be raised."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
        _require_budget(entries, where)
        arrays = {entry.filename.removesuffix(".npy"): _read_array(archive, entry) for entry in entries}
    # A damaged table of contents can hide an entry; the archive's last bytes say how many there are.
    if not int.from_bytes(data[-12:-10], "little") == len(entries) == len(arrays):
        raise DamageError("its table of contents is damaged")
    header = json.loads(arrays.pop(HEADER).tobytes())
    if not isinstance(header, dict):
        raise DamageError("its header is not a JSON object")
    return header, arrays


def _require_budget(entries: list[zipfile.ZipInfo], where: str) -> None:
    """Refuse to unpack more than any file of ours holds; no entry unpacks to more than it claims."""
    header = sum(entry.file_size for entry in entries if entry.filename == f"{HEADER}.npy")
    size = sum(entry.file_size for entry in entries)
    if header > LARGEST_HEADER or size > LARGEST:
        raise FileError(
            f"{where}: {size:,} bytes once unpacked, {header:,} of them the header; at most {LARGEST:,} and "
            f"{LARGEST_HEADER:,} are read"
        )


def _read_array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> NDArray[Any]:
    """Read an array in pieces, once its size is known to be that of its entry."""
    with archive.open(entry) as file:
        npy.read_magic(file)
        shape, _, dtype = npy.read_array_header_1_0(file)
        if math.prod(shape) * dtype.itemsize != entry.file_size - file.tell():
            raise DamageError(f"{entry.filename} is not as long as it claims")
    with archive.open(entry) as file:
        array: NDArray[Any] = npy.read_array(file, allow_pickle=False)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


@dataclass(frozen=True)
class ArchiveKind:
    """A kind of file: its name in the header and in messages, its format, and the header's fields with their types."""

    name: str
    what: str
    format: int
    fields: Mapping[str, tuple[type, ...]]
    arrays: Mapping[str, ArrayType]

    def pack(self, values: Mapping[str, Any], plain: Callable[[object], object] | None = None) -> bytes:
        """Write fields and arrays, if not None, as bytes that depend on nothing else; ``plain`` is JSON's default."""
        header = {name: values[name] for name in self.fields} | {"kind": self.name, "format": self.format}
        text = json.dumps(header, sort_keys=True, default=plain).encode()
        # The order in memory would show in the bytes.
        arrays = {name: np.ascontiguousarray(values[name]) for name in self.arrays if values[name] is not None}
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **{HEADER: np.frombuffer(text, dtype=np.uint8), **arrays})  # type: ignore[arg-type]
        return buffer.getvalue()

    @contextmanager
    def unpack(self, data: bytes, where: str) -> Iterator[dict[str, Any]]:
        """Yield fields and arrays by name, None if they are missing; any mistake is a FileError."""
        with damage_named(where, self.what):
            header, arrays = read_archive(data, where)
            kind, number = header.pop("kind", self.name), header.pop("format", None)
            if kind != self.name:
                raise FileError(f"{where}: a {kind}; expected a {self.name}")
            if number != self.format:
                raise FileError(f"{where}: {other_format(self.what, number, self.format)}")
            self._require_parts(header, arrays)
            yield dict.fromkeys(self.arrays) | header | arrays

    def _require_parts(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Refuse a file that lacks a part, or has one too many or of another type."""
        required = {name for name, kind in self.arrays.items() if not kind.is_optional}
        for name in sorted((self.fields.keys() - header) | (required - arrays.keys())):
            raise DamageError(f"it has no {name!r}")
        for name in sorted((header.keys() - self.fields) | (arrays.keys() - self.arrays)):
            raise DamageError(f"it has {name!r}, which does not belong there")
        for name, types in self.fields.items():
            if not isinstance(header[name], types) or (isinstance(header[name], bool) and bool not in types):
                raise DamageError(f"its header has {name} = {str(header[name])[:50]!r}")
        for name, array in arrays.items():
            kinds, dimensions, _ = self.arrays[name]
            if array.dtype.kind not in kinds or array.ndim not in dimensions:
                expected = f"{_KINDS[kinds[0]]} in {' or '.join(map(str, dimensions))} dimensions"
                raise DamageError(f"{name} is {array.dtype} of shape {array.shape}; expected {expected}")


def other_format(what: str, number: object, expected: int) -> str:
    """Say that something was written by another version, and what to do."""
    remedy = "read it with the version that wrote it, or make it again"
    return f"{what} of format {number}; this version of praemia reads format {expected}: {remedy}"
