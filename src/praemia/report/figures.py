"""Figures of matplotlib, without its global state: charts in panels, and what all figures share."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from praemia.errors import require
from praemia.files.atomic_io import write_whole
from praemia.report.charts import Chart, Curve, Look, looks, regret_charts, return_chart
from praemia.simulation.run import Run
from praemia.statistics.stored_runs import Series
from praemia.text_tables import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, GREY, GRID = "#22272E", "#6B7280", "#DDE1E6"
COLUMNS = 3
LABEL_GAP = 0.062  # of a panel's height: room for a line of text
DPI = 160
# No date here and a fixed salt below: the same runs give the same bytes.
_METADATA = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}


def new_figure(width: float, height: float, title: str) -> Figure:
    """Make an empty figure of a size in inches, with a title."""
    require("matplotlib.figure")
    from matplotlib.figure import Figure

    class NotebookFigure(Figure):
        """A figure that a notebook displays, though pyplot does not know it."""

        def _repr_svg_(self) -> str:
            return render(self, "svg").decode()

    figure = NotebookFigure(figsize=(width, height), facecolor="white", layout="constrained")
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


def save(figure: Figure, stem: Path, within: Path) -> list[Path]:
    """Write a figure below a folder as PNG and as SVG, each whole or not at all."""
    paths = []
    for form in ("png", "svg"):
        path = stem.with_name(f"{stem.name}.{form}")
        write_whole(path, render(figure, form), within=within)
        paths.append(path)
        figure.set_layout_engine("none")  # the layout is the same for the next form
    return paths


def run_figure(run: Run) -> Figure:
    """Draw the regret of one run over episodes; on a black box, where it is not known, the mean return so far."""
    charts = [return_chart(run)] if run.optimal_value is None else regret_charts({run.task: [Series((run,))]})
    return chart_figure(charts, f"{run.title} on {run.task}")


def chart_figure(charts: Sequence[Chart], title: str) -> Figure:
    """Draw every chart in a panel, at most three in a row, under one legend."""
    columns = min(COLUMNS, len(charts))
    rows = -(-len(charts) // columns)
    figure = new_figure(max(4.8, 3.7 * columns), 2.9 * rows + 0.8, title)
    look_of = looks(curve.title for chart in charts for curve in chart.curves)
    for place, chart in enumerate(charts):
        axes = figure.add_subplot(rows, columns, place + 1)
        _draw(axes, chart, look_of)
        tidy(
            axes, "  ".join(filter(None, (chart.title, chart.note))), chart.across, "" if place % columns else chart.up
        )
    _legend(figure, list(look_of), 5 if columns == 3 else 2)
    return figure


def _draw(axes: Axes, chart: Chart, look_of: dict[str, Look]) -> None:
    for curve in reversed(chart.curves):  # the first learner lies on top
        (_draw_points if chart.has_points else _draw_line)(axes, chart, curve, look_of[curve.title])
    for point in chart.published:
        colour = look_of[point.title].colour if point.title in look_of else GREY
        axes.plot([point.x], [point.y], marker="v", markersize=5, color=colour, linestyle="none")
    if chart.is_log_up:
        axes.set_yscale("log")
    elif all(curve.y.min() >= 0.0 for curve in chart.curves):
        axes.set_ylim(bottom=0)
    if chart.is_log_across:
        axes.set_xscale("log")
    if chart.has_points:
        sizes = sorted({x for curve in chart.curves for x in curve.x.tolist()})
        axes.set_xticks(sizes, [f"{x:g}" for x in sizes])
    else:
        ends = [*(curve.x[i] for curve in chart.curves for i in (0, -1)), *(point.x for point in chart.published)]
        axes.set_xlim(min(ends) if chart.is_log_across else 0, max(2.0, *ends))
    axes.minorticks_off()
    if not chart.is_log_across:
        axes.xaxis.set_major_formatter("{x:,.0f}")
        _label_ends(axes, chart, look_of)
    if chart.has_guide:
        _guide(axes)


def _draw_line(axes: Axes, chart: Chart, curve: Curve, look: Look) -> None:
    if curve.ends is not None and not chart.is_log_up:
        axes.fill_between(curve.x, *curve.ends, color=look.colour, alpha=0.18, lw=0)
    is_drawn = curve.y > 0 if chart.is_log_up else np.isfinite(curve.y)
    (line,) = axes.plot(curve.x[is_drawn], curve.y[is_drawn], color=look.colour, linewidth=1.6, label=curve.title)
    line.set_dashes(look.dash or (None, None))


def _draw_points(axes: Axes, chart: Chart, curve: Curve, look: Look) -> None:
    assert curve.ends is not None
    bars = axes.errorbar(
        curve.x,
        curve.y,
        np.abs(np.array(curve.ends) - curve.y),
        color=look.colour,
        marker=look.marker,
        ms=5,
        lw=1.6,
        capsize=3,
        label=curve.title,
    )
    bars.lines[0].set_dashes(look.dash or (None, None))


def _legend(figure: Figure, names: list[str], columns: int) -> None:
    handles = {
        label: line for axes in figure.axes for line, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(
        [handles[name] for name in names],
        names,
        loc="outside lower center",
        ncols=min(len(names), columns),
        frameon=False,
        fontsize=9,
        handlelength=3.2,
    )


def _label_ends(axes: Axes, chart: Chart, look_of: dict[str, Look]) -> None:
    """Write each last value beside the end of its curve, pushed apart where they would touch."""
    bottom, top = axes.get_ylim()
    height = -LABEL_GAP
    for end, title in sorted((float(curve.y[-1]), curve.title) for curve in chart.curves):
        height = max((end - bottom) / (top - bottom), height + LABEL_GAP)
        colour = look_of[title].colour
        axes.text(1.015, height, number(end), transform=axes.transAxes, va="center", fontsize=8, color=colour)


def _guide(axes: Axes) -> None:
    """Draw a short line of slope ½ in the corner below the curves."""
    right, bottom = axes.get_xlim()[1], axes.get_ylim()[0]
    x = np.array([right / 30.0, right / 3.0])
    y = 1.15 * bottom * np.sqrt(x / x[0])
    axes.plot(x, y, color=GREY, linewidth=1.2, linestyle=(0, (1, 1.5)), scalex=False, scaley=False)
    axes.annotate("slope of √T", (x[0], y[0]), (-3, 0), textcoords="offset points", ha="right", fontsize=8, color=GREY)
