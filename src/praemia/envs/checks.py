"""Checks of the arguments that environments share."""

from __future__ import annotations

import numpy as np

from praemia.errors import ParameterError


def size_between(name: str, value: object, low: int, high: int) -> None:
    """Raise a ParameterError unless an argument is a whole number in a range."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not low <= value <= high:
        raise ParameterError(f"{name}={value!r}; expected a whole number from {low} to {high:,}")
