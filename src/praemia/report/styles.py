"""The colour and the dash of each learner: the same on every page, in every figure and beside every table."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterable
from typing import NamedTuple

from markupsafe import Markup

from praemia.pictures.colours import DARK, OKABE_ITO, dark_rules


class Style(NamedTuple):
    """The style of a line; ``dash`` has the lengths of marks and gaps in widths of the line, none if it is solid."""

    colour: str
    dash: tuple[float, ...] = ()

    @property
    def on_light(self) -> str:
        """The colour on a light page, as #RRGGBB."""
        return OKABE_ITO[self.colour][0]


SOLID, LONG, DASH, DOT, SHORT, DASH_DOT = (), (14.0, 1.2), (6.0, 2.0), (1.5, 1.5), (3.0, 1.5), (6.0, 2.0, 1.5, 2.0)
DASH_DOT_DOT = (9.0, 2.0, 1.5, 2.0, 1.5, 2.0)
# Titles of variants, then names of learners.
STYLES = {
    "ucrl2-rm-b as published": Style("vermillion", DOT),
    "ucrl2-rm-b 0.03": Style("sky", DASH_DOT_DOT),
    "headroom": Style("ink", LONG),
    "ucbvi-prm": Style("blue"),
    "ucbvi": Style("orange", DASH),
    "ucrl2-rm-l": Style("green", DASH_DOT),
    "ucrl2-rm-b": Style("purple", SHORT),
    "euler": Style("sky"),
    "eqo": Style("vermillion", DASH),
    "ucbvi-bf": Style("orange", DOT),
    "mvp": Style("green", SHORT),
    "psrl": Style("purple"),
    "opsrl": Style("purple", DASH_DOT_DOT),
    "qr-max": Style("vermillion"),
    "q-learning": Style("sky", DOT),
    "crm": Style("green"),
    "random": Style("ink", DOT),
    "optimal": Style("green", LONG),
    "told-support": Style("blue", DASH_DOT),
}
_ALL = [Style(colour, dash) for dash in (SOLID, DASH, SHORT, DASH_DOT, DOT, LONG, DASH_DOT_DOT) for colour in OKABE_ITO]


def styles(players: Iterable[tuple[str, str]]) -> dict[str, Style]:
    """Give each title the style of its learner; where that is taken, the next one that is free.

    ``players`` are titles with the names of their learners. A line that stands alone is solid.
    """
    style_of: dict[str, Style] = {}
    for title, learner in dict.fromkeys(players):
        place = zlib.crc32(learner.encode()) % len(_ALL)
        own = STYLES.get(title.lower(), STYLES.get(learner, _ALL[place]))
        free = [style for style in [*_ALL[place:], *_ALL[:place]] if style not in style_of.values()]
        style_of[title] = own if own not in style_of.values() or not free else free[0]
    return {title: style._replace(dash=SOLID) if len(style_of) == 1 else style for title, style in style_of.items()}


def style_sheet() -> Markup:
    """Return a style sheet with the colours of learners, as classes, and those of drawings in the dark."""
    light, dark = ("".join(f".{name} {{ --own: {own[i]}; }}\n" for name, own in OKABE_ITO.items()) for i in (0, 1))
    drawings = dark_rules(itertools.product(("fill", "stroke"), DARK))
    return Markup(f"{light}@media (prefers-color-scheme: dark) {{\n{dark}}}\n{drawings}")
