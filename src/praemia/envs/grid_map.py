"""Maps of grids: text with a character for each cell, read and checked.

    #        a wall
    .        floor
    S        floor on which episodes start; with several, each is as likely
    > < ^ v  floor that can be left in this direction only
    +        a door: floor that belongs to no room and separates two
    a letter of the legend: floor that makes propositions true, when it is reached and while the agent stays there
    a letter of the rooms: floor; the room's propositions are true in every cell that walls and doors enclose with it

A letter of the legend or of the rooms has no other meaning: with ``S`` in the legend, another letter marks the start.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from praemia.envs.grid_kernel import ANY_WAY, MOVES, SLIP, Cell, Grid, Slip, number_cells, require_cells
from praemia.envs.pictures import Mark
from praemia.errors import ModelError
from praemia.machines.labels import as_label
from praemia.tasks.mdp import ROW_TOLERANCE

WALL, FLOOR, DOOR, START = "#", ".", "+", "S"
ARROWS = {"^": "up", ">": "right", "v": "down", "<": "left"}

Letters: TypeAlias = Mapping[str, str | Iterable[str]]


@dataclass(frozen=True, eq=False)
class GridMap:
    """A map, what its letters mean, and how moves slip: all that a task file says under ``grid``.

    Parameters
    ----------
    text : the rows; spaces around each are ignored.
    legend, rooms : a letter -> the propositions, one name or several.
    start : the letter of the cells in which episodes start; ``S`` unless given.
    slip : the probabilities of a move going as meant, to the right of that, to the left, nowhere; or one number, the
        probability of going to a side, each as likely.
    stay : whether there is a fifth action, which never slips.
    title, marks : the title of the picture and how letters are drawn, where the defaults are not wanted.
    """

    text: str
    legend: Letters = field(default_factory=dict)
    rooms: Letters = field(default_factory=dict)
    start: str | None = None
    slip: Any = SLIP
    stay: bool = False
    title: str = ""
    marks: Mapping[str, Mark] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "legend", _read_letters("legend", self.legend))
        object.__setattr__(self, "rooms", _read_letters("rooms", self.rooms))
        object.__setattr__(self, "slip", read_slip(self.slip))
        if not isinstance(self.stay, bool):
            raise ModelError(f"stay={self.stay!r}; expected true or false")
        for letter in self.legend.keys() & self.rooms.keys():
            raise ModelError(f"rooms: the letter {letter!r} is in the legend too; give the room another")
        self._check_start()
        self._check_letters()

    @cached_property
    def letters(self) -> NDArray[np.str_]:
        """str[R, C], the character of each cell."""
        return read_rows(self.text)

    @cached_property
    def grid(self) -> Grid:
        """The cells that can be entered, and the one-way cells among them."""
        exits = np.full(self.letters.shape, ANY_WAY)
        for arrow, move in ARROWS.items():
            if not self.explains(arrow):
                exits[self.letters == arrow] = MOVES.index(move)
        return Grid(number_cells(self.letters != WALL), exits=exits if np.any(exits != ANY_WAY) else None)

    @cached_property
    def starts(self) -> list[Cell]:
        """The cells in which episodes start."""
        return [(int(r), int(c)) for r, c in np.argwhere(self.letters == self.start)]

    @cached_property
    def labels(self) -> dict[Cell, frozenset[str]]:
        """The propositions of each cell that has any, in the order of the cells."""
        named = [(self.letters == letter, names) for letter, names in self.legend.items()]
        named += [(self._room(letter), names) for letter, names in self.rooms.items()]
        found: dict[Cell, frozenset[str]] = {}
        for where, names in named:
            for r, c in np.argwhere(where).tolist():
                found[r, c] = found.get((r, c), frozenset()) | frozenset(names)
        return dict(sorted(found.items()))

    def explains(self, letter: str) -> bool:
        """Tell whether a letter is one of the legend or of the rooms."""
        return letter in self.legend or letter in self.rooms

    def record(self) -> dict[str, Any]:
        """Return the map as a task file has it."""
        letters = {key: {a: list(names) for a, names in getattr(self, key).items()} for key in ("legend", "rooms")}
        start = {} if self.start == START and not self.explains(START) else {"start": self.start}
        rows = "\n".join("".join(row) for row in self.letters.tolist()) + "\n"
        given = {key: value for key, value in letters.items() if value}
        return {"map": rows, **given, **start, "slip": list(self.slip), "stay": self.stay}

    @cached_property
    def _regions(self) -> NDArray[np.int64]:
        """int64[R, C], the number of the region that walls and doors enclose; 0 for these themselves."""
        from scipy.ndimage import label

        closed = [WALL] if self.explains(DOOR) else [WALL, DOOR]
        numbers, _ = label(~np.isin(self.letters, closed))
        return np.asarray(numbers, dtype=np.int64)

    def _room(self, letter: str) -> NDArray[np.bool_]:
        """Return bool[R, C], the cells of a room."""
        named = np.unique(self._regions[self.letters == letter])
        for other in self.rooms.keys() - {letter}:
            shared = np.argwhere((self.letters == other) & np.isin(self._regions, named))
            if len(shared):
                raise ModelError(
                    f"{_place(*shared[0])}: the rooms {letter!r} and {other!r} are joined by floor; put walls and a "
                    f"door ({DOOR!r}) between them, or mark every cell with a letter of the legend"
                )
        return np.isin(self._regions, named)

    def _check_letters(self) -> None:
        plain = [WALL, FLOOR, DOOR, START, *ARROWS]
        known = [*plain, *self.legend, *self.rooms, str(self.start)]
        strange = np.argwhere(~np.isin(self.letters, known))
        if len(strange):
            r, c = strange[0]
            given = ", ".join(map(repr, [*self.legend, *self.rooms]))
            raise ModelError(
                f"{_place(r, c)}: unknown letter {str(self.letters[r, c])!r}; expected {' '.join(plain)}"
                + (f", or one that is explained: {given}" if given else ", or one that the legend explains")
            )
        for key in ("legend", "rooms"):
            for letter in getattr(self, key):
                if not np.any(self.letters == letter):
                    raise ModelError(f"{key}: the letter {letter!r} is nowhere on the map; mark a cell or leave it out")
        for letter in self.rooms:
            self._room(letter)

    def _check_start(self) -> None:
        if self.start is None and not self.explains(START):
            object.__setattr__(self, "start", START)
        if self.start is None:
            raise ModelError(f"map: {START!r} is explained otherwise, so no cell is the start; name its letter: start")
        if not _is_letter(self.start) or self.start == WALL:
            raise ModelError(f"start: found {self.start!r}; expected a letter of the map, such as {START!r}")
        if not self.starts:
            raise ModelError(
                f"map: no cell has the letter {self.start!r}, so there is no start; mark one, or several of which each "
                "is as likely"
            )


def read_rows(text: object) -> NDArray[np.str_]:
    """Return the characters of a map, str[R, C]; every row must have as many."""
    if not isinstance(text, str) or not text.strip():
        raise ModelError(f"map: found {text!r}; expected rows of text, such as '#S..#'")
    rows = [row.strip() for row in text.strip().splitlines()]
    width = len(rows[0])
    for r, row in enumerate(rows):
        if len(row) != width:
            raise ModelError(
                f"map, row {r + 1}: {len(row)} cells, where row 1 has {width}; fill it up with {WALL!r} or {FLOOR!r}"
            )
    require_cells(len(rows), width)
    return np.array(list("".join(rows)), dtype="<U1").reshape(len(rows), width)


def read_slip(slip: object) -> Slip:
    """Return the four probabilities of a move, from four numbers or from one, which both sides share."""
    try:
        given = np.asarray(slip)
        if given.dtype.kind in "bSU":
            raise TypeError  # numbers in quotes, or true for 1, would be taken
        given = given.astype(np.float64)
    except (TypeError, ValueError):
        given = np.full(0, np.nan)
    if given.ndim == 0:
        side = float(given)
        given = np.array([1.0 - side, side / 2, side / 2, 0.0])
    right = given.shape == (4,) and np.all(given >= 0.0) and abs(float(given.sum()) - 1.0) <= ROW_TOLERANCE
    if not right:
        raise ModelError(
            f"slip={slip!r}; expected four probabilities with sum 1 (as meant, to the right of it, to the left, "
            "nowhere), or one number from 0 to 1 for both sides together"
        )
    meant, to_right, to_left, nowhere = given.tolist()
    return meant, to_right, to_left, nowhere


def _read_letters(key: str, letters: object) -> dict[str, tuple[str, ...]]:
    if not isinstance(letters, Mapping):
        raise ModelError(f"{key}={letters!r}; expected letters with their propositions, such as {{'i': 'item'}}")
    read = {}
    for letter, names in letters.items():
        if not _is_letter(letter):
            raise ModelError(f"{key}: {letter!r} is no letter; a cell is marked with a single character")
        if letter in (WALL, FLOOR):
            raise ModelError(f"{key}: {letter!r} stands for {'a wall' if letter == WALL else 'floor'}; take another")
        given = as_label([names] if isinstance(names, str) else names, f"{key}, letter {letter!r}")
        read[letter] = tuple(sorted(given))
    return read


def _is_letter(text: object) -> bool:
    return isinstance(text, str) and len(text) == 1 and text.isprintable() and not text.isspace()


def _place(row: int, column: int) -> str:
    return f"map, row {row + 1}, column {column + 1}"
