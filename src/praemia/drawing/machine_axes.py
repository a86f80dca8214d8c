"""Draw a machine inside a figure: Graphviz says where everything goes, and matplotlib draws it, with a state lit."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from praemia.drawing.diagrams import layout_json
from praemia.machines.machine import RewardMachine

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINTS = 72.0  # to the inch; Graphviz' unit
LIT = "#FFC44D"  # orange of Okabe and Ito's palette, lighter: black text stays legible on it
BASELINE = 0.05  # Graphviz' baselines lie a little low for matplotlib's font


@dataclass(frozen=True)
class MachineLayout:
    """Where the states and the edges of a machine go, in points: Graphviz' drawing operations.

    Attributes
    ----------
    width, height : of the whole.
    operations : (machine state or None, operation), in the order of drawing.
    """

    width: float
    height: float
    operations: tuple[tuple[int | None, dict[str, Any]], ...]

    @classmethod
    def of(cls, machine: RewardMachine) -> MachineLayout:
        """Let Graphviz lay a machine out; needs the extra ``diagrams``."""
        graph = json.loads(layout_json(machine))
        left, bottom, right, top = map(float, graph["bb"].split(","))
        return cls(right - left, top - bottom, tuple(_operations(graph)))


def _operations(graph: dict[str, Any]) -> Iterator[tuple[int | None, dict[str, Any]]]:
    for part in [*graph.get("edges", ()), *graph["objects"]]:
        name = str(part.get("name", ""))
        state = int(name[1:]) if name.startswith("s") and name[1:].isdecimal() else None
        for key in ("_draw_", "_hdraw_", "_ldraw_"):
            for operation in part.get(key, ()):
                yield state, operation


def draw_layout(axes: Axes, layout: MachineLayout, scale: float, lit: int | None = None) -> None:
    """Draw a machine on axes that are ``scale`` times as large as the layout; ``lit`` is a state to be seen at once."""
    axes.set(xlim=(-4, layout.width + 4), ylim=(-4, layout.height + 4), aspect="equal")
    axes.axis("off")
    pen = _Pen(axes, scale)
    for state, operation in layout.operations:
        pen.draw(operation, lit=lit is not None and state == lit)


class _Pen:
    """Draws Graphviz' operations, each with the colours, the line and the font that were set before it."""

    def __init__(self, axes: Axes, scale: float) -> None:
        self._axes, self._scale = axes, scale
        self._ink, self._fill, self._size, self._line = "black", "white", 12.0, 1.0

    def draw(self, operation: dict[str, Any], *, lit: bool) -> None:
        kind = operation["op"]
        if kind == "c":
            self._ink = operation["color"]
            self._line = 1.0
        elif kind == "C":
            self._fill = operation["color"]
        elif kind == "F":
            self._size = float(operation["size"])
        elif kind == "S" and operation["style"].startswith("setlinewidth("):
            self._line = float(operation["style"].removeprefix("setlinewidth(").rstrip(")"))
        elif kind in "eE":
            self._ellipse(operation["rect"], filled=kind == "E", lit=lit)
        elif kind in "bB":
            self._curve(operation["points"])
        elif kind in "pP":
            self._polygon(operation["points"])
        elif kind == "T":
            self._text(operation)

    def _ellipse(self, rect: list[float], *, filled: bool, lit: bool) -> None:
        from matplotlib.patches import Ellipse

        x, y, across, up = rect
        face = LIT if lit else self._fill
        width = self._scale * (2.2 if lit else 1.0) * self._line
        shape = Ellipse((x, y), 2 * across, 2 * up, facecolor=face if filled else "none", edgecolor=self._ink, lw=width)
        self._axes.add_patch(shape)

    def _curve(self, points: list[list[float]]) -> None:
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        codes = [Path.MOVETO, *[Path.CURVE4] * (len(points) - 1)]
        line = self._scale * self._line
        self._axes.add_patch(PathPatch(Path(points, codes), facecolor="none", edgecolor=self._ink, lw=line))

    def _polygon(self, points: list[list[float]]) -> None:
        from matplotlib.patches import Polygon

        self._axes.add_patch(Polygon(points, closed=True, facecolor=self._ink, edgecolor=self._ink, lw=self._scale))

    def _text(self, operation: dict[str, Any]) -> None:
        x, y = operation["pt"]
        side = {"c": "center", "l": "left", "r": "right"}[operation["align"]]
        size = self._size * self._scale * 0.92  # matplotlib's letters are a little wider than Graphviz reckons
        self._axes.text(
            x,
            y + BASELINE * self._size,
            operation["text"],
            ha=side,
            va="baseline",
            fontsize=size,
            color=self._ink,
            parse_math=False,
        )
