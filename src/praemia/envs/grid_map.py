"""Maps of grids: text with a character for each cell, and thin walls between them; ``grid_text`` has the notation.

A move up, right, down or left goes as meant, to the right of that, to the left of it, or nowhere, each with its
probability. A move into a wall, off the grid or through a side that is shut stays where it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.envs.grid_text import (
    ARROWS,
    DOOR,
    FLOOR,
    SLIP,
    START,
    THIN,
    WALL,
    WATER,
    Cell,
    Letters,
    is_letter,
    position,
    read_letters,
    read_rows,
    read_slip,
)
from praemia.errors import ModelError, require_flag
from praemia.machines.labels import Indices, Label, LabelRule, Labels
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.picture import Mark, Picture, Segment, Spot

MOVES = ("up", "right", "down", "left")
STAY = "stay"
_TURNS = (0, 1, -1)  # quarter turns from the direction meant, in the order of a slip
_WAYS = {"up": "upwards", "right": "to the right", "down": "downwards", "left": "to the left"}


@dataclass(frozen=True, eq=False)
class GridMap:
    """A map, the meaning of its letters, and how moves slip: the parameters of ``praemia.envs.grid``."""

    text: str
    legend: Letters = field(default_factory=dict)
    rooms: Letters = field(default_factory=dict)
    start: str | None = None
    slip: Any = SLIP
    stay: bool = False
    slip_when_blocked: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "legend", read_letters("legend", self.legend))
        object.__setattr__(self, "rooms", read_letters("rooms", self.rooms))
        object.__setattr__(self, "slip", read_slip(self.slip))
        require_flag("stay", self.stay, ModelError)
        require_flag("slip_when_blocked", self.slip_when_blocked, ModelError)
        twice = self.legend.keys() & self.rooms.keys()
        if twice:
            raise ModelError(f"rooms: the letter {min(twice)!r} is in the legend too; give the room another")
        self._check_start()
        self._check_letters()

    # --- what is on the map ---

    @cached_property
    def characters(self) -> NDArray[np.str_]:
        """str[rows, columns], the characters of the text."""
        return read_rows(self.text)

    @cached_property
    def _lines(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which rows and which columns of the text are lines between cells."""
        thin = np.isin(self.characters, self._as_usual(*THIN))
        on_line = thin | np.isin(self.characters, self._as_usual(DOOR))
        rows, columns = (np.any(thin, axis=axis) & np.all(on_line, axis=axis) for axis in (1, 0))
        return np.asarray(rows), np.asarray(columns)

    def _on_cells(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return the part of an array over the text that belongs to cells."""
        rows, columns = self._lines
        return array[~rows][:, ~columns]

    @cached_property
    def letters(self) -> NDArray[np.str_]:
        """str[R, C], the character of each cell."""
        return self._on_cells(self.characters)

    @cached_property
    def cells(self) -> Indices:
        """int64[R, C], the observation of each cell, −1 for a wall."""
        free = self.letters != WALL
        return np.where(free, np.cumsum(free).reshape(free.shape) - 1, -1)

    @cached_property
    def free_cells(self) -> list[Cell]:
        """The cells that are not walls, row by row: cell o is observation o."""
        return [(int(r), int(c)) for r, c in np.argwhere(self.cells >= 0)]

    @cached_property
    def thin_walls(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Where thin walls are: bool[R + 1, C] above, between and below the rows, bool[R, C + 1] beside the columns."""
        rows, columns = (2 * np.cumsum(~lines) - ~lines for lines in self._lines)  # cells at odd places, lines at even
        walls = np.zeros(2 * np.array(self.letters.shape) + 1, dtype=bool)
        np.logical_or.at(walls, np.ix_(rows, columns), np.isin(self.characters, self._as_usual(*THIN)))
        return walls[::2, 1::2], walls[1::2, ::2]

    @cached_property
    def destinations(self) -> Indices:
        """int64[4, O], the cell that each move leads to if it does not slip; the same one if there is no way."""
        framed = np.pad(self.cells, 1, constant_values=-1)
        beside = np.stack((framed[:-2, 1:-1], framed[1:-1, 2:], framed[2:, 1:-1], framed[1:-1, :-2]))
        return np.where((beside >= 0) & ~self._shut_sides(), beside, self.cells)[:, self.cells >= 0]

    def _shut_sides(self) -> NDArray[np.bool_]:
        """Return bool[4, R, C], whether a cell cannot be left by a move: for thin walls, one-way cells and water."""
        level, upright = self.thin_walls
        shut = np.stack((level[:-1], upright[:, 1:], level[1:], upright[:, :-1]))
        for arrow in self._as_usual(*ARROWS):
            for move, name in enumerate(MOVES):
                shut[move] |= (self.letters == arrow) & (name != ARROWS[arrow])
        return shut | np.isin(self.letters, self._as_usual(WATER))

    @cached_property
    def starts(self) -> list[int]:
        """The observations in which episodes start."""
        return [int(o) for o in self.cells[self.letters == self.start]]

    @cached_property
    def labels(self) -> dict[int, Label]:
        """The propositions of each observation that has any, in the order of the observations."""
        propositions = [(self.letters == letter, names) for letter, names in self.legend.items()]
        propositions += [(self._on_cells(self._room(letter)), names) for letter, names in self.rooms.items()]
        labels: dict[int, Label] = {}
        for where, names in propositions:
            for o in self.cells[where].tolist():
                labels[o] = labels.get(o, frozenset()) | frozenset(names)
        return dict(sorted(labels.items()))

    def explains(self, letter: str) -> bool:
        """Return whether a letter is one of the legend or of the rooms."""
        return letter in self.legend or letter in self.rooms

    def _as_usual(self, *characters: str) -> list[str]:
        """Return those of some characters that have their usual meaning on this map."""
        redefined = {*self.legend, *self.rooms} | ({self.start} & {WATER, *THIN})
        return [character for character in characters if character not in redefined]

    # --- what is made of it ---

    def mdp(self, labels: Labels | None = None) -> LabeledMDP:
        """Make the MDP of the map; ``labels`` stand in for those of its letters, which hold where a cell is reached."""
        actions = (*MOVES, STAY) if self.stay else MOVES
        if labels is None:
            labels = [LabelRule(names, target=o) for o, names in self.labels.items()]
        return LabeledMDP.from_entries(
            len(self.free_cells),
            len(actions),
            *self._entries(),
            labels=labels,
            start={o: 1.0 / len(self.starts) for o in self.starts},
            observations=[f"{r},{c}" for r, c in self.free_cells],
            actions=actions,
        ).with_map(self)

    def _entries(self) -> tuple[Indices, Indices, Indices, NDArray[np.float64]]:
        """Return the transition probabilities (o, a, o', p): moves, which may slip, and *stay*, which does not."""
        destinations = self.destinations
        here = np.arange(destinations.shape[1])
        parts = []
        for a in range(len(MOVES)):
            blocked = (destinations[a] == here) & (not self.slip_when_blocked)
            for turn, probability in zip(_TURNS, self.slip[:3], strict=True):
                parts.append((a, np.where(blocked, here, destinations[(a + turn) % 4]), probability))
            parts.append((a, here, self.slip[3]))
        if self.stay:
            parts.append((len(MOVES), here, 1.0))
        return (
            np.tile(here, len(parts)),
            np.repeat([a for a, _, _ in parts], len(here)),
            np.concatenate([targets for _, targets, _ in parts]),
            np.repeat([probability for _, _, probability in parts], len(here)),
        )

    def makes(self, mdp: LabeledMDP) -> bool:
        """Return whether an MDP is what the map makes; one that it only shows may differ."""
        own = self.mdp()
        rules = [set(part.labelling.rules) for part in (own, mdp) if part.labelling.by_rules]
        return len(rules) == 2 and rules[0] == rules[1] and own.has_transitions_of(mdp)

    def record(self) -> dict[str, Any]:
        """Return the map as a task file has it."""
        letters = {key: {a: list(names) for a, names in getattr(self, key).items()} for key in ("legend", "rooms")}
        start = {} if self.start == START and not self.explains(START) else {"start": self.start}
        rows = "\n".join("".join(row) for row in self.characters.tolist()) + "\n"
        meanings = {key: value for key, value in letters.items() if value}
        blocked = {} if self.slip_when_blocked else {"slip_when_blocked": False}
        return {"map": rows, **meanings, **start, "slip": list(self.slip), "stay": self.stay, **blocked}

    def picture(self) -> Picture:
        """Return the cells with their letters, the walls, and how often moves slip."""
        marks = self._marks()
        spots = [Spot(c + 0.5, r + 0.5, marks.get(str(self.letters[r, c]))) for r, c in self.free_cells]
        blocks = [(int(c) + 0.5, int(r) + 0.5) for r, c in np.argwhere(self.cells < 0)]
        slips = 1.0 - self.slip[0]
        caption = f"moves slip with probability {slips:.3g}" if slips else ""
        return Picture(tuple(spots), tuple(blocks), tuple(self._walls()), caption=caption)

    def _marks(self) -> dict[str, Mark]:
        """Return the mark of each letter that has a meaning."""
        start = str(self.start)
        marks = {a: Mark(a, f"can be left {_WAYS[ARROWS[a]]} only") for a in self._as_usual(*ARROWS)}
        marks |= {a: Mark(a, "door") for a in self._as_usual(DOOR)}
        marks |= {a: Mark(a, "cannot be left", role="danger") for a in self._as_usual(WATER)}
        marks |= {a: Mark(a, f"room: {', '.join(names)}") for a, names in self.rooms.items()}
        for a, names in self.legend.items():
            marks[a] = Mark(a, "" if names == (a,) else ", ".join(names), frozenset(names))
        if len(self.starts) < len(self.free_cells) / 2:
            marks[start] = (marks[start] if self.explains(start) else Mark(start))._replace(is_start=True)
        return marks

    def _walls(self) -> list[Segment]:
        """Return the outer edges of the cells at the rim, and the thin walls, as segments."""
        level, upright = (sides.copy() for sides in self.thin_walls)
        level[[0, -1]], upright[:, [0, -1]] = self.cells[[0, -1]] >= 0, self.cells[:, [0, -1]] >= 0
        segments = [(float(c), float(y), c + 1.0, float(y)) for y, c in np.argwhere(level)]
        return sorted(segments + [(float(x), float(r), float(x), r + 1.0) for r, x in np.argwhere(upright)])

    # --- what can be wrong with it ---

    @cached_property
    def _regions(self) -> NDArray[np.int64]:
        """int64[rows, columns], the index of the region that walls and doors enclose; 0 for these themselves."""
        from scipy.ndimage import label

        closed = [WALL, *self._as_usual(DOOR, *THIN)]
        numbers, _ = label(~np.isin(self.characters, closed))
        return np.asarray(numbers, dtype=np.int64)

    def _room(self, letter: str) -> NDArray[np.bool_]:
        """Return bool[rows, columns], the cells of a room."""
        regions = np.unique(self._regions[self.characters == letter])
        for other in self.rooms.keys() - {letter}:
            shared = np.argwhere((self.characters == other) & np.isin(self._regions, regions))
            if len(shared):
                raise ModelError(
                    f"{position(*shared[0])}: the rooms {letter!r} and {other!r} are joined by floor; put walls and a "
                    f"door ({DOOR!r}) between them, or mark every cell with a letter of the legend"
                )
        return np.isin(self._regions, regions)

    def _check_letters(self) -> None:
        plain = [WALL, FLOOR, DOOR, START, WATER, *THIN, *ARROWS]
        strange = np.argwhere(~np.isin(self.characters, [*plain, *self.legend, *self.rooms, str(self.start)]))
        if len(strange):
            r, c = strange[0]
            letters = ", ".join(map(repr, [*self.legend, *self.rooms]))
            raise ModelError(
                f"{position(r, c)}: unknown letter {str(self.characters[r, c])!r}; expected {' '.join(plain)}"
                + (f", or one that is explained: {letters}" if letters else ", or one that the legend explains")
            )
        rows, columns = self._lines
        lost = np.argwhere(np.isin(self.characters, self._as_usual(*THIN)) & ~rows[:, None] & ~columns)
        if len(lost):
            r, c = lost[0]
            raise ModelError(
                f"{position(r, c)}: a thin wall {str(self.characters[r, c])!r} among cells; the whole row or the whole "
                f"column must be a line between cells, of {' '.join(THIN)} where there is a wall and {DOOR} where not"
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
        if not is_letter(self.start) or self.start == WALL:
            raise ModelError(f"start: found {self.start!r}; expected a letter of the map, such as {START!r}")
        if not self.starts:
            raise ModelError(
                f"map: no cell has the letter {self.start!r}, so there is no start; mark one, or several of which each "
                "is as likely"
            )
