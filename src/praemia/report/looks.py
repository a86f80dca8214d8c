"""Looks: the colour, dash and marker of each learner, the same in every chart and figure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from markupsafe import Markup

from praemia.experiments.paper import HEADROOM, UCBVI, UCBVI_PRM, UCRL2_B, UCRL2_B_BEST, UCRL2_B_PUBLISHED, UCRL2_L


@dataclass(frozen=True)
class Look:
    """A line's look.

    Attributes
    ----------
    name : of its colour; colour : as ``#RRGGBB``; on_dark : the colour on a dark page.
    dash : lengths of marks and gaps in units of the line's width, empty for a solid line.
    marker : the name of a marker in matplotlib.
    """

    name: str
    colour: str
    on_dark: str
    dash: tuple[float, ...]
    marker: str


# Okabe and Ito's colours, which colour-blind readers can tell apart.
BLUE = Look("blue", "#0072B2", "#4DA9E8", (), "o")
ORANGE = Look("orange", "#C98A00", "#F0B429", (6.0, 2.0), "s")
GREEN = Look("green", "#009E73", "#2BC79A", (6.0, 2.0, 1.5, 2.0), "^")
VERMILLION = Look("vermillion", "#D55E00", "#FF8A4C", (1.5, 1.5), "D")
PURPLE = Look("purple", "#B5609A", "#E29BC8", (3.0, 1.5), "v")
SKY = Look("sky", "#3F9BD1", "#8FD3FF", (9.0, 2.0, 1.5, 2.0, 1.5, 2.0), "P")
INK = Look("ink", "#16191D", "#F2F4F7", (14.0, 1.2), "X")
LOOKS = (SKY, INK, ORANGE, GREEN, VERMILLION, PURPLE, BLUE)

_OWN = {
    UCBVI_PRM.title: BLUE,
    UCBVI.title: ORANGE,
    UCRL2_L.title: GREEN,
    UCRL2_B_PUBLISHED.title: VERMILLION,
    UCRL2_B.title: PURPLE,
    UCRL2_B_BEST.title: SKY,
    HEADROOM.title: INK,
}


def looks(titles: Iterable[str]) -> dict[str, Look]:
    """Give each learner its look: those of ``reproduce`` always the same, the others those that are left, in turn."""
    names = list(dict.fromkeys(titles))
    look_of = {name: _OWN[name] for name in names if name in _OWN}
    free = [look for look in LOOKS if look not in look_of.values()] or list(LOOKS)
    others = [name for name in names if name not in _OWN]
    look_of.update({name: _varied(free[i % len(free)], i // len(free)) for i, name in enumerate(others)})
    return look_of


def _varied(look: Look, turn: int) -> Look:
    """Return a look with the dash and marker of another: colours that come round again are told apart by these."""
    other = LOOKS[(LOOKS.index(look) + turn) % len(LOOKS)]
    return replace(look, dash=other.dash, marker=other.marker)


def look_css() -> Markup:
    """Return the colours of all looks as classes of a style sheet, for light pages and for dark ones."""
    light, dark = (
        "".join(f".{look.name} {{ --own: {colour}; }}\n" for look, colour in pairs)
        for pairs in ([(look, look.colour) for look in LOOKS], [(look, look.on_dark) for look in LOOKS])
    )
    return Markup(f"{light}@media (prefers-color-scheme: dark) {{\n{dark}}}\n")
