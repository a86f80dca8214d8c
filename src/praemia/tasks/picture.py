"""The map of an MDP as plain data: where its observations lie, and the marks of some of them.

The value of a place depends on the machine, so a mark has the propositions of its place, and
``praemia.pictures.task_picture`` finds its role. Lengths are in cells, x to the right and y down: the cell in row r and
column c has its centre at (c + 0.5, r + 0.5).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, TypeAlias

from praemia.machines.labels import Label

Role: TypeAlias = Literal["plain", "start", "waypoint", "goal", "danger"]
Point: TypeAlias = tuple[float, float]
Segment: TypeAlias = tuple[float, float, float, float]


class Mark(NamedTuple):
    """The mark of an observation.

    Attributes
    ----------
    symbol : the text in its place; meaning : its line in the legend, empty for none.
    label : the propositions that hold there; is_start : whether episodes start there.
    role : its colour, unless the machine gives it another.
    """

    symbol: str
    meaning: str = ""
    label: Label = frozenset()
    is_start: bool = False
    role: Role = "plain"


class Spot(NamedTuple):
    """Where an observation lies, and its mark."""

    x: float
    y: float
    mark: Mark | None = None


class Axis(NamedTuple):
    """An axis of a map whose cells are ranges of numbers: its name, with its unit, and the borders of its cells."""

    name: str
    borders: tuple[float, ...]


@dataclass(frozen=True)
class Picture:
    """An MDP as it is plotted.

    Attributes
    ----------
    spots : one for each observation, in their order.
    blocks : centres of the solid cells; walls : thin walls, as level or upright segments (x, y, x', y').
    links : pairs of observations that are joined by a line.
    caption : a line below the drawing.
    is_round : plot observations as circles, not as cells.
    actions : what actions are called on the map, where the MDP has only numbers for them; moves become arrows.
    axes : to the right and upwards, where places are cells of two numbers; a cell without an observation is blank.
    """

    spots: tuple[Spot, ...]
    blocks: tuple[Point, ...] = ()
    walls: tuple[Segment, ...] = ()
    links: tuple[tuple[int, int], ...] = ()
    caption: str = ""
    is_round: bool = False
    actions: tuple[str, ...] = ()
    axes: tuple[Axis, Axis] | None = None

    def picture(self) -> Picture:
        """Return the picture itself, which can be the map of an MDP."""
        return self

    @property
    def legend(self) -> dict[str, list[Mark]]:
        """The marks of each meaning, in alphabetical order."""
        marks: dict[str, list[Mark]] = {}
        for mark in dict.fromkeys(spot.mark for spot in self.spots):
            if mark and mark.meaning:
                marks.setdefault(mark.meaning, []).append(mark)
        return {meaning: sorted(same, key=_in_order) for meaning, same in marks.items()}

    @property
    def extent(self) -> Point:
        """The width and the height, in cells."""
        if self.axes:
            return len(self.axes[0].borders) - 1.0, len(self.axes[1].borders) - 1.0
        centres = [(spot.x, spot.y) for spot in self.spots] + list(self.blocks)
        return max(x for x, _ in centres) + 0.5, max(y for _, y in centres) + 0.5


def _in_order(mark: Mark) -> tuple[int, str]:
    return len(mark.symbol), mark.symbol  # 2 before 10


class Map(Protocol):
    """The map of an MDP, which makes the picture when it is needed: MDPs may be large."""

    def picture(self) -> Picture:
        """Return where the observations lie."""
