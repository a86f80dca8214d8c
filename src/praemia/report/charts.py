"""Charts as data: what is drawn of runs, and the look of each learner. Pages draw them as SVG, figures with matplotlib.

Curves are means over runs; bands and bars are 95% intervals of the mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from praemia.experiments.paper import HEADROOM, UCBVI, UCBVI_PRM, UCRL2_B, UCRL2_B_BEST, UCRL2_B_PUBLISHED, UCRL2_L
from praemia.simulation.run import Run
from praemia.statistics.intervals import Floats, Interval, mean_band, mean_interval
from praemia.statistics.stored_runs import Series
from praemia.text_tables import plural

if TYPE_CHECKING:
    from praemia.tasks.task import Task

NUM_POINTS = 160
NUM_WINDOWS = 30

Settings: TypeAlias = Mapping[str, Sequence[Series]]


@dataclass(frozen=True, eq=False)
class Curve:
    """A learner's line, x and y float64[n], with the low and the high end of its interval where there is one."""

    title: str
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


def regret_charts(settings: Settings) -> list[Chart]:
    """Return the regret over episodes, a chart for each setting."""
    return [_chart(members, _regret, "cumulative regret") for members in settings.values()]


def on_log_axes(chart: Chart) -> Chart:
    """Return a chart of regret on log–log axes, with a line of slope ½ to compare with."""
    return replace(chart, is_log_across=True, is_log_up=True, has_guide=True)


def per_episode_charts(settings: Settings) -> list[Chart]:
    """Return the regret per episode, averaged over windows that widen with the episodes, a chart for each setting."""
    charts = [_chart(members, _rate, "regret per episode") for members in settings.values()]
    return [replace(chart, is_log_across=True, is_log_up=True) for chart in charts]


def scaling_chart(settings: Settings, across: str, size: Callable[[Task], int]) -> Chart:
    """Return the final regret against a size of the task."""
    points: dict[str, list[tuple[int, Interval]]] = {}
    for members in settings.values():
        for series in members:
            points.setdefault(series.title, []).append((size(series.loaded_task), mean_interval(series.final)))
    curves = []
    for title, own in points.items():
        x, y, low, high = np.array([(at, ratio.estimate, ratio.low, ratio.high) for at, ratio in own]).T
        curves.append(Curve(title, x, y, (low, high)))
    return Chart("", "", across, "final regret", curves, is_log_across=True, is_log_up=True, has_points=True)


def return_chart(run: Run) -> Chart:
    """Return the mean return so far over episodes, for a run on a black box."""
    episodes = thinned(run.num_episodes)
    means = (np.cumsum(run.returns) / np.arange(1, run.num_episodes + 1))[episodes - 1]
    return Chart("", "", "episodes", "mean return so far", [Curve(run.title, episodes.astype(float), means)])


def thinned(num_episodes: int) -> NDArray[np.int64]:
    """Return at most 160 numbers of episodes from 1 to K: half of them evenly spread, half evenly in the logarithm."""
    half = NUM_POINTS // 2
    even = np.linspace(1, num_episodes, half)
    logarithmic = np.geomspace(1, num_episodes, half)
    return np.unique(np.concatenate((even, logarithmic)).round().astype(np.int64))


def _chart(members: Sequence[Series], curve: Callable[[Series], Curve], up: str) -> Chart:
    """Draw a curve for each learner, under the task's name and, where it is stored with the runs, its sizes."""
    first = members[0]
    task = first.loaded_task if first.first.task_text else None
    sizes = "" if task is None else f"{plural(task.num_observations, 'observation')}, {plural(task.max_steps, 'step')}"
    return Chart(first.task, sizes, "episodes", up, [curve(series) for series in members])


def _regret(series: Series) -> Curve:
    episodes = thinned(series.num_episodes)
    mean, low, high = mean_band(series.curves(episodes))
    return Curve(series.title, episodes.astype(float), mean, (low, high))


def _rate(series: Series) -> Curve:
    ends = np.unique(np.geomspace(1, series.num_episodes, NUM_WINDOWS + 1).round().astype(np.int64))
    mean = np.diff(np.concatenate(([0.0], series.curves(ends).mean(axis=0))))
    return Curve(series.title, ends.astype(float), mean / np.diff(np.concatenate(([0], ends))))


@dataclass(frozen=True)
class Look:
    """A line's look.

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
BLUE = Look("blue", "#0072B2", "#4DA9E8", (), "o")
ORANGE = Look("orange", "#C98A00", "#F0B429", (6.0, 2.0), "s")
GREEN = Look("green", "#009E73", "#2BC79A", (6.0, 2.0, 1.5, 2.0), "^")
VERMILLION = Look("vermillion", "#D55E00", "#FF8A4C", (1.5, 1.5), "D")
PURPLE = Look("purple", "#B5609A", "#E29BC8", (3.0, 1.5), "v")
SKY = Look("sky", "#3F9BD1", "#8FD3FF", (9.0, 2.0, 1.5, 2.0, 1.5, 2.0), "P")
INK = Look("ink", "#16191D", "#F2F4F7", (14.0, 1.2), "X")
LOOKS = (SKY, INK, ORANGE, GREEN, VERMILLION, PURPLE, BLUE)

_OWN = {
    UCBVI_PRM.title: BLUE,
    UCBVI.title: ORANGE,
    UCRL2_L.title: GREEN,
    UCRL2_B_PUBLISHED.title: VERMILLION,
    UCRL2_B.title: PURPLE,
    UCRL2_B_BEST.title: SKY,
    HEADROOM.title: INK,
}


def looks(titles: Iterable[str]) -> dict[str, Look]:
    """Give each learner its look: those of ``reproduce`` always the same, the others those that are left, in turn."""
    names = list(dict.fromkeys(titles))
    look_of = {name: _OWN[name] for name in names if name in _OWN}
    free = [look for look in LOOKS if look not in look_of.values()] or list(LOOKS)
    others = [name for name in names if name not in _OWN]
    look_of.update({name: _varied(free[i % len(free)], i // len(free)) for i, name in enumerate(others)})
    return look_of


def _varied(look: Look, turn: int) -> Look:
    """Return a look with the dash and marker of another: colours that come round again are told apart by these."""
    other = LOOKS[(LOOKS.index(look) + turn) % len(LOOKS)]
    return replace(look, dash=other.dash, marker=other.marker)


def look_css() -> Markup:
    """Return the colours of all looks as classes of a style sheet, for light pages and for dark ones."""
    light, dark = (
        "".join(f".{look.name} {{ --own: {colour}; }}\n" for look, colour in pairs)
        for pairs in ([(look, look.colour) for look in LOOKS], [(look, look.on_dark) for look in LOOKS])
    )
    return Markup(f"{light}@media (prefers-color-scheme: dark) {{\n{dark}}}\n")
