"""Records of results: a name, a value, and how far the value carries from one processor to another.

``log``, ``exp`` and the like come from the processor's library and may differ in their last bit; NumPy's sums and
products may be ordered otherwise. So a value carries as

    BITS   every bit, everywhere: additions, multiplications, divisions and roots in a fixed order, whole numbers, texts
    CLOSE  up to rounding: compared with a tolerance
    LOCAL  not at all: compared between two commits on one machine
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

RELATIVE, ABSOLUTE = 1e-9, 1e-12
LONGEST_TEXT = 100  # characters of a text that is kept as it is
LONGEST_LIST = 8  # numbers of a list that is kept as it is
GOLDEN_RATIO = 0.6180339887498949


class Reach(Enum):
    """How far a value carries."""

    BITS = "bits"
    CLOSE = "close"
    LOCAL = "local"


class Record(NamedTuple):
    """A result: numbers, texts, arrays, and lists and dictionaries of these."""

    name: str
    value: Any
    reach: Reach = Reach.CLOSE


def exact_forms(records: Iterable[Record]) -> dict[str, Any]:
    """Return all records with every bit, for a comparison on one machine."""
    return {record.name: bits(record.value) for record in records}


def portable_forms(records: Iterable[Record]) -> dict[str, Any]:
    """Return the records that carry to other machines, in the form in which they do."""
    forms = {Reach.BITS: bits, Reach.CLOSE: rounded}
    return {record.name: shortened(forms[record.reach](record.value)) for record in records if record.reach in forms}


def bits(value: Any) -> Any:
    """Return a value with every bit: floats in hexadecimal, arrays as digests."""
    value = _plain(value)
    if isinstance(value, dict):
        return {key: bits(part) for key, part in value.items()}
    if isinstance(value, list):
        return [bits(part) for part in value]
    if isinstance(value, np.ndarray):
        mean = f" mean {_means(value)[0]}" if value.dtype == np.float64 else ""  # tells a last bit from more
        return f"{_shape(value)} {_digest(value.tobytes())}{mean}"
    return value.hex() if isinstance(value, float) else value


def rounded(value: Any) -> Any:
    """Return a value up to rounding: of an array of floats its mean, and a mean with uneven weights."""
    value = _plain(value)
    if isinstance(value, dict):
        return {key: rounded(part) for key, part in value.items()}
    if isinstance(value, list) and len(value) > LONGEST_LIST and all(isinstance(part, float) for part in value):
        return rounded(np.array(value))
    if isinstance(value, list):
        return [rounded(part) for part in value]
    if isinstance(value, np.ndarray):
        return bits(value) if value.dtype != np.float64 else [_shape(value), *_means(value)]
    if isinstance(value, float):
        return float(f"{value:.12g}") if math.isfinite(value) else str(value)
    return value


def shortened(form: Any) -> Any:
    """Return a form with digests in place of long texts."""
    if isinstance(form, dict):
        return {key: shortened(part) for key, part in form.items()}
    if isinstance(form, list):
        return [shortened(part) for part in form]
    if isinstance(form, str) and len(form) > LONGEST_TEXT:
        return f"{len(form):,} characters {_digest(form.encode())}"
    return form


def differences(old: Any, new: Any, *, additions: bool = True) -> Iterator[str]:
    """Describe what differs between two forms, a line for each number or text; additions may be left out."""
    before, after = dict(_leaves(old)), dict(_leaves(new))
    for name in [*before, *(name for name in after if additions and name not in before)]:
        was, now = before.get(name, "nothing"), after.get(name, "nothing")
        if not _agree(was, now):
            yield f"{name}: was {_told(was)}, is {_told(now)}"


def write(forms: Mapping[str, Any]) -> str:
    """Return records as the text of a file, one to a line."""
    lines = (f"{json.dumps(name)}: {json.dumps(form, ensure_ascii=False)}" for name, form in forms.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _plain(value: Any) -> Any:
    """Return a value as one of: dict, list, array of int64, float64 or bool, str, bool, int, float, None."""
    if isinstance(value, Mapping):
        return {str(key): part for key, part in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        kind = {"b": "bool", "f": "<f8", "i": "<i8", "u": "<i8"}[value.dtype.kind]
        return np.ascontiguousarray(value, dtype=kind)
    return value


def _shape(array: NDArray[Any]) -> str:
    return f"{array.dtype}[{','.join(map(str, array.shape))}]"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def _means(array: NDArray[np.float64]) -> list[float | str]:
    flat = np.where(np.isnan(array), -1.0, array).ravel()
    weights = 1.0 + np.arange(1, len(flat) + 1) * GOLDEN_RATIO % 1.0
    return [rounded(math.fsum(part) / max(1, len(flat))) for part in (flat, flat * weights)]


def _leaves(form: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Return the numbers and texts of a form by their names."""
    if isinstance(form, dict) and form:
        for key, part in form.items():
            yield from _leaves(part, f"{name}/{key}" if name else key)
    elif isinstance(form, list) and form:
        for number, part in enumerate(form):
            yield from _leaves(part, f"{name}[{number}]")
    else:
        yield name, form


def _agree(was: Any, now: Any) -> bool:
    if isinstance(was, float) and isinstance(now, float):
        return math.isclose(was, now, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return type(was) is type(now) and bool(was == now)


def _told(form: Any) -> str:
    """Return a leaf for a message: hexadecimal floats as decimal numbers, long texts cut."""
    if isinstance(form, str) and form.startswith(("0x", "-0x")):
        return repr(float.fromhex(form))
    text = json.dumps(form, ensure_ascii=False)
    return text if len(text) <= 2 * LONGEST_TEXT else f"{text[:LONGEST_TEXT]} … ({len(text):,} characters)"
