"""Checks of the arguments that environments share."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from praemia.errors import ParameterError
from praemia.models.guards import Guard, Proposition


def size_between(name: str, value: object, low: int, high: int) -> None:
    """Raise a ParameterError unless an argument is a whole number in a range."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not low <= value <= high:
        raise ParameterError(f"{name}={value!r}; expected a whole number from {low} to {high:,}")


def only(name: str, among: Iterable[str]) -> Guard:
    """Return the guard that holds when a proposition is true and the others are not.

    Rules of one machine state must exclude each other also on labels that never occur.
    """
    guard: Guard = Proposition(name)
    for other in among:
        if other != name:
            guard = guard & ~Proposition(other)
    return guard
