"""A scene: areas, lines and texts as plain data, which ``renderers`` writes as SVG and in pixels.

x goes to the right and y down, in pixels, or in cells of a map. Later items cover earlier ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from praemia.pictures.colours import INK
from praemia.tasks.picture import Point

HEAD_LENGTH, HEAD_WIDTH = 5.0, 4.5  # of an arrow, in thicknesses
LETTER, BOLD_LETTER, HALF_LETTER = 0.56, 0.65, 0.36  # mean widths of a letter, half the height of most, in font sizes
MARGIN = 24.0  # of a page, in pixels


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


class Line(NamedTuple):
    """A line through points; of thickness 0, the area that they enclose.

    ``dash`` has the lengths of marks and gaps, in thicknesses; none if it is solid.
    """

    points: tuple[Point, ...]
    colour: str
    thickness: float = 0.0
    dash: tuple[float, ...] = ()


class Text(NamedTuple):
    """A line of text; y is the middle of its letters, and ``anchor`` says which end of it is at x."""

    x: float
    y: float
    text: str
    size: float
    colour: str = INK
    bold: bool = False
    anchor: str = "start"  # or middle, or end

    @property
    def baseline(self) -> float:
        """The y on which the letters stand."""
        return self.y + HALF_LETTER * self.size


Item: TypeAlias = Area | Line | Text


@dataclass(frozen=True)
class Scene:
    """Items on a page of a size."""

    width: float
    height: float
    items: tuple[Item, ...]
    title: str = ""  # for readers of the page who cannot see it


def arrow(start: Point, end: Point, colour: str, thickness: float) -> Line:
    """Return an arrow as the outline of its shaft and head."""
    length, neck, half = math.dist(start, end), HEAD_LENGTH * thickness, thickness / 2
    head = HEAD_WIDTH * half
    corners = ((0.0, half), (length - neck, half), (length - neck, head), (length, 0.0))
    return _outline(start, end, [*corners, *((along, -aside) for along, aside in corners[2::-1])], colour)


def arrow_head(start: Point, tip: Point, colour: str) -> Line:
    """Return an arrowhead from the middle of its base to its tip."""
    length = math.dist(start, tip)
    half = 0.4 * length
    return _outline(start, tip, [(0.0, half), (length, 0.0), (0.0, -half)], colour)


def _outline(start: Point, end: Point, corners: Iterable[Point], colour: str) -> Line:
    """Return the area within corners, which are lengths along the way from a point to another and aside from it."""
    (x0, y0), (x1, y1) = start, end
    length = math.dist(start, end) or 1.0
    across, down = (x1 - x0) / length, (y1 - y0) / length
    return Line(tuple((x0 + t * across - s * down, y0 + t * down + s * across) for t, s in corners), colour)


def place(items: Iterable[Item], x: float, y: float, scale: float = 1.0) -> list[Item]:
    """Move items, and make them larger or smaller."""
    placed: list[Item] = []
    for item in items:
        if isinstance(item, Line):
            points = tuple((x + scale * px, y + scale * py) for px, py in item.points)
            placed.append(item._replace(points=points, thickness=scale * item.thickness))
        else:
            sizes = {"width", "height", "thickness", "size"}.intersection(item._fields)
            changes = {name: scale * getattr(item, name) for name in sizes}
            placed.append(item._replace(x=x + scale * item.x, y=y + scale * item.y, **changes))
    return placed


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Estimate how wide a text is; fonts differ."""
    return (BOLD_LETTER if bold else LETTER) * size * len(text)


def scaled(scene: Scene, scale: float) -> Scene:
    """Make a scene larger or smaller."""
    return Scene(scale * scene.width, scale * scene.height, tuple(place(scene.items, 0.0, 0.0, scale)))


def label(text: str, size: float, colour: str = INK, *, bold: bool = False) -> Scene:
    """Return a line of text as a scene; of no height if it is empty."""
    width = text_width(text, size, bold=bold)
    return Scene(width, 1.5 * size * bool(text), (Text(0.0, 0.75 * size, text, size, colour, bold),) if text else ())


def stack(scenes: Iterable[Scene], gap: float = 0.0) -> Scene:
    """Put scenes below each other, from the left edge; those of no height are left out."""
    items: list[Item] = []
    width = y = 0.0
    for scene in scenes:
        if scene.height:
            y += gap if y else 0.0
            items += place(scene.items, 0.0, y)
            width, y = max(width, scene.width), y + scene.height
    return Scene(width, y, tuple(items))


def beside(scenes: Sequence[Scene], gap: float = 0.0) -> Scene:
    """Put scenes beside each other, with their middles at one height."""
    items: list[Item] = []
    x, height = 0.0, max((scene.height for scene in scenes), default=0.0)
    for scene in scenes:
        x += gap if x else 0.0
        items += place(scene.items, x, (height - scene.height) / 2)
        x += scene.width
    return Scene(x, height, tuple(items))


def flow(scenes: Iterable[Scene], width: float, gap: float) -> Scene:
    """Put scenes beside each other in rows, as many in a row as fit a width."""
    rows: list[list[Scene]] = []
    for scene in scenes:
        if rows and beside([*rows[-1], scene], gap).width <= width:
            rows[-1].append(scene)
        else:
            rows.append([scene])
    return stack(beside(row, gap) for row in rows)


def page(title: str, *parts: Scene, margin: float = MARGIN) -> Scene:
    """Return a page with a title above its parts."""
    whole = stack([label(title, 15.0, bold=True), *parts], 0.75 * MARGIN)
    return Scene(whole.width + 2 * margin, whole.height + 2 * margin, tuple(place(whole.items, margin, margin)), title)
