"""Tables of texts: how numbers are written, which columns are numbers, and aligned columns."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from praemia._support.displayed import Displayed
from praemia.errors import visible

TINY, HUGE = 1e-4, 1e7  # below and from here on a number is written with a power of ten
NARROW = 24  # characters: too few for a column of text


def number(value: float) -> str:
    """Write a number with three significant digits, and from 1,000 on as an integer; NaN is a dash."""
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0.0:
        return "0"
    if not TINY <= abs(value) < HUGE:
        digits, exponent = f"{value:.2e}".split("e")
        return f"{digits}×10^{int(exponent)}".replace("-", "−")
    decimals = 0 if abs(value) >= 1000.0 else max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:.{decimals}f}".replace("-", "−")


def plural(count: int, noun: str) -> str:
    """Return a number with its noun: ``1 run``, ``2 runs``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def are(count: int) -> str:
    """Return the verb that goes with a number: 1 ``is``, 2 ``are``."""
    return "is" if count == 1 else "are"


@dataclass(frozen=True)
class Table(Displayed):
    """A table of texts; the rows numbered in ``strong`` are set in bold, where that can be shown."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    strong: Iterable[int] = ()

    @property
    def numeric(self) -> list[bool]:
        """Whether each column holds numbers: these stand to the right, words to the left."""
        return [any(_is_number(row[i]) for row in self.rows) for i in range(len(self.header))]

    def text(self, width: int | None = None) -> str:
        """Write it in aligned columns; where it is wider than ``width``, the texts of its last column are wrapped."""
        table = [[visible(cell).replace("\n", "\\n") for cell in row] for row in (self.header, *self.rows)]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        columns = list(zip(widths, self.numeric, strict=True))
        lines = [
            "  ".join(
                cell.rjust(width) if to_right else cell.ljust(width)
                for cell, (width, to_right) in zip(row, columns, strict=True)
            ).rstrip()
            for row in table
        ]
        if width is not None and max(map(len, lines)) > width:
            lines = [_wrapped(line, sum(widths[:-1]) + 2 * len(widths[:-1]), width) for line in lines]
        return "\n".join(lines) + "\n"

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"Table({plural(len(self.rows), 'row')}: {', '.join(self.header)})"


def _is_number(cell: str) -> bool:
    """Return whether a cell is a number, one that is not known, or several with signs, such as ``3.1 ± 0.2``."""
    return cell == "–" or (any(map(str.isdecimal, cell)) and not any(map(str.isalpha, cell)))


def _wrapped(line: str, indent: int, width: int) -> str:
    """Break what stands after ``indent`` characters into lines below each other; below them, where there is no room."""
    before, after = line[:indent], line[indent:]
    if width - indent >= NARROW:
        return "\n".join(textwrap.wrap(after, width, initial_indent=before, subsequent_indent=" " * indent))
    return "\n".join([before.rstrip(), *textwrap.wrap(after, width, initial_indent="    ", subsequent_indent="    ")])
