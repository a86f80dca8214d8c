"""Render scenes as SVG, and in pixels: PNG files, the frames of a GIF, and Gymnasium's ``rgb_array``."""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np

from praemia.errors import require
from praemia.pictures.colours import PAPER, with_dark_rules
from praemia.pictures.scene import Item, Line, Scene, Text, place
from praemia.tasks.picture import Point

FONT = "DejaVu Sans, Helvetica, Arial, sans-serif"
FINER = 3  # pixels are painted so much larger and then reduced: smooth edges
ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}


def render_svg(scene: Scene) -> str:
    """Write a scene as an SVG document without scripts, fonts or addresses outside the file."""
    title = f"<title>{_plain(scene.title)}</title>\n" if scene.title else ""
    return with_dark_rules(svg_element(scene, f'{title}<rect width="100%" height="100%" fill="{PAPER}"/>\n'))


def svg_element(scene: Scene, before: str = "") -> str:
    """Write a scene as an element for a page that has the colours, after other elements."""
    width, height = f"{scene.width:.0f}", f"{scene.height:.0f}"
    head = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" font-family="{FONT}"'
    inside = "".join(f"{element(item)}\n" for item in scene.items)
    return f'<svg xmlns="http://www.w3.org/2000/svg" class="praemia" {head}>\n{before}{inside}</svg>\n'


def element(item: Item) -> str:
    """Write an item as an element of SVG."""
    if isinstance(item, Line):
        points = " ".join(f"{_number(x)},{_number(y)}" for x, y in item.points)
        if not item.thickness:
            fill, alpha = item.colour, ""
            if len(fill) == 9 and fill.startswith("#"):  # not every program reads colours of eight digits
                fill, alpha = fill[:7], f' fill-opacity="{int(fill[7:], 16) / 255:.2f}"'
            return f'<polygon points="{points}" fill="{fill}"{alpha}/>'
        ends = 'stroke-linecap="round"'
        if item.dash:
            ends = f'stroke-dasharray="{" ".join(_number(item.thickness * part) for part in item.dash)}"'
        return f'<polyline points="{points}" {_look("", item.colour, item.thickness)} {ends}/>'
    if isinstance(item, Text):
        bold = ' font-weight="bold"' if item.bold else ""
        anchor = f' text-anchor="{item.anchor}"' if item.anchor != "start" else ""
        where = f"{_attributes(x=item.x, y=item.baseline, font_size=item.size)}{bold}{anchor}"
        return f'<text {where} fill="{item.colour}">{_plain(item.text)}</text>'
    look, across, down = _look(item.fill, item.outline, item.thickness), item.width / 2, item.height / 2
    if item.is_round:
        return f"<ellipse {_attributes(cx=item.x, cy=item.y, rx=across, ry=down)} {look}/>"
    return f"<rect {_attributes(x=item.x - across, y=item.y - down, width=item.width, height=item.height)} {look}/>"


def _attributes(**values: float) -> str:
    return " ".join(f'{name.replace("_", "-")}="{_number(value)}"' for name, value in values.items())


def _look(fill: str, outline: str, thickness: float) -> str:
    inside = f'fill="{fill or "none"}"'
    return f'{inside} stroke="{outline}" stroke-width="{_number(thickness)}"' if outline else inside


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _plain(text: str) -> str:
    """Escape markup, and blank what XML does not allow in any form."""
    return escape("".join(character if character.isprintable() else " " for character in text))


def render_image(scene: Scene, scale: float = 1.0) -> Any:
    """Render a scene as an image of Pillow's, so many pixels for each of the scene's."""
    require("PIL")
    from PIL import Image

    size = (FINER * round(scale * scene.width), FINER * round(scale * scene.height))
    image = Image.new("RGB", size, PAPER)
    for item in place(scene.items, 0.0, 0.0, scale * FINER):
        _paint(image, item)
    return image.reduce(FINER)


def render_png(scene: Scene) -> bytes:
    """Render a scene as the bytes of a PNG file, fine enough for print."""
    buffer = io.BytesIO()
    render_image(scene, 2.0).save(buffer, "PNG")
    return buffer.getvalue()


def _paint(image: Any, item: Item) -> None:
    from PIL import ImageDraw

    brush = ImageDraw.Draw(image, "RGBA")  # colours may have an opacity
    if isinstance(item, Text):
        font = _font(item.bold, max(1, round(item.size)))
        brush.text((item.x, item.baseline), item.text, fill=item.colour, font=font, anchor=ANCHORS[item.anchor])
    elif isinstance(item, Line):
        _paint_line(brush, item)
    else:
        # Pillow draws an outline inside its box, a scene on its edge.
        half = item.thickness / 2 if item.outline else 0.0
        across, down = item.width / 2 + half, item.height / 2 + half
        corners = (item.x - across, item.y - down, item.x + across, item.y + down)
        shape = brush.ellipse if item.is_round else brush.rectangle
        width = max(1, round(item.thickness))
        shape(corners, fill=item.fill or None, outline=item.outline or None, width=width)


def _paint_line(brush: Any, item: Line) -> None:
    if not item.thickness:
        brush.polygon(item.points, fill=item.colour)
        return
    width = max(1, round(item.thickness))
    if item.dash:
        for points in _dashes(item):
            brush.line(points, fill=item.colour, width=width, joint="curve")
        return
    brush.line(item.points, fill=item.colour, width=width, joint="curve")
    half = (width - 1) / 2
    for x, y in (item.points[0], item.points[-1]):  # round ends, as SVG has them
        brush.ellipse((x - half, y - half, x + half, y + half), fill=item.colour)


def _dashes(item: Line) -> Iterator[list[Point]]:
    """Yield the marks of a dashed line."""
    points = np.array(item.points)
    places = np.cumsum(np.hypot(*np.diff(points, axis=0, prepend=points[:1]).T))  # of the points, along the line
    pattern = item.thickness * np.cumsum([0.0, *item.dash])
    turns = (pattern[-1] * np.arange(1.0 + places[-1] // pattern[-1])[:, None] + pattern[:-1]).ravel()
    for start, end in zip(turns[::2], np.minimum(turns[1::2], places[-1]), strict=True):
        along = [start, *places[(start < places) & (places < end)], end]
        if start < end:
            yield list(zip(*(np.interp(along, places, own).tolist() for own in points.T), strict=True))


@cache
def _font(bold: bool, size: int) -> Any:
    """Return DejaVu Sans, which has most letters, from the system or from matplotlib's files; else Pillow's own."""
    from PIL import ImageFont

    name, spec = f"DejaVuSans{'-Bold' if bold else ''}.ttf", find_spec("matplotlib")
    folder = Path(spec.origin or "").parent / "mpl-data" / "fonts" / "ttf" if spec else Path()
    for file in (name, str(folder / name)):
        try:
            return ImageFont.truetype(file, size)
        except OSError:
            continue
    return ImageFont.load_default(size)
