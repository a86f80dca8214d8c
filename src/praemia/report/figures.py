"""Charts as drawings of their own: ``run.plot()`` and ``compare(…).figure``."""

from __future__ import annotations

from praemia._support.text_tables import Table, number
from praemia.pictures.colours import GREY
from praemia.pictures.drawing import Drawing
from praemia.pictures.scene import Scene, Text, beside, flow, label, page
from praemia.report.chart_svg import LEFT, LETTERS, TOP, chart_axes, chart_layers, key_line
from praemia.report.charts import Chart, regret_charts, return_chart
from praemia.report.styles import styles
from praemia.simulation.run import Run
from praemia.statistics.series import Series

WIDTH, HEIGHT = 440, 300  # pixels
LABEL_GAP = 13.0  # room for a line of text


def run_figure(run: Run) -> Drawing:
    """Plot the regret of one run over episodes; on a black box, where it is not known, a moving mean of the returns."""
    is_known = run.optimal_value is not None
    (chart,) = regret_charts({run.task: [Series.of([run])]}) if is_known else [return_chart(run)]
    return chart_figure(chart, f"{run.title} on {run.task}")


def chart_figure(chart: Chart, title: str) -> Drawing:
    """Plot the curves of a chart, with a legend below; as text it has their last values."""
    ends = [(curve.title, number(float(curve.y[-1]))) for curve in chart.curves]
    return Drawing(title, lambda: _scene(chart, title), lambda: Table(("learner", chart.up), ends).text().rstrip())


def _scene(chart: Chart, title: str) -> Scene:
    style_of = styles((curve.title, curve.learner) for curve in chart.curves)
    plane = across, up = chart_axes(chart, WIDTH, HEIGHT)
    items = [item for layer in chart_layers(chart, style_of, plane) for item in layer.items]
    # Each last value stands beside the end of its curve, pushed apart where they would touch.
    right, y = LEFT + across.pixels, TOP + up.pixels + LABEL_GAP
    for curve in sorted(chart.curves, key=lambda curve: float(curve.y[-1])):
        end = float(curve.y[-1])
        y = min(TOP + up.pixels - float(up.places(curve.y[-1:])[0]), y - LABEL_GAP)
        items.append(Text(right + 6, y, number(end), LETTERS, style_of[curve.title].on_light))
    keys = [beside([Scene(30, 8, (key_line(style),)), label(name, 12)], 6) for name, style in style_of.items()]
    heading = label("  ".join(filter(None, (chart.title, chart.note))), 12, GREY)
    return page(title, heading, Scene(WIDTH + 40, HEIGHT, tuple(items)), flow(keys, WIDTH, 18))
