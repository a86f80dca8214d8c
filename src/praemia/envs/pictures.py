"""Pictures of environments: what one consists of, and how it is written as text.

An environment says where its observations lie and what is special about them; the drawing is done here (text)
and in ``svg`` once for all of them. Lengths are in cells, x to the right and y down: the cell in row r and
column c has its centre at (c + 0.5, r + 0.5).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from praemia.envs.grid_kernel import Cell, Grid
from praemia.errors import SizeError

MAX_SPOTS = 2_500
MAX_RING = 24

Role: TypeAlias = Literal["plain", "start", "waypoint", "goal", "danger"]
Point: TypeAlias = tuple[float, float]
Segment: TypeAlias = tuple[float, float, float, float]


@dataclass(frozen=True)
class Mark:
    """What is special about an observation: its symbol, its kind and its line in the legend."""

    symbol: str
    role: Role = "plain"
    meaning: str = ""


@dataclass(frozen=True)
class Spot:
    """Where an observation lies, and its mark."""

    x: float
    y: float
    mark: Mark | None = None


@dataclass(frozen=True)
class Picture:
    """An environment as it is drawn.

    Attributes
    ----------
    spots : one for each observation, in their order.
    blocks : centres of the solid cells; walls : thin walls, as level or upright segments (x, y, x', y').
    links : pairs of observations that are joined by a line.
    caption : a line below the drawing.
    round : draw observations as circles, not as cells.
    """

    title: str
    spots: tuple[Spot, ...]
    blocks: tuple[Point, ...] = ()
    walls: tuple[Segment, ...] = ()
    links: tuple[tuple[int, int], ...] = ()
    caption: str = ""
    round: bool = False

    @property
    def legend(self) -> tuple[Mark, ...]:
        """The marks that have a meaning, each once."""
        return tuple(dict.fromkeys(spot.mark for spot in self.spots if spot.mark and spot.mark.meaning))

    @property
    def extent(self) -> Point:
        """The width and the height, in cells."""
        centres = [(spot.x, spot.y) for spot in self.spots] + list(self.blocks)
        return max(x for x, _ in centres) + 0.5, max(y for _, y in centres) + 0.5


def require_drawable(num_observations: int) -> None:
    """Raise a SizeError if there are too many observations to draw."""
    if num_observations > MAX_SPOTS:
        raise SizeError(f"{num_observations:,} observations are too many for a picture; at most {MAX_SPOTS:,}")


def grid_picture(title: str, grid: Grid, marks: Mapping[Cell, Mark], caption: str = "") -> Picture:
    """Draw a grid: its cells, its solid cells, its thin walls, and marks on some of the cells."""
    rows, columns = grid.cells.shape
    free = [(int(r), int(c)) for r, c in np.argwhere(grid.cells >= 0)]
    solid = tuple((int(c) + 0.5, int(r) + 0.5) for r, c in np.argwhere(grid.cells < 0))
    edges: list[Segment] = [
        (c, y, c + 1, y) for y in (0, rows) for c in range(columns) if grid.cells[y - (y > 0), c] >= 0
    ]
    edges += [(x, r, x, r + 1) for x in (0, columns) for r in range(rows) if grid.cells[r, x - (x > 0)] >= 0]
    for pair in grid.blocked:
        (r, c), (s, d) = sorted(pair)
        edges.append((d, r, d, r + 1) if r == s else (c, s, c + 1, s))
    spots = tuple(Spot(c + 0.5, r + 0.5, marks.get((r, c))) for r, c in free)
    return Picture(title, spots, blocks=solid, walls=tuple(sorted(edges)), caption=caption)


def ring_picture(title: str, marks: Sequence[Mark], links: Sequence[tuple[int, int]]) -> Picture:
    """Draw observations on a circle."""
    count = len(marks)
    radius = max(1.0, 0.24 * count)
    angles = [2 * math.pi * i / count for i in range(count)]
    spots = tuple(
        Spot(radius * (1 + math.sin(t)) + 0.5, radius * (1 - math.cos(t)) + 0.5, mark)
        for t, mark in zip(angles, marks, strict=True)
    )
    return Picture(title, spots, links=tuple(links), round=True)


def layered_picture(title: str, marks: Sequence[Mark], distances: Sequence[int]) -> Picture:
    """Draw observations in columns, by the fewest steps in which each is reached; −1 is never, and comes last."""
    last = max(distances) + 1
    layers: dict[int, list[int]] = {}
    for o, distance in enumerate(distances):
        layers.setdefault(last if distance < 0 else distance, []).append(o)
    height = max(4, math.ceil(math.sqrt(len(marks) / 2)))
    spots: dict[int, Spot] = {}
    x = 0.5
    for distance in sorted(layers):
        members = layers[distance]
        for i, o in enumerate(members):
            column, row = divmod(i, height)
            spots[o] = Spot(x + column, (height - min(height, len(members))) / 2 + row + 0.5, marks[o])
        x += math.ceil(len(members) / height) + 0.4
    placed = tuple(spots[o] for o in range(len(marks)))
    return Picture(title, placed, caption="from left to right: the fewest steps from the start", round=True)


def render_text(picture: Picture, here: int | None = None) -> str:
    """Write a picture as text; ``here`` puts brackets round an observation."""
    width, height = picture.extent
    canvas = _Canvas(width, height, scale=(6, 3) if picture.round else (4, 2))
    for block in picture.blocks:
        canvas.block(*block)
    if len(picture.links) < len(picture.spots):  # more lines than that are a tangle in text
        for first, second in picture.links:
            canvas.link(picture.spots[first], picture.spots[second])
    for wall in picture.walls:
        canvas.wall(*wall)
    for o, spot in enumerate(picture.spots):
        symbol = spot.mark.symbol if spot.mark else "."
        canvas.write(spot, f"[{symbol}]" if o == here else symbol)
    legend = [f"  {mark.symbol}  {mark.meaning}" for mark in picture.legend]
    caption = [picture.caption] if picture.caption else []
    return "\n".join([picture.title, "", *canvas.lines(), "", *legend, *caption]).rstrip() + "\n"


def render_notes(picture: Picture, notes: Sequence[tuple[str, str]]) -> str:
    """Write a picture with two short texts in each place, one above the other, in place of its marks."""
    canvas = _Canvas(*picture.extent, scale=(8, 3))
    for block in picture.blocks:
        canvas.block(*block)
    for wall in picture.walls:
        canvas.wall(*wall)
    for spot, (above, below) in zip(picture.spots, notes, strict=True):
        canvas.write(Spot(spot.x, spot.y - 1 / 6), above)
        canvas.write(Spot(spot.x, spot.y + 1 / 6), below)
    return "\n".join(canvas.lines())


class _Canvas:
    """A page of characters, addressed in cells."""

    def __init__(self, width: float, height: float, scale: tuple[int, int]) -> None:
        self._scale = scale
        self._page = np.full((round(scale[1] * height) + 1, round(scale[0] * width) + 3), " ", dtype="<U1")

    def _at(self, x: float, y: float) -> tuple[int, int]:
        return round(self._scale[1] * y), round(self._scale[0] * x)

    def write(self, spot: Spot, text: str) -> None:
        row, column = self._at(spot.x, spot.y)
        left = column - len(text) // 2
        self._page[row, left : left + len(text)] = list(text)

    def block(self, x: float, y: float) -> None:
        (top, left), (bottom, right) = self._at(x - 0.5, y - 0.5), self._at(x + 0.5, y + 0.5)
        self._page[top : bottom + 1, left : right + 1] = "▒"

    def link(self, a: Spot, b: Spot) -> None:
        """Dot the line between two spots, leaving room round them."""
        length = math.hypot(a.x - b.x, a.y - b.y)
        for t in np.linspace(0.0, 1.0, max(2, round(5 * length) + 1)):
            if 0.35 < t * length < length - 0.35:
                self._page[self._at(a.x + t * (b.x - a.x), a.y + t * (b.y - a.y))] = "·"

    def wall(self, x0: float, y0: float, x1: float, y1: float) -> None:
        (top, left), (bottom, right) = self._at(x0, y0), self._at(x1, y1)
        if top == bottom:
            self._page[top, left + 1 : right] = "-"
        else:
            self._page[top + 1 : bottom, left] = "|"
        self._page[top, left] = self._page[bottom, right] = "+"

    def lines(self) -> list[str]:
        written = "\n".join("".join(line).rstrip() for line in self._page)
        return written.strip("\n").split("\n")
