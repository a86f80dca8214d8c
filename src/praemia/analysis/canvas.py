"""Matplotlib, used without its global state: figures are made and saved as objects, never through pyplot."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from praemia.analysis.palette import GREY, GRID, INK
from praemia.errors import missing_extra
from praemia.files.whole import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DPI = 160
# No date here and a fixed salt below: the same runs give the same bytes.
_METADATA = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}


def new_figure(width: float, height: float, title: str) -> Figure:
    """Make an empty figure of a size in inches."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise missing_extra("figures need matplotlib", "plot") from None
    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    figure.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold", color=INK)
    return figure


def tidy(axes: Axes, title: str, across: str, up: str) -> None:
    """Give a panel its titles, and take away what is not needed."""
    axes.set_title(title, fontsize=10, loc="left", color=INK)
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
