"""A machine as a scene: Graphviz says where everything goes, and one state may be lit."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from praemia.machines.machine import RewardMachine
from praemia.pictures.diagrams import layout_json
from praemia.pictures.scene import Area, Item, Line, Scene, Text
from praemia.tasks.picture import Point

LIT = "#ffc44d"  # orange of Okabe and Ito's palette, lighter: black text stays legible on it
CURVE_POINTS = 12  # for each piece of a curve
ANCHORS = {"c": "middle", "l": "start", "r": "end"}


class MachineLayout:
    """Where Graphviz puts the states and the edges of a machine, in points; needs the extra ``diagrams``.

    Attributes
    ----------
    width, height : of the whole.
    """

    def __init__(self, machine: RewardMachine) -> None:
        graph = json.loads(layout_json(machine))
        left, bottom, right, top = map(float, graph["bb"].split(","))
        self.width, self.height = right - left, top - bottom
        self._parts = [*graph.get("edges", ()), *graph["objects"]]

    def scene(self, lit: int | None = None) -> Scene:
        """Draw the machine; ``lit`` is a state to be seen at once."""
        items = [item for part in self._parts for item in self._items(part, lit)]
        return Scene(self.width, self.height, tuple(items))

    def _items(self, part: dict[str, Any], lit: int | None) -> Iterator[Item]:
        is_lit = lit is not None and part.get("name") == f"s{lit}"
        for key in ("_draw_", "_hdraw_", "_ldraw_"):
            yield from self._drawn(part.get(key, ()), is_lit)

    def _drawn(self, operations: Any, is_lit: bool) -> Iterator[Item]:
        """Turn Graphviz' operations into items, each with the colours, the line and the font set before it."""
        ink, fill, size, thickness = "black", "", 12.0, 1.0
        for operation in operations:
            kind = operation["op"]
            if kind == "c":
                ink = operation["color"]
            elif kind == "C":
                fill = operation["color"]
            elif kind == "F":
                size = float(operation["size"])
            elif kind == "S" and operation["style"].startswith("setlinewidth("):
                thickness = float(operation["style"].removeprefix("setlinewidth(").rstrip(")"))
            elif kind in "eE":
                x, y, across, up = operation["rect"]
                inside = (LIT if is_lit else fill) if kind == "E" else ""
                width = thickness * (2.2 if is_lit else 1.0)
                yield Area(x, self.height - y, 2 * across, 2 * up, inside, ink, width, is_round=True)
            elif kind in "bB":
                yield Line(tuple(_curve([self._point(p) for p in operation["points"]])), ink, thickness)
            elif kind in "pP":
                yield Line(tuple(map(self._point, operation["points"])), ink, thickness, fill=ink)
            elif kind == "T":
                x, y = self._point(operation["pt"])
                text = Text(x, y, operation["text"], size, ink, False, ANCHORS[operation["align"]])
                yield text._replace(y=2 * text.y - text.baseline)  # Graphviz says where letters stand

    def _point(self, point: Any) -> Point:
        return float(point[0]), self.height - float(point[1])


def _curve(points: list[Point]) -> Iterator[Point]:
    """Yield points along a row of Bézier curves, which share their ends."""
    yield points[0]
    for i in range(0, len(points) - 1, 3):
        for step in range(1, CURVE_POINTS + 1):
            t = step / CURVE_POINTS
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
            parts = points[i : i + 4]
            yield (
                sum(w * x for w, (x, _) in zip(weights, parts, strict=True)),
                sum(w * y for w, (_, y) in zip(weights, parts, strict=True)),
            )
