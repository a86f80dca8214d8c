"""Read the parts of a grid that a user writes: the rows of the map, what its letters stand for, and how moves slip.

    #        a wall
    .        floor
    S        floor on which episodes start; with several, each is as likely
    > < ^ v  floor that can be left in this direction only
    ~        floor that cannot be left, such as water
    +        a door: floor that belongs to no room and separates two
    | -      thin walls. A row or a column of the text that holds nothing but | - + is no row of cells: it is the line
             between its neighbours, where | and - are walls and + is a door
    a letter of the legend: floor that makes propositions true, when it is reached and while the agent stays there
    a letter of the rooms: floor; the room's propositions are true in every cell that walls and doors enclose with it

A letter of the legend or of the rooms has no other meaning: with ``S`` in the legend, another letter marks the start.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from praemia._support.limits import require_memory
from praemia.errors import ModelError
from praemia.machines.labels import as_label
from praemia.tasks.mdp_input import ROW_TOLERANCE

WALL, FLOOR, DOOR, START, WATER = "#", ".", "+", "S", "~"
THIN = ("|", "-")
ARROWS = {"^": "up", ">": "right", "v": "down", "<": "left"}

SLIP = (0.7, 0.1, 0.1, 0.1)  # as meant, to the right of it, to the left, nowhere
_BYTES_PER_CELL = 1_500  # 17 entries of four arrays, the copies made while they are sorted, and a name

Cell: TypeAlias = tuple[int, int]
Letters: TypeAlias = Mapping[str, str | Iterable[str]]
Slip: TypeAlias = tuple[float, float, float, float]


def read_rows(text: object) -> NDArray[np.str_]:
    """Return the characters of a map, str[rows, columns]; every row must have as many."""
    if not isinstance(text, str) or not text.strip():
        raise ModelError(f"map: found {text!r}; expected rows of text, such as '#S..#'")
    rows = [row.strip() for row in text.strip().splitlines()]
    width = len(rows[0])
    for r, row in enumerate(rows):
        if len(row) != width:
            raise ModelError(
                f"map, row {r + 1}: {len(row)} cells, where row 1 has {width}; fill it up with {WALL!r} or {FLOOR!r}"
            )
    require_memory(_BYTES_PER_CELL * len(rows) * width, f"a grid of {len(rows):,} × {width:,} cells")
    return np.array(list("".join(rows)), dtype="<U1").reshape(len(rows), width)


def read_slip(slip: object) -> Slip:
    """Return the four probabilities of a move, from four numbers or from one, which both sides share."""
    try:
        probs = np.asarray(slip)
        if probs.dtype.kind in "bcSU":
            raise TypeError  # NumPy would take numbers in quotes, true for 1, and complex numbers
        probs = probs.astype(np.float64)
    except (TypeError, ValueError):
        probs = np.full(0, np.nan)
    if probs.ndim == 0:
        side = float(probs)
        probs = np.array([1.0 - side, side / 2, side / 2, 0.0])
    if probs.shape != (4,) or np.any(probs < 0.0) or not abs(float(probs.sum()) - 1.0) <= ROW_TOLERANCE:
        raise ModelError(
            f"slip={slip!r}; expected four probabilities with sum 1 (as meant, to the right of it, to the left, "
            "nowhere), or one number from 0 to 1 for both sides together"
        )
    meant, to_right, to_left, nowhere = probs.tolist()
    return meant, to_right, to_left, nowhere


def read_letters(key: str, letters: object) -> dict[str, tuple[str, ...]]:
    """Return the propositions of each letter, sorted."""
    if not isinstance(letters, Mapping):
        raise ModelError(f"{key}={letters!r}; expected letters with their propositions, such as {{'i': 'item'}}")
    propositions = {}
    for letter, names in letters.items():
        if not is_letter(letter):
            raise ModelError(f"{key}: {letter!r} is not a letter; a cell is marked with a single character")
        if letter in (WALL, FLOOR):
            raise ModelError(f"{key}: {letter!r} stands for {'a wall' if letter == WALL else 'floor'}; take another")
        label = as_label(names, f"the label of {key}, letter {letter!r}")
        propositions[letter] = tuple(sorted(label))
    return propositions


def is_letter(text: object) -> bool:
    """Return whether something is a single character that can be seen."""
    return isinstance(text, str) and len(text) == 1 and text.isprintable() and not text.isspace()


def position(row: int, column: int) -> str:
    """Name a position on a map, counted from 1."""
    return f"map, row {row + 1}, column {column + 1}"
