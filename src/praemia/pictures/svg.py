"""Scenes as standalone SVG: no script, no font and no address outside the file."""

from __future__ import annotations

from xml.sax.saxutils import escape

from praemia.pictures.scene import PAPER, Area, Arrow, Item, Line, Scene, Text

FONT = "DejaVu Sans, Helvetica, Arial, sans-serif"


def render_svg(scene: Scene) -> str:
    """Write a scene as an SVG document."""
    size = f"{scene.width:.0f} {scene.height:.0f}"
    width, height = size.split()
    head = f'viewBox="0 0 {size}" width="{width}" height="{height}" role="img" font-family="{FONT}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {head}>',
        *([f"<title>{_plain(scene.title)}</title>"] if scene.title else []),
        f'<rect width="100%" height="100%" fill="{PAPER}"/>',
        *map(_element, scene.items),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _element(item: Item) -> str:
    if isinstance(item, Area):
        return _area(item)
    if isinstance(item, Arrow):
        return "".join(map(_element, item.parts()))
    if isinstance(item, Line):
        points = " ".join(f"{_number(x)},{_number(y)}" for x, y in item.points)
        look = _look(item.fill, item.colour if item.thickness else "", item.thickness)
        return f'<poly{"gon" if item.fill else "line"} points="{points}" {look} stroke-linecap="round"/>'
    return _text(item)


def _area(item: Area) -> str:
    look = _look(item.fill, item.outline, item.thickness)
    if item.is_round:
        centre = f'cx="{_number(item.x)}" cy="{_number(item.y)}"'
        return f'<ellipse {centre} rx="{_number(item.width / 2)}" ry="{_number(item.height / 2)}" {look}/>'
    corner = f'x="{_number(item.x - item.width / 2)}" y="{_number(item.y - item.height / 2)}"'
    return f'<rect {corner} width="{_number(item.width)}" height="{_number(item.height)}" {look}/>'


def _text(item: Text) -> str:
    place = f'x="{_number(item.x)}" y="{_number(item.baseline)}" font-size="{_number(item.size)}"'
    bold = ' font-weight="bold"' if item.bold else ""
    anchor = f' text-anchor="{item.anchor}"' if item.anchor != "start" else ""
    return f'<text {place}{bold}{anchor} fill="{item.colour}">{_plain(item.text)}</text>'


def _look(fill: str, outline: str, thickness: float) -> str:
    inside = f'fill="{fill or "none"}"'
    return f'{inside} stroke="{outline}" stroke-width="{_number(thickness)}"' if outline else inside


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _plain(text: str) -> str:
    """Escape markup, and blank what XML does not allow in any form."""
    return escape("".join(character if character.isprintable() else " " for character in text))
