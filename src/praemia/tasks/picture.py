"""How an MDP is drawn, as plain data: where its observations lie, and what is special about some of them.

An MDP carries a map that gives its picture; whoever changes the machine or the horizon keeps it. What a place is worth
depends on the machine, so a map names the propositions of a place, and ``praemia.pictures.task_picture`` finds out what
they do. Lengths are in cells, x to the right and y down: the cell in row r and column c has its centre at
(c + 0.5, r + 0.5).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, TypeAlias

from praemia.machines.labels import Label

Role: TypeAlias = Literal["plain", "start", "waypoint", "goal", "danger"]
Point: TypeAlias = tuple[float, float]
Axis: TypeAlias = tuple[str, tuple[str, ...]]
Segment: TypeAlias = tuple[float, float, float, float]


class Mark(NamedTuple):
    """What is special about an observation.

    Attributes
    ----------
    symbol : what is written in its place; meaning : its line in the legend, empty for none.
    label : the propositions that hold there; is_start : whether episodes start there.
    role : its colour, unless the machine gives it another for what the label does.
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


@dataclass(frozen=True)
class Picture:
    """An MDP as it is drawn.

    Attributes
    ----------
    spots : one for each observation, in their order.
    blocks : centres of the solid cells; walls : thin walls, as level or upright segments (x, y, x', y').
    links : pairs of observations that are joined by a line.
    caption : a line below the drawing.
    is_round : draw observations as circles, not as cells.
    actions : what actions are called on the map, where the MDP has only numbers for them; moves become arrows.
    axes : for each of x and y its title and what stands at the boundaries of its cells, from left or from below.
    """

    spots: tuple[Spot, ...]
    blocks: tuple[Point, ...] = ()
    walls: tuple[Segment, ...] = ()
    links: tuple[tuple[int, int], ...] = ()
    caption: str = ""
    is_round: bool = False
    actions: tuple[str, ...] = ()
    axes: tuple[Axis, ...] = ()

    def picture(self) -> Picture:
        """Return the picture itself: one that is made already can be given to an MDP as its map."""
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
        centres = [(spot.x, spot.y) for spot in self.spots] + list(self.blocks)
        return max(x for x, _ in centres) + 0.5, max(y for _, y in centres) + 0.5


def _in_order(mark: Mark) -> tuple[int, str]:
    return len(mark.symbol), mark.symbol  # 2 before 10


class Map(Protocol):
    """What an MDP carries so that it can be drawn. The picture is made when it is asked for: MDPs may be large."""

    def picture(self) -> Picture:
        """Return where the observations lie."""
