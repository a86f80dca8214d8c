"""How figures look: one colour and line style per learner, and Matplotlib without its global state."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from praemia.errors import missing_extra
from praemia.experiments.paper import UCBVI, UCBVI_PRM, UCRL2_B, UCRL2_B_PUBLISHED, UCRL2_L
from praemia.files.atomic_io import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


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
    """Give each learner its look: the paper's learners always the same, the others those that are left, in turn."""
    names = list(dict.fromkeys(titles))
    chosen = {name: _OWN[name] for name in names if name in _OWN}
    free = [look for look in _CYCLE if look not in chosen.values()] or list(_CYCLE)
    others = [name for name in names if name not in _OWN]
    chosen.update({name: free[i % len(free)] for i, name in enumerate(others)})
    return chosen


DPI = 160
# No date here and a fixed salt below: the same runs give the same bytes.
_METADATA = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}


def new_figure(width: float, height: float, title: str) -> Figure:
    """Make an empty figure of a size in inches, with a title."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise missing_extra("figures need matplotlib", "plot") from None
    figure = Figure(figsize=(width, height), facecolor="white", layout="constrained")
    figure.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold", color=INK, parse_math=False)
    return figure


def tidy(axes: Axes, title: str, across: str, up: str) -> None:
    """Set a panel's titles and remove clutter."""
    axes.set_title(title, fontsize=10, loc="left", color=INK, parse_math=False)
    axes.set_xlabel(across, fontsize=9)
    axes.set_ylabel(up, fontsize=9)
    axes.tick_params(labelsize=8, colors=GREY, labelcolor=INK)
    axes.grid(color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(GREY)


def render(figure: Figure, form: str) -> bytes:
    """Return a figure as the bytes of a file, ``png`` or ``svg``."""
    import matplotlib

    buffer = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "praemia"}):
        figure.savefig(buffer, format=form, dpi=DPI, metadata=_METADATA[form])
    return buffer.getvalue()


def save(figure: Figure, stem: Path) -> list[Path]:
    """Write a figure as PNG and as SVG, each whole or not at all."""
    paths = []
    for form in ("png", "svg"):
        path = stem.with_name(f"{stem.name}.{form}")
        write_whole(path, render(figure, form))
        paths.append(path)
        figure.set_layout_engine("none")  # the layout is the same for the next form
    return paths
