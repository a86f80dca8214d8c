"""Charts as data: what is plotted of runs, and the style of each learner. Pages have SVG, notebooks matplotlib.

Curves are means over runs; bands and bars are 95% intervals of the mean.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from praemia.simulation.run import Run
from praemia.statistics.intervals import Floats, Interval, mean_band, mean_interval, sum_interval
from praemia.statistics.series import Series
from praemia.statistics.steps import share_curve
from praemia.text_tables import plural

NUM_POINTS = 160
FIRST_STEP, PUBLISHED_HEIGHT = 100, 1.06  # of curves over steps; where published figures are marked: above the curves


@dataclass(frozen=True, eq=False)
class Curve:
    """A line, x and y float64[n], with the low and the high end of its interval where there is one.

    ``learner`` is the name of the learner that the title stands for; it chooses the style.
    """

    title: str
    learner: str
    x: Floats
    y: Floats
    ends: tuple[Floats, Floats] | None = None


class PublishedPoint(NamedTuple):
    """What was published elsewhere, in the colour of the learner that it is of, if that has a curve."""

    title: str
    x: float
    y: float


@dataclass(frozen=True, eq=False)
class Chart:
    """Curves on a pair of axes.

    Attributes
    ----------
    title, note : what stands above it, the note in small print; across, up : what the axes measure.
    is_log_across, is_log_up : which axes are logarithmic; what is not positive is left out there.
    has_points : whether each point of a curve is a measurement of its own, with a bar; otherwise intervals are bands.
    has_guide : whether a line of slope ½ is drawn below the curves.
    """

    title: str
    note: str
    across: str
    up: str
    curves: Sequence[Curve]
    is_log_across: bool = False
    is_log_up: bool = False
    has_points: bool = False
    has_guide: bool = False
    published: Sequence[PublishedPoint] = ()


def regret_charts(rows: Mapping[str, Sequence[Series]]) -> list[Chart]:
    """Return the regret over episodes, a chart for each task."""
    charts = []
    for name, members in rows.items():
        task = members[0].loaded_task
        sizes = f"{task.num_observations} observations, {plural(task.max_steps, 'step')}" if task is not None else ""
        charts.append(Chart(name, sizes, "episodes", "cumulative regret", [*map(_regret, members)]))
    return charts


def on_log_axes(chart: Chart) -> Chart:
    """Return a chart of regret on log–log axes, with a line of slope ½ to compare with."""
    return replace(chart, is_log_across=True, is_log_up=True, has_guide=True)


def value_charts(rows: Mapping[str, Sequence[Series]], published: Mapping[str, Mapping[str, int]]) -> list[Chart]:
    """Return the value of plans against steps, a chart for each task, with published figures as marks."""
    charts = []
    for name, members in rows.items():
        steps = np.geomspace(
            FIRST_STEP, max(int(run.steps.sum()) for own in members for run in own.runs), 2 * NUM_POINTS
        )
        curves = [Curve(s.title, s.first.learner, steps, np.maximum(0.0, share_curve(s, steps))) for s in members]
        points = [PublishedPoint(method, at, PUBLISHED_HEIGHT) for method, at in published.get(name, {}).items()]
        charts.append(Chart(name, "", "steps", "value ÷ optimum", curves, is_log_across=True, published=points))
    return charts


def scaling_chart(rows: Mapping[str, Sequence[Series]], across: str) -> Chart:
    """Return the final regret against a size of the task."""
    points: dict[tuple[str, str], list[tuple[int, Interval]]] = {}
    for members in rows.values():
        for series in members:
            if (task := series.loaded_task) is not None:
                sizes = {"machine states": task.num_machine_states, "horizon": task.max_steps}
                at = sizes.get(across, task.num_observations)
                points.setdefault((series.title, series.first.learner), []).append((at, mean_interval(series.final)))
    curves = []
    for key, own in points.items():
        x, y, low, high = np.array([(at, ratio.estimate, ratio.low, ratio.high) for at, ratio in own]).T
        curves.append(Curve(*key, x, y, (low, high)))
    return Chart("", "", across, "final regret", curves, is_log_across=True, is_log_up=True, has_points=True)


def return_chart(run: Run) -> Chart:
    """Return the moving mean of the returns over episodes, for a run on a black box."""
    episodes = thinned(run.num_episodes)
    curve = Curve(run.title, run.learner, episodes.astype(float), moving_mean(run.returns)[episodes - 1])
    return Chart("", f"mean of the last {window(run.num_episodes)}", "episodes", "return", [curve])


def returns_chart(runs_of: Mapping[str, Sequence[Run]]) -> Chart:
    """Return the moving means of the returns of several learners: means over runs with their intervals."""
    curves = []
    for title, runs in runs_of.items():
        episodes = thinned(runs[0].num_episodes)
        columns = np.stack([moving_mean(run.returns)[episodes - 1] for run in runs]).T
        intervals = [sum_interval(column[None], [1]) for column in columns]
        mean, low, high = np.array([(own.estimate, own.low, own.high) for own in intervals]).T
        ends = None if np.isnan(low).any() else (low, high)
        curves.append(Curve(title, runs[0].learner, episodes.astype(float), mean, ends))
    size = window(next(iter(runs_of.values()))[0].num_episodes)
    return Chart("", f"mean of the last {size}", "episodes", "return", curves)


def window(num_episodes: int) -> int:
    """Return over how many episodes a moving mean is taken: a tenth of them, at most 100."""
    return max(1, min(100, num_episodes // 10))


def moving_mean(returns: Floats) -> Floats:
    """Return for each episode the mean return of the last ones, itself included; of all, where there are fewer."""
    size = window(len(returns))
    sums = np.concatenate((np.zeros(size), np.cumsum(returns)))
    means: Floats = (sums[size:] - sums[:-size]) / np.minimum(np.arange(1, len(returns) + 1), size)
    return means


def thinned(num_episodes: int) -> NDArray[np.int64]:
    """Return at most 160 numbers of episodes from 1 to K: half of them evenly spread, half evenly in the logarithm."""
    half = NUM_POINTS // 2
    even = np.linspace(1, num_episodes, half)
    logarithmic = np.geomspace(1, num_episodes, half)
    return np.unique(np.concatenate((even, logarithmic)).round().astype(np.int64))


def _regret(series: Series) -> Curve:
    episodes = thinned(series.num_episodes)
    mean, low, high = mean_band(series.curves(episodes))
    return Curve(series.title, series.first.learner, episodes.astype(float), mean, (low, high))


@dataclass(frozen=True)
class Style:
    """The style of a line.

    Attributes
    ----------
    name : of its colour; colour : as ``#RRGGBB``; on_dark : the colour on a dark page.
    dash : lengths of marks and gaps in units of the line's width, empty for a solid line.
    marker : the name of a marker in matplotlib.
    """

    name: str
    colour: str
    on_dark: str
    dash: tuple[float, ...]
    marker: str


# Okabe and Ito's colours, which colour-blind readers can tell apart.
BLUE = Style("blue", "#0072B2", "#4DA9E8", (), "o")
ORANGE = Style("orange", "#C98A00", "#F0B429", (6.0, 2.0), "s")
GREEN = Style("green", "#009E73", "#2BC79A", (6.0, 2.0, 1.5, 2.0), "^")
VERMILLION = Style("vermillion", "#D55E00", "#FF8A4C", (1.5, 1.5), "D")
PURPLE = Style("purple", "#B5609A", "#E29BC8", (3.0, 1.5), "v")
SKY = Style("sky", "#3F9BD1", "#8FD3FF", (9.0, 2.0, 1.5, 2.0, 1.5, 2.0), "P")
INK = Style("ink", "#16191D", "#F2F4F7", (14.0, 1.2), "X")
STYLES = (SKY, VERMILLION, GREEN, ORANGE, PURPLE, BLUE, INK)
# Each colour with its own dash, then with those of the others.
_ALL = [replace(style, dash=STYLES[(i + turn) % 7].dash) for turn in range(7) for i, style in enumerate(STYLES)]
# Every learner has one style, everywhere: one of these, or else one by its name.
_OWN = {
    "headroom": INK,
    "ucbvi-prm": BLUE,
    "ucbvi": ORANGE,
    "ucrl2-rm-l": GREEN,
    "ucrl2-rm-b": PURPLE,
    "ucrl2-rm-b as published": VERMILLION,
    "ucrl2-rm-b 0.03": SKY,
}


def styles(players: Iterable[tuple[str, str]]) -> dict[str, Style]:
    """Give each title the style of its learner; where that is taken, the next one that is free.

    ``players`` are titles with the names of their learners. A line that stands alone is solid.
    """
    style_of: dict[str, Style] = {}
    for title, learner in dict.fromkeys(players):
        first = _OWN.get(title.lower(), _OWN.get(learner, _ALL[zlib.crc32(learner.encode()) % len(_ALL)]))
        place = _ALL.index(first)
        turns = _ALL[place:] + _ALL[:place]
        style_of[title] = next((own for own in turns if own not in style_of.values()), first)
    return {title: replace(own, dash=()) for title, own in style_of.items()} if len(style_of) == 1 else style_of


def style_sheet() -> Markup:
    """Return the colours of all styles as classes of a style sheet, for light pages and for dark ones."""
    light, dark = (
        "".join(f".{style.name} {{ --own: {colour}; }}\n" for style, colour in pairs)
        for pairs in ([(own, own.colour) for own in STYLES], [(own, own.on_dark) for own in STYLES])
    )
    return Markup(f"{light}@media (prefers-color-scheme: dark) {{\n{dark}}}\n")
