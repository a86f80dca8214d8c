"""Pictures as standalone SVG: no script, no font and no address outside the file.

Colours are light tints of the Okabe–Ito palette with darker outlines, which colour-blind
readers can tell apart; every mark also has a symbol.
"""

from __future__ import annotations

from xml.sax.saxutils import escape

from praemia.envs.pictures import Mark, Picture, Role, Spot

_FONT = 'font-family="Helvetica, Arial, sans-serif"'
_MARGIN = 20.0
_LINE = 22.0
_MIN_WIDTH = 320.0
_LETTER = 6.6  # mean width of a letter of the legend
FILL: dict[Role, str] = {
    "plain": "#fbfbf9",
    "start": "#cfe8f7",
    "waypoint": "#fde8bf",
    "goal": "#c9ecdd",
    "danger": "#f9d6c4",
}
OUTLINE: dict[Role, str] = {
    "plain": "#c3c8cf",
    "start": "#0072b2",
    "waypoint": "#b87a00",
    "goal": "#00805e",
    "danger": "#c04a00",
}
INK, WALL, PAPER = "#22272e", "#454c57", "#ffffff"


def render_svg(picture: Picture) -> str:
    """Write a picture as an SVG document."""
    across, down = picture.extent
    unit = min(46.0, max(12.0, 760.0 / max(across, down)))
    texts = [picture.title, picture.caption, *(f"    {mark.meaning}" for mark in picture.legend)]
    width = max(_MIN_WIDTH, across * unit, max(map(len, texts)) * _LETTER) + 2 * _MARGIN
    left, top = (width - across * unit) / 2, _MARGIN + 30.0
    below = top + down * unit + 16.0
    footer, end = _footer(picture, below)
    height = end + _MARGIN / 2
    thickness = 1.6 if len(picture.links) < len(picture.spots) else 0.7
    body = [
        *(_block(x, y, unit) for x, y in picture.blocks),
        *(_link(picture.spots[i], picture.spots[j], unit, thickness) for i, j in picture.links),
        *(_spot(spot, unit, picture.round) for spot in picture.spots),
        *(_wall(*(unit * value for value in wall)) for wall in picture.walls),
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
            f'width="{width:.0f}" height="{height:.0f}" role="img" {_FONT}>',
            f"<title>{_plain(picture.title)}</title>",
            f'<rect width="100%" height="100%" fill="{PAPER}"/>',
            _text(width / 2, _MARGIN + 10.0, picture.title, 15, weight="bold", anchor="middle"),
            f'<g transform="translate({left:.1f} {top:.1f})">',
            *body,
            "</g>",
            *footer,
            "</svg>",
            "",
        ]
    )


def _footer(picture: Picture, y: float) -> tuple[list[str], float]:
    """Return the legend and the caption, and where they end."""
    lines: list[str] = []
    for mark in picture.legend:
        lines.append(f'<g transform="translate({_MARGIN:.1f} {y:.1f})">{_swatch(mark, picture.round)}</g>')
        lines.append(_text(_MARGIN + 28.0, y + 13.0, mark.meaning, 13))
        y += _LINE
    if picture.caption:
        lines.append(_text(_MARGIN, y + 13.0, picture.caption, 12, colour="#5b6470"))
        y += _LINE
    return lines, y


def _spot(spot: Spot, unit: float, is_round: bool) -> str:
    role: Role = spot.mark.role if spot.mark else "plain"
    x, y = unit * spot.x, unit * spot.y
    shape = _shape(x, y, 0.80 * unit if is_round else unit, role, is_round)
    if spot.mark is None or unit < 14.0:
        return shape
    size = unit * (0.42 if len(spot.mark.symbol) < 2 else 0.32)
    return shape + _text(x, y + 0.35 * size, spot.mark.symbol, size, weight="bold", anchor="middle")


def _swatch(mark: Mark, is_round: bool) -> str:
    letter = _text(9.0, 13.0, mark.symbol, 11, weight="bold", anchor="middle")
    return _shape(9.0, 9.0, 18.0, mark.role, is_round) + letter


def _shape(x: float, y: float, size: float, role: Role, is_round: bool) -> str:
    marked = role != "plain"
    colours = f'fill="{FILL[role]}" stroke="{OUTLINE[role]}" stroke-width="{1.6 if marked else 1.0}"'
    if is_round:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size / 2:.1f}" {colours}/>'
    side = size - (3.0 if marked and size > 16.0 else 0.0)  # marked cells keep clear of their neighbours' lines
    corner = f'x="{x - side / 2:.1f}" y="{y - side / 2:.1f}"'
    return f'<rect {corner} width="{side:.1f}" height="{side:.1f}" {colours}/>'


def _block(x: float, y: float, unit: float) -> str:
    corner = f'x="{unit * (x - 0.5):.1f}" y="{unit * (y - 0.5):.1f}"'
    return f'<rect {corner} width="{unit:.1f}" height="{unit:.1f}" fill="{WALL}" stroke="{WALL}"/>'


def _link(a: Spot, b: Spot, unit: float, thickness: float) -> str:
    ends = f'x1="{unit * a.x:.1f}" y1="{unit * a.y:.1f}" x2="{unit * b.x:.1f}" y2="{unit * b.y:.1f}"'
    return f'<line {ends} stroke="#aeb6c0" stroke-width="{thickness}"/>'


def _wall(x0: float, y0: float, x1: float, y1: float) -> str:
    ends = f'x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}"'
    return f'<line {ends} stroke="{WALL}" stroke-width="3" stroke-linecap="round"/>'


def _text(
    x: float,
    y: float,
    text: str,
    size: float,
    *,
    weight: str = "normal",
    anchor: str = "start",
    colour: str = INK,
) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" font-size="{size:.0f}" font-weight="{weight}" text-anchor="{anchor}"'
    return f'<text {place} fill="{colour}">{_plain(text)}</text>'


def _plain(text: str) -> str:
    """Escape markup, and blank what XML does not allow in any form."""
    return escape("".join(character if character.isprintable() else " " for character in text))
