"""Curves as a figure of matplotlib, without its global state: ``run.plot()`` and ``compare(…).figure``."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING

from praemia.errors import require
from praemia.report.charts import Chart, regret_charts, return_chart
from praemia.report.styles import Style, styles
from praemia.simulation.run import Run
from praemia.statistics.series import Series
from praemia.text_tables import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, GREY, GRID = "#22272E", "#6B7280", "#DDE1E6"
WIDTH, HEIGHT = 4.8, 3.7  # inches
LABEL_GAP = 0.062  # of the height: room for a line of text


def run_figure(run: Run) -> Figure:
    """Plot the regret of one run over episodes; on a black box, where it is not known, a moving mean of the returns."""
    is_known = run.optimal_value is not None
    (chart,) = regret_charts({run.task: [Series.of([run])]}) if is_known else [return_chart(run)]
    return chart_figure(chart, f"{run.title} on {run.task}")


def chart_figure(chart: Chart, title: str) -> Figure:
    """Plot the curves of a chart, with a legend below."""
    require("matplotlib.figure")
    from matplotlib.figure import Figure

    class NotebookFigure(Figure):
        """A figure that a notebook displays, though pyplot does not know it."""

        def _repr_svg_(self) -> str:
            return render(self).decode()

    figure = NotebookFigure(figsize=(WIDTH, HEIGHT), facecolor="white", layout="constrained")
    figure.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold", color=INK, parse_math=False)
    style_of = styles((curve.title, curve.learner) for curve in chart.curves)
    axes = figure.add_subplot()
    _plot(axes, chart, style_of)
    lines = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    looks = {"ncols": min(len(style_of), 2), "frameon": False, "fontsize": 9, "handlelength": 3.2}
    figure.legend([lines[name] for name in style_of], list(style_of), loc="outside lower center", **looks)
    return figure


def render(figure: Figure) -> bytes:
    """Return a figure as SVG; the same runs give the same bytes."""
    import matplotlib

    buffer = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "praemia"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue()


def _plot(axes: Axes, chart: Chart, style_of: Mapping[str, Style]) -> None:
    for curve in reversed(chart.curves):  # the first learner lies on top
        style = style_of[curve.title]
        if curve.ends is not None:
            axes.fill_between(curve.x, *curve.ends, color=style.on_light, alpha=0.18, lw=0)
        (line,) = axes.plot(curve.x, curve.y, color=style.on_light, linewidth=1.6, label=curve.title)
        line.set_dashes(style.dash or (None, None))
    if all(curve.y.min() >= 0.0 for curve in chart.curves):
        axes.set_ylim(bottom=0)
    axes.set_xlim(0, max(2.0, *(curve.x[-1] for curve in chart.curves)))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    heading = "  ".join(filter(None, (chart.title, chart.note)))
    axes.set_title(heading, fontsize=10, loc="left", color=INK, parse_math=False)
    axes.set_xlabel(chart.across, fontsize=9)
    axes.set_ylabel(chart.up, fontsize=9)
    axes.tick_params(labelsize=8, colors=GREY, labelcolor=INK)
    axes.grid(color=GRID, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    # Each last value stands beside the end of its curve, pushed apart where they would touch.
    (bottom, top), height = axes.get_ylim(), -LABEL_GAP
    for end, title in sorted((float(curve.y[-1]), curve.title) for curve in chart.curves):
        height = max((end - bottom) / (top - bottom), height + LABEL_GAP)
        colour, side = style_of[title].on_light, axes.transAxes
        axes.text(1.015, height, number(end), transform=side, va="center", fontsize=8, color=colour)
