"""Put scenes together: below each other, beside each other, in rows, on a page with a title; the unit is a pixel."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from praemia.pictures.scene import INK, Item, Scene, Text, place, text_width

MARGIN = 24.0  # of a page


def scaled(scene: Scene, scale: float) -> Scene:
    """Make a scene larger or smaller."""
    return Scene(scale * scene.width, scale * scene.height, tuple(place(scene.items, 0.0, 0.0, scale)))


def label(text: str, size: float, colour: str = INK, *, bold: bool = False) -> Scene:
    """Return a line of text as a scene; of no height if it is empty."""
    width = text_width(text, size, bold=bold)
    return Scene(width, 1.5 * size * bool(text), (Text(0.0, 0.75 * size, text, size, colour, bold),) if text else ())


def stack(scenes: Iterable[Scene], gap: float = 0.0) -> Scene:
    """Put scenes below each other, from the left edge; those of no height are left out."""
    items: list[Item] = []
    width = y = 0.0
    for scene in scenes:
        if scene.height:
            y += gap if y else 0.0
            items += place(scene.items, 0.0, y)
            width, y = max(width, scene.width), y + scene.height
    return Scene(width, y, tuple(items))


def beside(scenes: Sequence[Scene], gap: float = 0.0) -> Scene:
    """Put scenes beside each other, with their middles at one height."""
    items: list[Item] = []
    x, height = 0.0, max((scene.height for scene in scenes), default=0.0)
    for scene in scenes:
        x += gap if x else 0.0
        items += place(scene.items, x, (height - scene.height) / 2)
        x += scene.width
    return Scene(x, height, tuple(items))


def flow(scenes: Iterable[Scene], width: float, gap: float) -> Scene:
    """Put scenes beside each other in rows, as many in a row as fit a width."""
    rows: list[list[Scene]] = []
    for scene in scenes:
        if rows and beside([*rows[-1], scene], gap).width <= width:
            rows[-1].append(scene)
        else:
            rows.append([scene])
    return stack(beside(row, gap) for row in rows)


def page(title: str, *parts: Scene) -> Scene:
    """Return a page with a title above its parts."""
    whole = stack([label(title, 15.0, bold=True), *parts], 0.75 * MARGIN)
    return Scene(whole.width + 2 * MARGIN, whole.height + 2 * MARGIN, tuple(place(whole.items, MARGIN, MARGIN)), title)
