"""Draw charts, in layers: on a page and as drawings of their own. Colours are those of light pages, as in all drawings.

On a page the box of the curves and the scales of the axes stand in the element (``data-box``; ``data-x``, ``data-y``:
log or linear, and the two ends), so the page's script can read the values under the pointer.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup, escape
from numpy.typing import NDArray

from praemia.pictures.colours import GREY, GRID
from praemia.pictures.renderers import element
from praemia.pictures.scene import Area, Item, Line, Text
from praemia.report.charts import Chart, Curve
from praemia.report.styles import Style
from praemia.statistics.intervals import Floats

WIDTH, HEIGHT = 280, 176
LEFT, RIGHT, TOP, BOTTOM = 36, 8, 6, 30
MIN_TICKS, TICK_GAP = 5, 40
STROKE, LETTERS = 1.8, 11.0
BAND = "2b"  # the opacity of a band
NARROW = 4.0  # below this quotient of its ends, a log axis has the ticks of a linear one
PUBLISHED_HEIGHT = 1.06  # of the marks of published figures: above the curves


class Layer(NamedTuple):
    """Items of a learner; of the chart itself, if it has no title. ``tip`` is shown at the pointer."""

    items: Sequence[Item]
    title: str = ""
    tip: str = ""


@dataclass(frozen=True)
class Ruler:
    """A scale from values to pixels: linear or logarithmic, from ``first`` to ``last``, over some pixels."""

    first: float
    last: float
    pixels: int
    is_log: bool

    def places(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return where values lie, in pixels from the first."""
        ends = np.array([self.first, self.last])
        if self.is_log:
            values, ends = np.log(np.maximum(values, 1e-300)), np.log(ends)
        return np.asarray(self.pixels * (values - ends[0]) / (ends[1] - ends[0]))

    def ticks(self, limit: int = 0) -> list[float]:
        """Return a few round values between the ends; as many as fit, unless their number is given."""
        limit = limit or max(MIN_TICKS, self.pixels // TICK_GAP)
        return (_log_ticks if self.is_log else _linear_ticks)(self.first, self.last, limit)

    def __str__(self) -> str:
        return f"{'log' if self.is_log else 'linear'} {self.first:.6g} {self.last:.6g}"


class Plane(NamedTuple):
    """The axes of a chart, across and up, in pixels of its drawing."""

    across: Ruler
    up: Ruler

    def point(self, x: float, y: float) -> tuple[float, float]:
        """Return where a point lies; bands and bars of a few runs are cut off at the ends of the axis."""
        height = min(max(float(self.up.places(np.array(y))), 0.0), float(self.up.pixels))
        return LEFT + float(self.across.places(np.array(x))), TOP + self.up.pixels - height

    def points(self, x: Floats, y: Floats) -> tuple[tuple[float, float], ...]:
        """Return the points of a curve; what a log scale cannot show is left out."""
        is_there = np.isfinite(y) & ((y > 0.0) | (not self.up.is_log))
        return tuple(itertools.starmap(self.point, zip(x[is_there].tolist(), y[is_there].tolist(), strict=True)))


def _linear_ticks(first: float, last: float, limit: int) -> list[float]:
    """Return a few multiples of 1, 2 or 5 times a power of ten between two values."""
    rough = (last - first) / (limit - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= rough * 0.999)
    return [step * i for i in range(math.ceil(first / step - 1e-9), math.floor(last / step + 1e-9) + 1)]


def _log_ticks(first: float, last: float, limit: int) -> list[float]:
    """Return powers of ten between two values, or 1, 2 and 5 times these where there are few, or every other one."""
    if last / first < NARROW:
        return _linear_ticks(first, last, limit)
    low, high = math.floor(math.log10(first)), math.ceil(math.log10(last))
    for factors, every in (((1.0, 2.0, 5.0), 1), ((1.0,), 1), ((1.0,), 2), ((1.0,), 3)):
        values = [factor * 10.0**power for power in range(low, high + 1, every) for factor in factors]
        inside = [value for value in values if first * 0.999 <= value <= last * 1.001]
        if len(inside) <= limit:
            break
    return inside


def chart_layers(chart: Chart, style_of: Mapping[str, Style], plane: Plane) -> Iterator[Layer]:
    """Draw a chart, without its title; the first polyline of a learner is its curve."""
    yield Layer([*_grid(chart, plane)])
    for curve in reversed(chart.curves):  # the first learner lies on top
        yield Layer([*_curve(curve, chart, style_of[curve.title], plane)], curve.title)
    if chart.has_guide:
        yield Layer(_guide(plane))
    for title, value in chart.published.items():
        x, y = plane.point(value, PUBLISHED_HEIGHT)
        colour = style_of[title].on_light if title in style_of else GREY
        triangle = Line(((x - 4, y - 3), (x + 4, y - 3), (x, y + 4)), colour)
        yield Layer([triangle], title, f"{title}: {value:,g}")


def chart_svg(chart: Chart, style_of: Mapping[str, Style]) -> Markup:
    """Return a chart as an SVG element of a page."""
    plane = across, up = chart_axes(chart)
    label = escape(f"{chart.up} over {chart.across}" + (f": {chart.title}" if chart.title else ""))
    box = f'data-box="{LEFT} {TOP} {across.pixels} {up.pixels}" data-x="{across}" data-y="{up}"'
    drawn = []
    for layer in chart_layers(chart, style_of, plane):
        inside = "".join(map(element, layer.items))
        if layer.tip:
            inside = f"<g><title>{escape(layer.tip)}</title>{inside}</g>"
        elif layer.title:
            inside = f'<g data-learner="{escape(layer.title)}">{inside}</g>'
        drawn.append(inside)
    start = f'<svg class="chart praemia" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}" {box}>'
    return Markup(start + "".join(drawn) + "</svg>")


def key_line(style: Style) -> Line:
    """Return a piece of a learner's line, for a legend."""
    return Line(((0.0, 4.0), (30.0, 4.0)), style.on_light, STROKE, style.dash)


def plots(charts: Sequence[Chart], style_of: Mapping[str, Style]) -> dict[str, Any]:
    """Return what a page shows: the legend, titles with a piece of their lines; and each chart with its drawing."""
    start = '<svg class="praemia" viewBox="0 0 30 8" width="30" height="8">'
    legend = [(title, Markup(start + element(key_line(style)) + "</svg>")) for title, style in style_of.items()]
    return {"legend": legend, "panels": [(chart, chart_svg(chart, style_of)) for chart in charts]}


def chart_axes(chart: Chart, width: int = WIDTH, height: int = HEIGHT) -> Plane:
    """Return scales that hold the curves, on a chart of a size; bands of a few runs may leave it."""
    x = np.concatenate([*(curve.x for curve in chart.curves), [*chart.published.values()]])
    y = np.concatenate([*(curve.y for curve in chart.curves), [PUBLISHED_HEIGHT] * bool(chart.published)])
    ends = [end for curve in chart.curves for end in curve.ends or ()]
    reach = np.concatenate([y, *(np.clip(end, y.min() / 2.0, y.max() * 1.3) for end in ends)])
    wide, tall = width - LEFT - RIGHT, height - TOP - BOTTOM
    across = _axis(x, wide, chart.is_log_across, 1.15 if chart.has_points else 1.0)
    return Plane(across, _axis(reach, tall, chart.is_log_up, 1.2 if chart.is_log_up else 1.04))


def _axis(values: NDArray[np.float64], pixels: int, is_log: bool, margin: float) -> Ruler:
    """Return a scale that holds some values: from 0 if it is linear, else with a margin on both sides."""
    if not is_log:
        return Ruler(min(0.0, float(values.min())), max(0.0, margin * float(values.max())) or 1.0, pixels, False)
    positive = values[values > 0.0] if (values > 0.0).any() else np.array([1.0])
    first, last = float(positive.min()) / margin, float(positive.max()) * margin
    return Ruler(first, max(last, 2.0 * first), pixels, True)


def _grid(chart: Chart, plane: Plane) -> Iterator[Item]:
    """Draw lines and ticks at round values, and say what the axes measure."""
    across, up = plane
    right, bottom = LEFT + across.pixels, TOP + up.pixels
    ticks = sorted({x for curve in chart.curves for x in curve.x.tolist()}) if chart.has_points else across.ticks()
    for value, place in zip(ticks, across.places(np.array(ticks)).tolist(), strict=True):
        yield Line(((LEFT + place, TOP), (LEFT + place, bottom)), GRID, 1.0)
        anchor = "end" if place > across.pixels - 12 else "middle"
        yield Text(LEFT + place, bottom + 8, short(value), LETTERS, GREY, anchor=anchor)
    values = up.ticks()
    for value, place in zip(values, up.places(np.array(values)).tolist(), strict=True):
        yield Line(((LEFT, bottom - place), (right, bottom - place)), GRID, 1.0)
        yield Text(LEFT - 4, bottom - place, short(value), LETTERS, GREY, anchor="end")
    yield Text(right, bottom + TOP + 16, f"{chart.across} →", LETTERS, GREY, anchor="end")
    yield Text(LEFT, bottom + TOP + 16, f"↑ {chart.up}", LETTERS, GREY)


def short(value: float) -> str:
    """Write a value on an axis in few letters."""
    if value >= 1e4:
        return f"{value / 1e3:.4g}k" if value < 1e6 else f"{value / 1e6:.4g}M"
    return f"{value:,g}" if value == int(value) else f"{value:g}"


def _curve(curve: Curve, chart: Chart, style: Style, plane: Plane) -> Iterator[Item]:
    """Draw a band, the line, and points with their bars."""
    if curve.ends is not None and not chart.has_points and not chart.is_log_up:
        low, high = curve.ends
        there = plane.points(curve.x, high)
        yield Line((*there, *reversed(plane.points(curve.x, low))), f"{style.on_light}{BAND}")
    if len(points := plane.points(curve.x, curve.y)) > 0:
        yield Line(points, style.on_light, STROKE, style.dash)
    if curve.ends is not None and chart.has_points:
        for x, y, low, high in zip(curve.x, curve.y, *curve.ends, strict=True):
            (place, bottom), (_, top) = (plane.point(x, end) for end in (low, high))
            if math.isfinite(low + high):
                yield Line(((place, bottom), (place, top)), style.on_light, 1.6)
            yield Area(*plane.point(x, y), 6.0, 6.0, style.on_light, is_round=True)


def _guide(plane: Plane) -> list[Item]:
    """Draw a short line of slope ½ in the corner below the curves."""
    low = 1.15 * plane.up.first
    ends = ((30.0, 1.0), (3.0, math.sqrt(10.0)))
    (left, bottom), end = (plane.point(plane.across.last / part, low * growth) for part, growth in ends)
    text = Text(left - 3, bottom - 4, "√T", LETTERS, GREY, anchor="end")
    return [Line(((left, bottom), end), GREY, 1.0, (1.0, 2.0)), text]
