"""Draw scenes: as SVG, in pixels, as text.

SVG is standalone: no script, no font and no address outside the file. Pixels are Pillow's: PNG files, the frames of a
GIF, and Gymnasium's ``rgb_array``. In text, whatever has the colour of walls is drawn as a wall, other lines are dotted
and texts are written; light areas and arrows are left out.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np

from praemia.errors import require
from praemia.pictures.scene import PAPER, RIM, WALL, Area, Arrow, Item, Line, Scene, Text, place
from praemia.tasks.picture import Point

FONT = "DejaVu Sans, Helvetica, Arial, sans-serif"
FINER = 3  # pixels are drawn so much larger and then reduced: smooth edges
ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}
ROOM = 0.35  # around the ends of a dotted line of text, in cells


def render_svg(scene: Scene) -> str:
    """Write a scene as an SVG document."""
    size = f"{scene.width:.0f} {scene.height:.0f}"
    width, height = size.split()
    head = f'viewBox="0 0 {size}" width="{width}" height="{height}" role="img" font-family="{FONT}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {head}>',
        *([f"<title>{_plain(scene.title)}</title>"] if scene.title else []),
        f'<rect width="100%" height="100%" fill="{PAPER}"/>',
        svg_elements(scene.items),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def svg_elements(items: Iterable[Item]) -> str:
    """Write items as elements of an SVG document."""
    return "\n".join(map(_element, items))


def _element(item: Item) -> str:
    if isinstance(item, Area):
        return _area(item)
    if isinstance(item, Arrow):
        return "".join(map(_element, item.parts()))
    if isinstance(item, Line):
        points = " ".join(f"{_number(x)},{_number(y)}" for x, y in item.points)
        look = _look(item.fill, item.colour if item.thickness else "", item.thickness)
        return f'<poly{"gon" if item.fill else "line"} points="{points}" {look} stroke-linecap="round"/>'
    return _text(item)


def _area(item: Area) -> str:
    look = _look(item.fill, item.outline, item.thickness)
    if item.is_round:
        centre = f'cx="{_number(item.x)}" cy="{_number(item.y)}"'
        return f'<ellipse {centre} rx="{_number(item.width / 2)}" ry="{_number(item.height / 2)}" {look}/>'
    corner = f'x="{_number(item.x - item.width / 2)}" y="{_number(item.y - item.height / 2)}"'
    return f'<rect {corner} width="{_number(item.width)}" height="{_number(item.height)}" {look}/>'


def _text(item: Text) -> str:
    place = f'x="{_number(item.x)}" y="{_number(item.baseline)}" font-size="{_number(item.size)}"'
    bold = ' font-weight="bold"' if item.bold else ""
    anchor = f' text-anchor="{item.anchor}"' if item.anchor != "start" else ""
    rim = (
        f' paint-order="stroke" stroke="{PAPER}" stroke-width="{_number(2 * RIM * item.size)}"' if item.has_rim else ""
    )
    return f'<text {place}{bold}{anchor} fill="{item.colour}"{rim}>{_plain(item.text)}</text>'


def _look(fill: str, outline: str, thickness: float) -> str:
    inside = f'fill="{fill or "none"}"'
    return f'{inside} stroke="{outline}" stroke-width="{_number(thickness)}"' if outline else inside


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _plain(text: str) -> str:
    """Escape markup, and blank what XML does not allow in any form."""
    return escape("".join(character if character.isprintable() else " " for character in text))


def render_image(scene: Scene, scale: float = 1.0) -> Any:
    """Draw a scene as an image of Pillow's, so many pixels for each of the scene's."""
    return paint(scene, scale).reduce(FINER)


def paint(scene: Scene, scale: float = 1.0, ground: Any = None) -> Any:
    """Draw a scene ``FINER`` times as large, on paper or on a copy of an image; it is then reduced by this factor."""
    require("PIL")
    from PIL import Image, ImageDraw

    size = (FINER * round(scale * scene.width), FINER * round(scale * scene.height))
    image = Image.new("RGB", size, PAPER) if ground is None else ground.copy()
    brush = ImageDraw.Draw(image)
    for item in place(scene.items, 0.0, 0.0, scale * FINER):
        _paint(brush, item)
    return image


def render_png(scene: Scene) -> bytes:
    """Draw a scene as the bytes of a PNG file, fine enough for print."""
    buffer = io.BytesIO()
    render_image(scene, 2.0).save(buffer, "PNG")
    return buffer.getvalue()


def _paint(brush: Any, item: Item) -> None:
    if isinstance(item, Text):
        font = _font(item.bold, max(1, round(item.size)))
        look = {"fill": item.colour, "font": font, "anchor": ANCHORS[item.anchor]}
        rim = {"stroke_width": round(RIM * item.size), "stroke_fill": PAPER} if item.has_rim else {}
        brush.text((item.x, item.baseline), item.text, **look, **rim)
    elif isinstance(item, Arrow):
        for part in item.parts():
            _paint(brush, part)
    elif isinstance(item, Line):
        if item.fill:
            brush.polygon(item.points, fill=item.fill)
        if item.thickness:
            closed = (*item.points, item.points[0]) if item.fill else item.points
            width = _pixels(item.thickness)
            brush.line(closed, fill=item.colour, width=width, joint="curve")
            half = (width - 1) / 2
            for x, y in (item.points[0], item.points[-1]):  # round ends, as SVG has them
                brush.ellipse((x - half, y - half, x + half, y + half), fill=item.colour)
    else:
        _paint_area(brush, item)


def _paint_area(brush: Any, item: Area) -> None:
    # Pillow draws an outline inside its box, a scene on its edge.
    half = item.thickness / 2 if item.outline else 0.0
    across, down = item.width / 2 + half, item.height / 2 + half
    corners = (item.x - across, item.y - down, item.x + across, item.y + down)
    shape = brush.ellipse if item.is_round else brush.rectangle
    shape(corners, fill=item.fill or None, outline=item.outline or None, width=_pixels(item.thickness))


def _pixels(thickness: float) -> int:
    return max(1, round(thickness))


@cache
def _font(bold: bool, size: int) -> Any:
    """Return DejaVu Sans, which has most letters, from the system or from matplotlib's files; else Pillow's own."""
    from PIL import ImageFont

    name = f"DejaVuSans{'-Bold' if bold else ''}.ttf"
    spec = find_spec("matplotlib")
    files = [name]
    if spec is not None and spec.origin is not None:
        files.insert(0, str(Path(spec.origin).parent / "mpl-data" / "fonts" / "ttf" / name))
    for file in files:
        try:
            return ImageFont.truetype(file, size)
        except OSError:
            continue
    return ImageFont.load_default(size)


def render_text(scene: Scene, scale: tuple[int, int]) -> list[str]:
    """Write a scene in lines, with so many characters and lines for each unit of the scene."""
    page = _Page(scene, scale)
    for item in scene.items:
        if isinstance(item, Area) and item.fill == WALL:
            page.block(item)
        elif isinstance(item, Line) and item.colour == WALL:
            page.wall(*item.points)
        elif isinstance(item, Line):
            page.dotted(*item.points)
        elif isinstance(item, Text):
            page.write(item)
    return page.lines()


class _Page:
    """A page of characters, addressed in the units of a scene."""

    def __init__(self, scene: Scene, scale: tuple[int, int]) -> None:
        self._scale = scale
        size = (round(scale[1] * scene.height) + 1, round(scale[0] * scene.width) + 3)
        self._page = np.full(size, " ", dtype="<U1")

    def _at(self, x: float, y: float) -> tuple[int, int]:
        return round(self._scale[1] * y), round(self._scale[0] * x)

    def write(self, item: Text) -> None:
        row, column = self._at(item.x, item.y)
        left = column - len(item.text) // 2
        self._page[row, left : left + len(item.text)] = list(item.text)

    def block(self, item: Area) -> None:
        top, left = self._at(item.x - item.width / 2, item.y - item.height / 2)
        bottom, right = self._at(item.x + item.width / 2, item.y + item.height / 2)
        self._page[top : bottom + 1, left : right + 1] = "▒"

    def dotted(self, a: Point, b: Point) -> None:
        length = math.dist(a, b)
        for t in np.linspace(0.0, 1.0, max(2, round(5 * length) + 1)):
            if ROOM < t * length < length - ROOM:
                self._page[self._at(a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]))] = "·"

    def wall(self, a: Point, b: Point) -> None:
        (top, left), (bottom, right) = self._at(*a), self._at(*b)
        if top == bottom:
            self._page[top, left + 1 : right] = "-"
        else:
            self._page[top + 1 : bottom, left] = "|"
        self._page[top, left] = self._page[bottom, right] = "+"

    def lines(self) -> list[str]:
        text = "\n".join("".join(line).rstrip() for line in self._page)
        return text.strip("\n").split("\n")
