"""The colours of pictures, and the colour that takes the place of each on dark pages."""

from __future__ import annotations

import re
from collections.abc import Iterable

from praemia.tasks.picture import Role

INK, GREY, WALL, LINE, GRID, PAPER = "#22272e", "#5b6470", "#454c57", "#aeb6c0", "#dde1e6", "#ffffff"
FAINT, FAINT_ON_DARK = "#b9c0c9", "#6c9ac2"  # on a weak tint, and on a strong one
ON_LIT, LIT, AGENT, TRAIL = "#000000", "#ffc44d", "#e69f00", "#7fb8d8"  # amber is the same on both pages
NODE, UNVISITED, LOSES = "#f4f4f4", "#e3e5e8", "#d55e00"
# Okabe and Ito's colours, which colour-blind readers can tell apart: on light pages and on dark ones.
OKABE_ITO = {
    "blue": ("#0072b2", "#4da9e8"),
    "ink": ("#16191d", "#f2f4f7"),
    "orange": ("#c98a00", "#f0b429"),
    "green": ("#009e73", "#2bc79a"),
    "purple": ("#b5609a", "#e29bc8"),
    "vermillion": ("#d55e00", "#ff8a4c"),
    "sky": ("#3f9bd1", "#8fd3ff"),
}
ROLES: dict[Role, tuple[str, str]] = {  # of places: inside, outline
    "plain": ("#fbfbf9", "#c3c8cf"),
    "start": ("#cfe8f7", "#0072b2"),
    "waypoint": ("#fde8bf", "#b87a00"),
    "goal": ("#c9ecdd", "#00805e"),
    "danger": ("#f9d6c4", "#c04a00"),
}
SHADES = 24  # of a place, from never visited to visited most
_TINTS = (((255, 255, 255), (0, 79, 140)), ((30, 33, 41), (130, 200, 255)))  # from none to all: light pages, dark ones


def tint(shade: float, on_dark: bool = False) -> str:
    """Return a colour from that of the page (0) to a strong blue (1), in steps."""
    share = round(shade * SHADES) / SHADES
    return "#" + "".join(f"{round(a + share * (b - a)):02x}" for a, b in zip(*_TINTS[on_dark], strict=True))


DARK = {
    **{tint(step / SHADES): tint(step / SHADES, on_dark=True) for step in range(SHADES + 1)},
    **dict(OKABE_ITO.values()),
    INK: "#e4e8ed",
    GREY: "#9aa5b1",
    WALL: "#8b95a3",
    LINE: "#4d5663",
    FAINT: "#5d6673",
    TRAIL: "#3f84ad",
    NODE: "#2b303b",
    UNVISITED: "#363d49",
    GRID: "#363d47",
    FAINT_ON_DARK: "#3c79a8",
    # Insides and outlines of places.
    "#fbfbf9": "#22262f",
    "#c3c8cf": "#48505c",
    "#cfe8f7": "#17405b",
    "#fde8bf": "#4a3a14",
    "#b87a00": "#f0b429",
    "#c9ecdd": "#14463a",
    "#00805e": "#2bc79a",
    "#f9d6c4": "#53301f",
    "#c04a00": "#ff8a4c",
}
_USED = re.compile(r'(fill|stroke)="(#[0-9a-f]{6})"')


def dark_rules(uses: Iterable[tuple[str, str]]) -> str:
    """Return a style sheet that exchanges colours on dark pages; ``uses`` are attributes of SVG and their colours."""
    known = [(name, light, DARK[light]) for name, light in sorted(uses) if light in DARK]
    rules = "".join(f'.praemia [{name}="{light}"] {{ {name}: {dark} }}\n' for name, light, dark in known)
    return f"@media (prefers-color-scheme: dark) {{\n{rules}}}\n"


def with_dark_rules(svg: str) -> str:
    """Return an SVG document with the style sheet for its colours."""
    start, end, rest = svg.partition(">\n")
    return f"{start}{end}<style>{dark_rules(set(_USED.findall(svg)))}</style>\n{rest}"
