"""Scenes in pixels, by Pillow: PNG files, the frames of a GIF, and Gymnasium's ``rgb_array``."""

from __future__ import annotations

import io
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from praemia.errors import require
from praemia.pictures.scene import PAPER, Area, Arrow, Item, Line, Scene, Text, place

FINER = 3  # drawn so much larger and then reduced: smooth edges
ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}


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
        brush.text((item.x, item.baseline), item.text, fill=item.colour, font=font, anchor=ANCHORS[item.anchor])
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
