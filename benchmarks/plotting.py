"""Figures of matplotlib, without its global state, that all benchmarks share."""

from __future__ import annotations

import io

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

INK, GREY, GRID = "#22272E", "#6B7280", "#DDE1E6"
DPI = 160
# No date here and a fixed salt below: the same numbers give the same bytes.
_METADATA = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}


def new_figure(width: float, height: float, title: str) -> Figure:
    """Make an empty figure of a size in inches, with a title."""
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
    buffer = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "praemia"}):
        figure.savefig(buffer, format=form, dpi=DPI, metadata=_METADATA[form])
    return buffer.getvalue()
