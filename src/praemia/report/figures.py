"""Figures of regret: the paper's curves, on log–log axes, per episode, and against the size of the task.

Each function takes the settings of a study and returns a figure of matplotlib with one panel per setting; ``curves``
returns one of Plotly, as plain data, for the report. Curves are means over runs; bands and error bars are 95 %
intervals of the mean.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from praemia.errors import require
from praemia.report.rendering import BLUE, GREY, GRID, INK, Look, looks, new_figure, tidy
from praemia.simulation.run import Run
from praemia.statistics.intervals import mean_band, mean_interval
from praemia.statistics.stored_runs import Series
from praemia.text_tables import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from praemia.tasks.task import Task

COLUMNS = 3
ROW_HEIGHT = 330
FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif"
Json: TypeAlias = dict[str, Any]
NUM_POINTS = 300
NUM_WINDOWS = 30
LABEL_GAP = 0.062  # of a panel's height: room for a line of text

Settings: TypeAlias = Mapping[str, Sequence[Series]]


def thinned(num_episodes: int) -> NDArray[np.int64]:
    """Return at most 300 numbers of episodes from 1 to K: half of them evenly spread, half evenly in the logarithm."""
    half = NUM_POINTS // 2
    even = np.linspace(1, num_episodes, half)
    logarithmic = np.geomspace(1, num_episodes, half)
    return np.unique(np.concatenate((even, logarithmic)).round().astype(np.int64))


def panel_title(series: Series) -> str:
    """Name a panel: the task and, where it is stored with the run, its number of observations and its horizon."""
    if not series.first.task_text:
        return series.task
    task = series.model
    return f"{series.task}  (O = {task.num_observations}, H = {task.horizon})"


def regret_figure(settings: Settings, title: str) -> Figure:
    """Draw the regret over episodes: mean, and a band that is its 95 % interval."""

    def draw(axes: Axes, series: Series, look: Look) -> None:
        episodes = thinned(series.num_episodes)
        mean, low, high = mean_band(series.curves(episodes))
        axes.fill_between(episodes, low, high, color=look.colour, alpha=0.18, lw=0)
        _line(axes, episodes, mean, look, series.title)

    figure = _panels(settings, title, draw, "cumulative regret")
    for axes, members in zip(figure.axes, settings.values(), strict=True):
        axes.set_xlim(0, max(series.num_episodes for series in members))
        axes.set_ylim(bottom=0)
        axes.xaxis.set_major_formatter("{x:,.0f}")
        _label_ends(axes, members)
    return figure


def run_figure(run: Run) -> Figure:
    """Draw the regret of one run over episodes; on a black box, where it is not known, the mean return so far."""
    title = f"{run.title} on {run.task}"
    if run.optimal_value is not None:
        return regret_figure({run.task: [Series(run.task, run.title, (run,))]}, title)
    figure, episodes = new_figure(4.8, 3.7, title), thinned(run.num_episodes)
    axes = figure.add_subplot()
    _line(axes, episodes, (np.cumsum(run.returns) / np.arange(1, run.num_episodes + 1))[episodes - 1], BLUE, run.title)
    tidy(axes, "", "episodes", "mean return so far")
    return figure


def log_figure(settings: Settings, title: str) -> Figure:
    """Draw the regret on log–log axes, with the slope of √T as a guide."""

    def draw(axes: Axes, series: Series, look: Look) -> None:
        episodes = thinned(series.num_episodes)
        mean = series.curves(episodes).mean(axis=0)
        _line(axes, episodes[mean > 0], mean[mean > 0], look, series.title)

    figure = _panels(settings, title, draw, "cumulative regret")
    for axes, members in zip(figure.axes, settings.values(), strict=True):
        _log_axes(axes, members[0].num_episodes)
        _guide(axes)
    return figure


def per_episode_figure(settings: Settings, title: str) -> Figure:
    """Draw the regret per episode, averaged over windows that widen with the episodes."""

    def draw(axes: Axes, series: Series, look: Look) -> None:
        ends = np.unique(np.geomspace(1, series.num_episodes, NUM_WINDOWS + 1).round().astype(np.int64))
        mean = np.diff(np.concatenate(([0.0], series.curves(ends).mean(axis=0))))
        rate = mean / np.diff(np.concatenate(([0], ends)))
        _line(axes, ends[rate > 0], rate[rate > 0], look, series.title)

    figure = _panels(settings, title, draw, "regret per episode")
    for axes, members in zip(figure.axes, settings.values(), strict=True):
        _log_axes(axes, members[0].num_episodes)
    return figure


def scaling_figure(settings: Settings, title: str, across: str, size: Callable[[Task], int]) -> Figure:
    """Draw the final regret against a size of the task, with 95 % intervals."""
    figure = new_figure(6.2, 3.6, title)
    axes = figure.add_subplot()
    points: dict[str, list[tuple[int, Series]]] = {}
    for members in settings.values():
        for series in members:
            points.setdefault(series.title, []).append((size(series.model), series))
    for name, look in looks(points).items():
        sizes = [at for at, _ in points[name]]
        intervals = [mean_interval(series.final) for _, series in points[name]]
        middle = np.array([interval.estimate for interval in intervals])
        arms = np.array([[i.estimate - i.low for i in intervals], [i.high - i.estimate for i in intervals]])
        bars = axes.errorbar(sizes, middle, arms, color=look.colour, marker=look.marker, ms=5, lw=1.6, capsize=3)
        bars.lines[0].set_dashes(look.dash or (None, None))
        axes.annotate(
            name, (sizes[-1], middle[-1]), xytext=(8, 0), textcoords="offset points", va="center", fontsize=9, color=INK
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    every = sorted({at for members in points.values() for at, _ in members})
    axes.set_xticks(every, [str(at) for at in every])
    axes.minorticks_off()
    tidy(axes, "", across, "final regret")
    return figure


def _panels(settings: Settings, title: str, draw: Callable[[Axes, Series, Look], None], up: str) -> Figure:
    """Draw every setting in its panel, at most three in a row, under one legend."""
    columns = min(COLUMNS, len(settings))
    rows = -(-len(settings) // columns)
    figure = new_figure(max(4.8, 3.7 * columns), 2.9 * rows + 0.8, title)
    look_of = looks(series.title for members in settings.values() for series in members)
    for place, members in enumerate(settings.values()):
        axes = figure.add_subplot(rows, columns, place + 1)
        for series in reversed(members):  # the first learner lies on top
            draw(axes, series, look_of[series.title])
        tidy(axes, panel_title(members[0]), "episodes", up if place % columns == 0 else "")
    handles = {
        label: line for axes in figure.axes for line, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    names = [name for name in look_of if name in handles]
    figure.legend(
        [handles[name] for name in names],
        names,
        loc="outside lower center",
        ncols=min(len(names), 5 if columns == 3 else 2),
        frameon=False,
        fontsize=9,
        handlelength=3.2,
    )
    return figure


def _line(axes: Axes, x: NDArray[np.int64], y: NDArray[np.float64], look: Look, title: str) -> None:
    (line,) = axes.plot(x, y, color=look.colour, linewidth=1.6, label=title)
    if look.dash:
        line.set_dashes(look.dash)


def _label_ends(axes: Axes, members: Sequence[Series]) -> None:
    """Write each final mean beside the end of its curve, pushed apart where they would touch."""
    look_of = looks(series.title for series in members)
    top = axes.get_ylim()[1]
    ends = sorted((float(series.final.mean()), series.title) for series in members)
    height = -LABEL_GAP
    for end, title in ends:
        height = max(end / top, height + LABEL_GAP)
        axes.text(
            1.015, height, number(end), transform=axes.transAxes, va="center", fontsize=8, color=look_of[title].colour
        )


def _log_axes(axes: Axes, num_episodes: int) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(1, max(2, num_episodes))
    axes.minorticks_off()


def _guide(axes: Axes) -> None:
    """Draw a short line of slope ½ in the corner below the curves."""
    right, bottom = axes.get_xlim()[1], axes.get_ylim()[0]
    x = np.array([right / 30.0, right / 3.0])
    y = 1.15 * bottom * np.sqrt(x / x[0])
    axes.plot(x, y, color=GREY, linewidth=1.2, linestyle=(0, (1, 1.5)), scalex=False, scaley=False)
    axes.annotate("slope of √T", (x[0], y[0]), (-3, 0), textcoords="offset points", ha="right", fontsize=8, color=GREY)


def plotly_script() -> str:
    """Return the text of Plotly's script."""
    require("plotly.offline")
    from plotly.offline import get_plotlyjs

    return str(get_plotlyjs())


def curves(settings: Settings) -> Json:
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
    up: Json = {"title": {"text": "cumulative regret", "standoff": 6}}
    for place, series in enumerate(firsts):
        suffix = "" if place == 0 else str(place + 1)
        axis = {"gridcolor": GRID, "linecolor": GREY, "zeroline": False, "ticks": "outside", "tickcolor": GREY}
        layout[f"xaxis{suffix}"] = axis | {"title": {"text": "episodes", "standoff": 6}, "separatethousands": True}
        layout[f"yaxis{suffix}"] = axis | {"rangemode": "tozero"} | (up if place % columns == 0 else {})
        layout["annotations"].append(_panel_title(series, suffix))
    return layout


def _panel_title(series: Series, suffix: str) -> Json:
    """Write the task above its panel, with its sizes on a line of their own: panels are narrow on paper."""
    sizes = f"O = {series.model.num_observations}, H = {series.model.horizon}"
    where = {"x": 0, "y": 1, "xref": f"x{suffix} domain", "yref": f"y{suffix} domain"}
    look = {"showarrow": False, "align": "left", "xanchor": "left", "yanchor": "bottom", "font": {"size": 12}}
    return where | look | {"text": f"<b>{_plain(series.task)}</b><br>{sizes}"}


def _plain(text: str) -> str:
    """Plotly reads a few tags in its texts; a task's name is not one of them."""
    return text.replace("&", "&amp;").replace("<", "&lt;")
