"""Scenes as text: whatever has the colour of walls is drawn as a wall, other lines are dotted, texts are written.

Light areas and arrows are left out.
"""

from __future__ import annotations

import math

import numpy as np

from praemia.pictures.scene import WALL, Area, Line, Scene, Text
from praemia.tasks.picture import Point

ROOM = 0.35  # around the ends of a dotted line, in cells


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
