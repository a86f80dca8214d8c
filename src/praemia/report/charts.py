"""Charts as data: what is plotted of runs.

Curves are means over runs; bands and bars are 95% intervals of the mean.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from praemia._support.text_tables import plural
from praemia.simulation.run import Run
from praemia.statistics.intervals import Floats, Interval, mean_band, mean_interval, sum_interval
from praemia.statistics.series import Series
from praemia.statistics.steps import share_curve

NUM_POINTS = 160
FIRST_STEP = 100  # of curves over steps


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


@dataclass(frozen=True, eq=False)
class Chart:
    """Curves on a pair of axes.

    Attributes
    ----------
    title, note : what stands above it, the note in small print; across, up : what the axes measure.
    is_log_across, is_log_up : which axes are logarithmic; what is not positive is left out there.
    has_points : whether each point of a curve is a measurement of its own, with a bar; otherwise intervals are bands.
    has_guide : whether a line of slope ½ is drawn below the curves.
    published : places on the x axis that were published elsewhere, by the title of their learner.
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
    published: Mapping[str, int] = field(default_factory=dict)


def regret_charts(rows: Mapping[str, Sequence[Series]]) -> list[Chart]:
    """Return the regret over episodes, a chart for each task."""
    charts = []
    for name, members in rows.items():
        task = members[0].loaded_task
        sizes = f"{task.num_observations} observations, {plural(task.max_steps, 'step')}" if task is not None else ""
        curves = [_curve(series, lambda run: run.regret, mean_interval) for series in members]
        charts.append(Chart(name, sizes, "episodes", "cumulative regret", curves))
    return charts


def _curve(series: Series, of: Callable[[Run], Floats], interval: Callable[[Floats], Interval]) -> Curve:
    """Return the mean of what each run has after some episodes, with its intervals."""
    episodes = thinned(series.num_episodes)
    mean, low, high = mean_band(np.stack([of(run)[episodes - 1] for run in series.runs]), interval)
    return Curve(series.title, series.first.learner, episodes.astype(float), mean, (low, high))


def on_log_axes(chart: Chart) -> Chart:
    """Return a chart of regret on log–log axes, with a line of slope ½ to compare with."""
    return replace(chart, is_log_across=True, is_log_up=True, has_guide=True)


def value_charts(rows: Mapping[str, Sequence[Series]], published: Mapping[str, Mapping[str, int]]) -> list[Chart]:
    """Return the value of plans against steps, a chart for each task, with published figures as marks."""
    charts = []
    for name, members in rows.items():
        last = max(int(run.steps.sum()) for own in members for run in own.runs)
        steps = np.geomspace(FIRST_STEP, last, 2 * NUM_POINTS)
        curves = [Curve(s.title, s.first.learner, steps, np.maximum(0.0, share_curve(s, steps))) for s in members]
        marks = published.get(name, {})
        charts.append(Chart(name, "", "steps", "value ÷ optimum", curves, is_log_across=True, published=marks))
    return charts


def scaling_chart(rows: Mapping[str, Sequence[Series]], across: str) -> Chart:
    """Return the final regret against a size of the task."""
    points: dict[tuple[str, str], list[tuple[float, ...]]] = {}
    for series in (own for members in rows.values() for own in members):
        if (task := series.loaded_task) is not None:
            sizes = {"machine states": task.num_machine_states, "horizon": task.max_steps}
            regret = mean_interval(series.final)
            point = (sizes.get(across, task.num_observations), regret.estimate, regret.low, regret.high)
            points.setdefault((series.title, series.first.learner), []).append(point)
    curves = []
    for key, own in points.items():
        x, y, low, high = np.array(own, dtype=float).T
        curves.append(Curve(*key, x, y, (low, high)))
    return Chart("", "", across, "final regret", curves, is_log_across=True, is_log_up=True, has_points=True)


def return_chart(run: Run) -> Chart:
    """Return the moving mean of the returns over episodes, for a run on a black box."""
    episodes = thinned(run.num_episodes)
    curve = Curve(run.title, run.learner, episodes.astype(float), moving_mean(run.returns)[episodes - 1])
    return Chart("", f"mean of the last {window(run.num_episodes)}", "episodes", "return", [curve])


def returns_chart(members: Sequence[Series]) -> Chart:
    """Return the moving means of the returns of several learners: means over runs with their intervals."""
    curves = [
        _curve(series, lambda run: moving_mean(run.returns), lambda values: sum_interval(values[None], [1]))
        for series in members
    ]
    note = f"mean of the last {window(members[0].num_episodes)}"
    return Chart(members[0].task, note, "episodes", "return", curves)


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
    """Return at most 160 episodes from 1 to K: half of them evenly spread, half evenly in the logarithm."""
    ends = (1, num_episodes, NUM_POINTS // 2)
    return np.unique(np.concatenate((np.linspace(*ends), np.geomspace(*ends))).round().astype(np.int64))
