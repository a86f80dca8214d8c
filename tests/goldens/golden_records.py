"""Records of results, as they carry from one processor to another: numbers with 12 digits, arrays by two means.

``log`` and ``exp`` come from the processor's library and may differ in their last bit, and NumPy's sums may be ordered
otherwise. So numbers are compared with a tolerance; integers and texts are compared as they are.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from golden_sections import SECTIONS
from numpy.typing import NDArray

RELATIVE, ABSOLUTE = 1e-9, 1e-12
LONGEST = 100  # characters of a text that is kept as it is
GOLDEN_RATIO = 0.6180339887498949


def records(section: str, nudge: float = 0.0) -> dict[str, Any]:
    """Return the records of a section, with all coefficients of learners multiplied by 1 + ``nudge``."""
    return {f"{section}/{name}": recorded(value) for name, value in SECTIONS[section](nudge)}


def recorded(value: Any) -> Any:
    """Return a value as it is kept: an array of floats by its mean and a mean with uneven weights."""
    if isinstance(value, Mapping):
        return {str(key): recorded(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [recorded(part) for part in value]
    if isinstance(value, np.ndarray):
        is_float, shape = value.dtype.kind == "f", ",".join(map(str, value.shape))
        if is_float:
            return [f"float64[{shape}]", *_means(value)]
        return f"int64[{shape}] {_digest(np.ascontiguousarray(value, dtype='<i8').tobytes())}"
    if isinstance(value, float | np.floating):
        return float(f"{value:.12g}") if math.isfinite(value) else str(value)
    if isinstance(value, str) and len(value) > LONGEST:
        return f"{len(value):,} characters {_digest(value.encode())}"
    return value.item() if isinstance(value, np.generic) else value


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """Describe what differs from the old records, a line for each number or text."""
    after = dict(_leaves(new))
    for name, was in _leaves(old):
        now = after.get(name, "nothing")
        close = isinstance(was, float) and isinstance(now, float)
        if not (math.isclose(was, now, rel_tol=RELATIVE, abs_tol=ABSOLUTE) if close else was == now):
            yield f"{name}: was {was}, is {now}"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def _means(array: NDArray[np.float64]) -> list[Any]:
    flat = np.where(np.isnan(array), -1.0, array).ravel()
    weights = 1.0 + np.arange(1, len(flat) + 1) * GOLDEN_RATIO % 1.0
    return [recorded(math.fsum(part) / max(1, len(flat))) for part in (flat, flat * weights)]


def _leaves(form: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the numbers and texts of a form by their names."""
    if isinstance(form, dict | list) and form:
        for key, part in form.items() if isinstance(form, dict) else enumerate(form):
            yield from _leaves(part, f"{name}/{key}")
    else:
        yield name[1:], form
