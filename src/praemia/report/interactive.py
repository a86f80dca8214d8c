"""Interactive curves for the report: Plotly's figures as plain data, and its script, inlined once.

Every learner has one entry in the legend, which shows and hides its curves and bands in all panels.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from praemia.errors import require
from praemia.report.figures import thinned
from praemia.report.rendering import GREY, GRID, INK, Look, looks
from praemia.statistics.intervals import mean_band
from praemia.statistics.stored_runs import Series

COLUMNS = 3
ROW_HEIGHT = 330
FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif"

Json: TypeAlias = dict[str, Any]


def plotly_script() -> str:
    """Return the text of Plotly's script."""
    require("plotly.offline")
    from plotly.offline import get_plotlyjs

    return str(get_plotlyjs())


def curves(settings: Mapping[str, Sequence[Series]]) -> Json:
    """Return the regret curves of some settings as a figure for Plotly: mean, and a band that is its 95 % interval."""
    look_of = looks(series.title for members in settings.values() for series in members)
    data: list[Json] = []
    seen: set[str] = set()
    for place, members in enumerate(settings.values()):
        for series in members:
            data += _traces(series, place, look_of[series.title], in_legend=series.title not in seen)
            seen.add(series.title)
    return {"data": data, "layout": _layout([members[0] for members in settings.values()])}


def as_script_data(figure: Json) -> str:
    """Write a figure as JSON that can stand inside a script element."""
    return json.dumps(figure, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _traces(series: Series, place: int, look: Look, *, in_legend: bool) -> list[Json]:
    episodes = thinned(series.num_episodes)
    mean, low, high = mean_band(series.curves(episodes))
    suffix = "" if place == 0 else str(place + 1)
    shared = {"type": "scatter", "mode": "lines", "name": series.title, "legendgroup": series.title}
    shared |= {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
    red, green, blue = look.rgb
    band = shared | {
        "x": [*episodes.tolist(), *episodes[::-1].tolist()],
        "y": _short(np.concatenate((high, low[::-1]))),
        "fill": "toself",
        "fillcolor": f"rgba({red},{green},{blue},0.16)",
        "line": {"width": 0},
        "hoverinfo": "skip",
        "showlegend": False,
    }
    line = shared | {
        "x": episodes.tolist(),
        "y": _short(mean),
        "line": {
            "color": look.colour,
            "width": 2,
            "dash": ",".join(f"{2 * part:g}px" for part in look.dash) or "solid",
        },
        "hovertemplate": "%{y:.4g} after %{x:,} episodes",
        "showlegend": in_legend,
    }
    return [band, line]


def _short(values: NDArray[np.float64]) -> list[float]:
    """Round to five digits that count: more than a screen can show, and a third of the bytes."""
    return [float(f"{value:.5g}") for value in values]


def _layout(firsts: Sequence[Series]) -> Json:
    columns = min(COLUMNS, len(firsts))
    rows = -(-len(firsts) // columns)
    layout: Json = {
        "grid": {"rows": rows, "columns": columns, "pattern": "independent", "xgap": 0.16, "ygap": 0.34},
        "height": ROW_HEIGHT * rows + 70,
        "margin": {"l": 54, "r": 12, "t": 84, "b": 44},
        "font": {"family": FONT, "size": 12, "color": INK},
        "paper_bgcolor": "white",
        "plot_bgcolor": "white",
        "hoverlabel": {"namelength": -1},
        "legend": {"orientation": "h", "x": 0, "y": 1, "yref": "container", "yanchor": "top", "font": {"size": 13}},
        "annotations": [],
    }
    for place, series in enumerate(firsts):
        suffix = "" if place == 0 else str(place + 1)
        axis = {"gridcolor": GRID, "linecolor": GREY, "zeroline": False, "ticks": "outside", "tickcolor": GREY}
        layout[f"xaxis{suffix}"] = axis | {"title": {"text": "episodes", "standoff": 6}, "separatethousands": True}
        layout[f"yaxis{suffix}"] = axis | {"rangemode": "tozero"} | _up(place, columns)
        layout["annotations"].append(_panel_title(series, suffix))
    return layout


def _up(place: int, columns: int) -> Json:
    return {"title": {"text": "cumulative regret", "standoff": 6}} if place % columns == 0 else {}


def _panel_title(series: Series, suffix: str) -> Json:
    """Write the task above its panel, with its sizes on a line of their own: panels are narrow on paper."""
    sizes = f"O = {series.model.num_observations}, H = {series.model.horizon}"
    where = {"x": 0, "y": 1, "xref": f"x{suffix} domain", "yref": f"y{suffix} domain"}
    look = {"showarrow": False, "align": "left", "xanchor": "left", "yanchor": "bottom", "font": {"size": 12}}
    return where | look | {"text": f"<b>{_plain(series.task)}</b><br>{sizes}"}


def _plain(text: str) -> str:
    """Plotly reads a few tags in its texts; a task's name is not one of them."""
    return text.replace("&", "&amp;").replace("<", "&lt;")
