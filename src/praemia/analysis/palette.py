"""How each learner looks: a colour of Okabe and Ito's palette and a line style, so that no reader needs the colour."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from praemia.experiments.builtin import UCBVI, UCBVI_PRM, UCRL2_B, UCRL2_B_PUBLISHED, UCRL2_L

INK, GREY, GRID = "#22272E", "#6B7280", "#DDE1E6"


@dataclass(frozen=True)
class Look:
    """A line's look.

    Attributes
    ----------
    colour : as ``#RRGGBB``; dash : lengths of marks and gaps in units of the line's width, empty for a solid line.
    marker : the name of a marker in matplotlib.
    """

    colour: str
    dash: tuple[float, ...]
    marker: str

    @property
    def rgb(self) -> tuple[int, int, int]:
        """The colour as three numbers from 0 to 255."""
        red, green, blue = (int(self.colour[i : i + 2], 16) for i in (1, 3, 5))
        return red, green, blue


_BLUE = Look("#0072B2", (), "o")
_ORANGE = Look("#E69F00", (6.0, 2.0), "s")
_GREEN = Look("#009E73", (6.0, 2.0, 1.5, 2.0), "^")
_VERMILLION = Look("#D55E00", (1.5, 1.5), "D")
_PURPLE = Look("#CC79A7", (3.0, 1.5), "v")
_SKY = Look("#56B4E9", (9.0, 2.0, 1.5, 2.0, 1.5, 2.0), "P")
_BLACK = Look("#000000", (1.0, 3.0), "X")

_OWN = {
    UCBVI_PRM.title: _BLUE,
    UCBVI.title: _ORANGE,
    UCRL2_L.title: _GREEN,
    UCRL2_B_PUBLISHED.title: _VERMILLION,
    UCRL2_B.title: _PURPLE,
}
_CYCLE = (_SKY, _BLACK, _ORANGE, _GREEN, _VERMILLION, _PURPLE, _BLUE)


def looks(titles: Iterable[str]) -> dict[str, Look]:
    """Give each learner its look: the paper's always the same, others what is left, in turn."""
    names = list(dict.fromkeys(titles))
    chosen = {name: _OWN[name] for name in names if name in _OWN}
    free = [look for look in _CYCLE if look not in chosen.values()] or list(_CYCLE)
    others = [name for name in names if name not in _OWN]
    chosen.update({name: free[i % len(free)] for i, name in enumerate(others)})
    return chosen
