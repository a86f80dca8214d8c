"""Check what an MDP is made from: lists of transitions, label rules, and where episodes start."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from praemia._support.limits import require_memory
from praemia.errors import ModelError, require_whole
from praemia.machines.labels import Labelling

ROW_TOLERANCE = 1e-9  # of sums of probabilities
MAX_ACTIONS = 1 << 15  # policies are stored as int16 at most

Start: TypeAlias = int | Mapping[int, float] | ArrayLike


def require_sizes(num_observations: int, num_actions: int) -> None:
    require_whole("num_observations", num_observations, 1, error=ModelError)
    require_whole("num_actions", num_actions, 1, MAX_ACTIONS, ModelError)
    purpose = f"transition probabilities of {num_observations:,} × {num_actions:,} rows"
    require_memory(16 * num_observations * num_actions, purpose)


def require_rules(labelling: Labelling, num_observations: int, num_actions: int) -> None:
    """Refuse label rules that name observations or actions outside these sizes."""
    if not labelling.by_rules:
        return
    for rule in labelling.rules:
        for kind, number, size in (
            ("observation", rule.source, num_observations),
            ("action", rule.action, num_actions),
            ("observation", rule.target, num_observations),
        ):
            if number is not None and not 0 <= number < size:
                raise ModelError(f"a label rule names the {kind} {number}; expected 0 … {size - 1}")


def as_numbers(values: ArrayLike, what: str) -> NDArray[Any]:
    """Return numbers as an array, or say that they are none."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise ModelError(f"{what} is not an array: its rows differ in length") from None
    if array.dtype.kind not in "iuf":
        raise ModelError(f"{what} holds {array.dtype.name}; expected numbers")
    return array


def one_column(values: ArrayLike, what: str) -> NDArray[Any]:
    """Return numbers as an array of one dimension, or say what is wrong with them."""
    column = as_numbers(values, what)
    if column.ndim != 1:
        raise ModelError(f"{what} have shape {column.shape}; expected one dimension")
    return column


def whole_numbers(values: ArrayLike, size: int, kind: str) -> NDArray[np.int64]:
    """Return indices of observations or actions as an array, or say what is wrong with them."""
    column = one_column(values, f"{kind} numbers")
    if len(column) and not (column.min() >= 0 and column.max() < size):
        raise ModelError(f"{kind} numbers run from {column.min()} to {column.max()}; expected 0 … {size - 1}")
    whole = column.astype(np.int64)
    if not np.array_equal(whole, column):
        raise ModelError(f"{kind} number {column[whole != column][0]}; expected an integer")
    return whole


def transition_columns(
    num_observations: int, num_actions: int, o: ArrayLike, a: ArrayLike, z: ArrayLike, probs: ArrayLike
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return the columns of a list of transitions, each checked by itself."""
    sources = whole_numbers(o, num_observations, "observation")
    actions = whole_numbers(a, num_actions, "action")
    targets = whole_numbers(z, num_observations, "successor")
    weights = one_column(probs, "probs").astype(np.float64)
    lengths = [len(column) for column in (sources, actions, targets, weights)]
    if len(set(lengths)) > 1:
        raise ModelError(f"o, a, z and probs have {lengths} entries; they must have the same length")
    bad = ~((weights >= 0.0) & (weights < np.inf))
    if bad.any():
        i = int(np.argmax(bad))
        raise ModelError(
            f"observation {sources[i]}, action {actions[i]}: probability {weights[i]:g}; it must lie in [0, 1]"
        )
    return sources, actions, targets, weights


def start_probs_of(start: Start, num_observations: int) -> NDArray[np.float64]:
    """Return the distribution of the first observation, or say what is wrong with it."""
    if isinstance(start, int | np.integer):
        start = {int(start): 1.0}
    if isinstance(start, Mapping):
        for o in start:
            if not isinstance(o, int | np.integer) or not 0 <= o < num_observations:
                raise ModelError(f"start observation {o!r}; expected 0 … {num_observations - 1}")
        probs = np.zeros(num_observations)
        probs[list(start)] = one_column(list(start.values()), "start")
    else:
        probs = as_numbers(start, "start").astype(np.float64)
    if probs.shape != (num_observations,):
        raise ModelError(f"start has shape {probs.shape}; expected ({num_observations},), one per observation")
    total = float(probs.sum())
    if not (np.all(probs >= 0.0) and abs(total - 1.0) <= ROW_TOLERANCE):
        raise ModelError(f"start: probabilities sum to {total:.12g}; they must lie in [0, 1] and sum to 1")
    return probs
