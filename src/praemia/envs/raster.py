"""Pictures of environments in pixels, for Gymnasium's ``rgb_array``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.envs.pictures import Picture, Role, Spot
from praemia.envs.svg import FILL, INK, OUTLINE, PAPER, WALL
from praemia.errors import missing_extra

SIZE = 480  # pixels of the longer side, more or less
FINER = 3  # drawn so much larger and then reduced: smooth edges
AGENT, LINK = "#E69F00", "#AEB6C0"


def render_pixels(picture: Picture, here: int | None = None) -> NDArray[np.uint8]:
    """Draw a picture, uint8[height, width, 3]; ``here`` is the observation the agent is in."""
    try:
        from PIL import Image, ImageDraw
    except ImportError:
        raise missing_extra("pictures in pixels need Pillow", "plot") from None
    across, down = picture.extent
    unit = max(4, min(48, int(SIZE / max(across, down)))) * FINER
    image = Image.new("RGB", (round(unit * across) + 2 * FINER, round(unit * down) + 2 * FINER), PAPER)
    _Brush(ImageDraw.Draw(image), unit).paint(picture, here)
    return np.asarray(image.reduce(FINER))


class _Brush:
    """Paints the parts of a picture; lengths are in cells."""

    def __init__(self, draw: Any, unit: int) -> None:
        self._draw, self._unit = draw, unit

    def paint(self, picture: Picture, here: int | None) -> None:
        for x, y in picture.blocks:
            self._draw.rectangle(self._box(x, y, 0.5), fill=WALL)
        for i, j in picture.links:
            self._line(picture.spots[i].x, picture.spots[i].y, picture.spots[j].x, picture.spots[j].y, LINK, 0.03)
        for spot in picture.spots:
            self._place(spot, picture.round)
        for wall in picture.walls:
            self._line(*wall, WALL, 0.07)
        if here is not None:
            spot = picture.spots[here]
            self._draw.ellipse(self._box(spot.x, spot.y, 0.3), fill=AGENT, outline=INK, width=max(1, self._unit // 24))

    def _place(self, spot: Spot, is_round: bool) -> None:
        role: Role = spot.mark.role if spot.mark else "plain"
        look = {"fill": FILL[role], "outline": OUTLINE[role], "width": max(1, self._unit // 30)}
        if is_round:
            self._draw.ellipse(self._box(spot.x, spot.y, 0.42), **look)
        else:
            self._draw.rectangle(self._box(spot.x, spot.y, 0.5), **look)
        if spot.mark:
            at = self._pixels(spot.x, spot.y)
            self._draw.text(at, spot.mark.symbol, fill=INK, anchor="mm", font_size=0.4 * self._unit)

    def _line(self, x0: float, y0: float, x1: float, y1: float, colour: str, width: float) -> None:
        ends = (*self._pixels(x0, y0), *self._pixels(x1, y1))
        self._draw.line(ends, fill=colour, width=max(1, round(width * self._unit)))

    def _pixels(self, x: float, y: float) -> tuple[float, float]:
        return FINER + x * self._unit, FINER + y * self._unit

    def _box(self, x: float, y: float, half: float) -> tuple[float, float, float, float]:
        return (*self._pixels(x - half, y - half), *self._pixels(x + half, y + half))
