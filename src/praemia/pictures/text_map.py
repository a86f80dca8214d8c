"""Write the map of a task as text: walls, blocks, and a sign in each place."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from praemia.pictures.task_picture import MAX_SWATCHES
from praemia.tasks.picture import Mark, Picture

MAX_SIGN = 12  # letters of a sign; the rest of a longer one is left out


def page_text(picture: Picture, title: str, here: int | None = None) -> str:
    """Write the map of a task below its title and above its legend; ``here`` puts brackets round an observation."""
    symbols = [spot.mark.symbol if spot.mark else "." for spot in picture.spots]
    if here is not None:
        symbols = [f"[{symbol}]" if o == here else f" {symbol} " for o, symbol in enumerate(symbols)]
    legend = [f"  {_symbols(marks)}  {meaning}" for meaning, marks in picture.legend.items()]
    caption = [picture.caption] if picture.caption else []
    return "\n".join([title, "", *text_map(picture, symbols), "", *legend, *caption]).rstrip()


def _symbols(marks: Sequence[Mark]) -> str:
    """List the symbols of a line of the legend."""
    return ", ".join([mark.symbol for mark in marks[:MAX_SWATCHES]] + ["…"] * (len(marks) > MAX_SWATCHES))


def text_map(picture: Picture, signs: Sequence[str]) -> list[str]:
    """Write a map in lines, with one of ``signs`` for each observation."""
    signs = [sign[:MAX_SIGN] for sign in signs]
    wide = max(map(len, signs))
    across, down = (max(6, wide + 2), 3) if picture.is_round else (max(4, wide + 1), 2)
    width, height = picture.extent
    page = np.full((round(down * height) + 1, round(across * width) + 1), " ", dtype="<U1")

    def at(x: float, y: float) -> tuple[int, int]:
        return round(down * y), round(across * x)

    for x, y in picture.blocks:
        (top, left), (bottom, right) = at(x - 0.5, y - 0.5), at(x + 0.5, y + 0.5)
        page[top : bottom + 1, left : right + 1] = "▒"
    for x0, y0, x1, y1 in picture.walls:
        (top, left), (bottom, right) = at(x0, y0), at(x1, y1)
        if top == bottom:
            page[top, left + 1 : right] = "-"
        else:
            page[top + 1 : bottom, left] = "|"
        page[top, left] = page[bottom, right] = "+"
    for spot, sign in zip(picture.spots, signs, strict=True):
        row, column = at(spot.x, spot.y)
        left = max(0, column - len(sign) // 2)
        page[row, left : left + len(sign)] = list(sign)
    return "\n".join("".join(line).rstrip() for line in page).strip("\n").split("\n")
