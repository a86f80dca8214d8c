"""A scene: areas, lines, arrows and texts as plain data, which ``renderers`` draws as SVG, in pixels and as text.

x goes to the right and y down. Items are drawn in their order, so later ones cover earlier ones. Maps are built with
a cell as the unit and then placed on a page, whose unit is a pixel.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from praemia.tasks.picture import Point

INK, GREY, WALL, LINE, PAPER = "#22272e", "#5b6470", "#454c57", "#aeb6c0", "#ffffff"
HEAD_LENGTH, HEAD_WIDTH = 5.0, 4.5  # of an arrow, in thicknesses
LETTER, BOLD_LETTER, HALF_LETTER = 0.56, 0.65, 0.36  # mean widths of a letter, half the height of most, in font sizes
RIM = 0.14  # of a text, in font sizes


class Area(NamedTuple):
    """A rectangle, or an ellipse, around a centre."""

    x: float
    y: float
    width: float
    height: float
    fill: str = ""
    outline: str = ""
    thickness: float = 0.0
    is_round: bool = False

    def placed(self, x: float, y: float, scale: float) -> Area:
        centre, size = (x + scale * self.x, y + scale * self.y), (scale * self.width, scale * self.height)
        return Area(*centre, *size, self.fill, self.outline, scale * self.thickness, self.is_round)


class Line(NamedTuple):
    """A line through points; with a fill, the area that it encloses."""

    points: tuple[Point, ...]
    colour: str
    thickness: float
    fill: str = ""

    def placed(self, x: float, y: float, scale: float) -> Line:
        points = tuple((x + scale * px, y + scale * py) for px, py in self.points)
        return Line(points, self.colour, scale * self.thickness, self.fill)


class Arrow(NamedTuple):
    """An arrow from one point to another."""

    start: Point
    end: Point
    colour: str
    thickness: float

    def placed(self, x: float, y: float, scale: float) -> Arrow:
        start, end = ((x + scale * px, y + scale * py) for px, py in (self.start, self.end))
        return Arrow(start, end, self.colour, scale * self.thickness)

    def parts(self) -> tuple[Line, Line]:
        """Return the shaft and the head."""
        (x0, y0), (x1, y1) = self.start, self.end
        length = math.hypot(x1 - x0, y1 - y0)
        along, aside = (x1 - x0) / length, (y1 - y0) / length
        back, half = HEAD_LENGTH * self.thickness, HEAD_WIDTH * self.thickness / 2
        x, y = x1 - back * along, y1 - back * aside
        head = ((x1, y1), (x - half * aside, y + half * along), (x + half * aside, y - half * along))
        return Line((self.start, (x, y)), self.colour, self.thickness), Line(head, self.colour, 0.0, self.colour)


class Text(NamedTuple):
    """A line of text; y is the middle of its letters, and ``anchor`` says which end of it is at x.

    Letters with a rim have paper around them, and can be read above lines.
    """

    x: float
    y: float
    text: str
    size: float
    colour: str = INK
    bold: bool = False
    anchor: str = "start"  # or middle, or end
    has_rim: bool = False

    def placed(self, x: float, y: float, scale: float) -> Text:
        return self._replace(x=x + scale * self.x, y=y + scale * self.y, size=scale * self.size)

    @property
    def baseline(self) -> float:
        """The y on which the letters stand."""
        return self.y + HALF_LETTER * self.size


Item: TypeAlias = Area | Line | Arrow | Text


@dataclass(frozen=True)
class Scene:
    """Items on a page of a size."""

    width: float
    height: float
    items: tuple[Item, ...]
    title: str = ""  # for readers of the page who cannot see it

    def scaled(self, scale: float) -> Scene:
        """Make the page and all on it larger or smaller."""
        return Scene(scale * self.width, scale * self.height, tuple(place(self.items, 0.0, 0.0, scale)), self.title)


def place(items: Iterable[Item], x: float, y: float, scale: float = 1.0) -> list[Item]:
    """Move items, and make them larger or smaller."""
    return [item.placed(x, y, scale) for item in items]


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Guess how wide a text is; fonts differ."""
    return (BOLD_LETTER if bold else LETTER) * size * len(text)
