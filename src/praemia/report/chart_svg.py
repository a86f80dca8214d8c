"""Draw charts as SVG for a page, whose style sheet has the colours, for light and for dark.

The scales of the axes stand in the element (``data-x``, ``data-y``: log or linear, and the two ends), so the page's
script can read the values under the pointer.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup, escape
from numpy.typing import NDArray

from praemia.report.charts import Chart, Curve
from praemia.report.styles import Style, styles

WIDTH, HEIGHT = 280, 176
LEFT, RIGHT, TOP, BOTTOM = 36, 8, 6, 30
MAX_TICKS = 5
STROKE = 1.8
NARROW = 4.0  # below this quotient of its ends, a log axis has the ticks of a linear one
PUBLISHED_HEIGHT = 1.06  # of the marks of published figures: above the curves


@dataclass(frozen=True)
class Axis:
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

    def ticks(self, most: int = MAX_TICKS) -> list[float]:
        """Return a few round values between the ends."""
        return (_log_ticks if self.is_log else _linear_ticks)(self.first, self.last, most)

    def __str__(self) -> str:
        return f"{'log' if self.is_log else 'linear'} {self.first:.6g} {self.last:.6g}"


def _linear_ticks(first: float, last: float, most: int) -> list[float]:
    """Return a few multiples of 1, 2 or 5 times a power of ten between two values."""
    rough = (last - first) / (most - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= rough * 0.999)
    return [step * i for i in range(math.ceil(first / step - 1e-9), math.floor(last / step + 1e-9) + 1)]


def _log_ticks(first: float, last: float, most: int) -> list[float]:
    """Return powers of ten between two values, or 1, 2 and 5 times these where there are few, or every other one."""
    if last / first < NARROW:
        return _linear_ticks(first, last, most)
    low, high = math.floor(math.log10(first)), math.ceil(math.log10(last))
    for factors, every in (((1.0, 2.0, 5.0), 1), ((1.0,), 1), ((1.0,), 2), ((1.0,), 3)):
        values = [factor * 10.0**power for power in range(low, high + 1, every) for factor in factors]
        inside = [value for value in values if first * 0.999 <= value <= last * 1.001]
        if len(inside) <= most:
            break
    return inside


def chart_svg(chart: Chart, style_of: Mapping[str, Style]) -> Markup:
    """Return a chart as an SVG element, without its title."""
    across, up = chart_axes(chart)
    parts = [*_grid(chart, across, up)]
    parts.append(f'<svg class="plot" x="{LEFT}" y="{TOP}" width="{across.pixels}" height="{up.pixels}">')
    for curve in reversed(chart.curves):  # the first learner lies on top
        style = style_of[curve.title]
        parts.append(f'<g class="{style.colour}" data-learner="{escape(curve.title)}">')
        if curve.ends is not None and chart.has_points:
            parts += _points(curve, curve.ends, across, up)
        elif curve.ends is not None and not chart.is_log_up:
            low, high = curve.ends
            band = f"{_pairs(curve.x, high, across, up)} {_pairs(curve.x[::-1], low[::-1], across, up)}"
            parts.append(f'<polygon class="band" points="{band}"/>')
        parts += [_line(_pairs(curve.x, curve.y, across, up), style), "</g>"]
    parts += [_guide(across, up)] if chart.has_guide else []
    for title, value in chart.published.items():
        (x, y), colour = (
            _place(value, PUBLISHED_HEIGHT, across, up),
            style_of[title].colour if title in style_of else "",
        )
        tip = f"<title>{escape(title)}: {value:,g}</title>"
        parts.append(f'<path class="published {colour}" d="M{x - 4:.1f} {y - 3:.1f}h8l-4 7z">{tip}</path>')
    label = escape(f"{chart.up} over {chart.across}" + (f": {chart.title}" if chart.title else ""))
    start = f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}" '
    return Markup(start + f'data-x="{across}" data-y="{up}">' + "".join(parts) + "</svg></svg>")


def plots(charts: Sequence[Chart], style_of: Mapping[str, Style] | None = None) -> dict[str, Any]:
    """Return what a page shows: the legend, titles with a piece of their lines; and each chart with its drawing."""
    style_of = style_of or styles((curve.title, curve.learner) for chart in charts for curve in chart.curves)
    start = '<svg class="{}" viewBox="0 0 30 8" width="30" height="8">'
    legend = [
        (title, Markup(start.format(style.colour) + _line("0,4 30,4", style) + "</svg>"))
        for title, style in style_of.items()
    ]
    return {"legend": legend, "panels": [(chart, chart_svg(chart, style_of)) for chart in charts]}


def chart_axes(chart: Chart) -> tuple[Axis, Axis]:
    """Return scales that hold the curves; bands of a few runs may leave the chart."""
    x = np.concatenate([*(curve.x for curve in chart.curves), [*chart.published.values()]])
    y = np.concatenate([*(curve.y for curve in chart.curves), [PUBLISHED_HEIGHT] * bool(chart.published)])
    ends = [end for curve in chart.curves for end in curve.ends or ()]
    reach = np.concatenate([y, *(np.clip(end, y.min() / 2.0, y.max() * 1.3) for end in ends)])
    wide, tall = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    across = _axis(x, wide, chart.is_log_across, 1.15 if chart.has_points else 1.0)
    return across, _axis(reach, tall, chart.is_log_up, 1.2 if chart.is_log_up else 1.04)


def _axis(values: NDArray[np.float64], pixels: int, is_log: bool, margin: float) -> Axis:
    """Return a scale that holds some values: from 0 if it is linear, else with a margin on both sides."""
    if not is_log:
        return Axis(min(0.0, float(values.min())), max(0.0, margin * float(values.max())) or 1.0, pixels, False)
    positive = values[values > 0.0] if (values > 0.0).any() else np.array([1.0])
    first, last = float(positive.min()) / margin, float(positive.max()) * margin
    return Axis(first, max(last, 2.0 * first), pixels, True)


def _grid(chart: Chart, across: Axis, up: Axis) -> Iterable[str]:
    """Draw lines and ticks at round values, and say what the axes measure."""
    bottom = TOP + up.pixels
    ticks = sorted({x for curve in chart.curves for x in curve.x.tolist()}) if chart.has_points else across.ticks()
    for value, place in zip(ticks, across.places(np.array(ticks)).tolist(), strict=True):
        anchor = "end" if place > across.pixels - 12 else "middle"
        yield f'<path d="M{LEFT + place:.1f} {TOP}V{bottom}"/>'
        yield f'<text x="{LEFT + place:.1f}" y="{bottom + 12}" text-anchor="{anchor}">{short(value)}</text>'
    values = up.ticks()
    for value, place in zip(values, up.places(np.array(values)).tolist(), strict=True):
        yield f'<path d="M{LEFT} {bottom - place:.1f}h{across.pixels}"/>'
        yield f'<text x="{LEFT - 4}" y="{bottom - place + 3.5:.1f}" text-anchor="end">{short(value)}</text>'
    yield f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 4}" text-anchor="end">{escape(chart.across)} →</text>'
    yield f'<text x="{LEFT}" y="{HEIGHT - 4}">↑ {escape(chart.up)}</text>'


def short(value: float) -> str:
    """Write a value on an axis in few letters."""
    if value >= 1e4:
        return f"{value / 1e3:.4g}k" if value < 1e6 else f"{value / 1e6:.4g}M"
    return f"{value:,g}" if value == int(value) else f"{value:g}"


def _place(x: float, y: float, across: Axis, up: Axis) -> tuple[float, float]:
    return float(across.places(np.array(x))), up.pixels - float(up.places(np.array(y)))


def _pairs(x: NDArray[np.float64], y: NDArray[np.float64], across: Axis, up: Axis) -> str:
    """Return points of a curve as the text of an attribute; what a log scale cannot show is left out."""
    is_drawn = np.isfinite(y) & ((y > 0.0) | (not up.is_log))
    places = zip(across.places(x[is_drawn]).tolist(), (up.pixels - up.places(y[is_drawn])).tolist(), strict=True)
    return " ".join(f"{a:.1f},{b:.1f}".replace(".0,", ",").removesuffix(".0") for a, b in places)


def _line(points: str, style: Style) -> str:
    dash = " ".join(f"{STROKE * part:g}" for part in style.dash)
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<polyline class="line"{dashed} points="{points}"/>'


def _points(curve: Curve, ends: Sequence[NDArray[np.float64]], across: Axis, up: Axis) -> Iterable[str]:
    """Draw each point with its bar."""
    heights = [(up.pixels - up.places(own)).tolist() for own in (curve.y, *ends)]
    for x, middle, low, high in zip(across.places(curve.x).tolist(), *heights, strict=True):
        yield f'<path class="bar" d="M{x:.1f} {low:.1f}V{high:.1f}"/>' if math.isfinite(low + high) else ""
        yield f'<circle cx="{x:.1f}" cy="{middle:.1f}" r="3"/>'


def _guide(across: Axis, up: Axis) -> str:
    """Draw a short line of slope ½ in the corner below the curves."""
    low = 1.15 * up.first
    (left, bottom), (right, top) = (
        _place(across.last / part, low * growth, across, up) for part, growth in ((30.0, 1.0), (3.0, math.sqrt(10.0)))
    )
    text = f'<text x="{left - 3:.1f}" y="{bottom:.1f}" text-anchor="end">√T</text>'
    return f'<path class="guide" d="M{left:.1f} {bottom:.1f}L{right:.1f} {top:.1f}"/>{text}'
