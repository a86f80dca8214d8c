"""What ``compare`` returns: the runs of several learners, with tables and curves, by regret or by returns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from praemia.envs.black_box import BlackBox
from praemia.experiments.store import Store
from praemia.files.writing import dump
from praemia.pictures.drawing import Drawing
from praemia.planning.sampled import SampledEvaluation
from praemia.report.cards import Card
from praemia.report.charts import Chart, regret_charts, returns_chart
from praemia.report.figures import chart_figure
from praemia.report.tables import RETURNS_NOTE, pairs_table, regret_note, summary_table
from praemia.statistics.frames import runs_frame
from praemia.statistics.intervals import Interval, sum_interval
from praemia.statistics.series import Series
from praemia.tasks.task import Task
from praemia.text_tables import Table, number, plural

if TYPE_CHECKING:
    import pandas

REGRETS = ("learner", "regret", "95% low", "95% high", "per 1,000 episodes at the end", "seconds per run")
RATIOS = ("first", "second", "ratio", "95% low", "95% high", "who is lower")
MEANS = ("learner", "mean return", "95% low", "95% high", "policy at the end", "95% low", "95% high", "seconds per run")
DIFFERENCES = ("first", "second", "difference at the end", "95% low", "95% high", "who is higher")


@dataclass(frozen=True, eq=False)
class Comparison(ABC):
    """The runs of several learners on one task: a notebook shows tables and curves, ``print`` the tables.

    Attributes
    ----------
    problem : the task or the black box; series : for each learner its runs, in the order of their seeds.
    """

    problem: Task | BlackBox
    series: tuple[Series, ...]

    @property
    def task(self) -> str:
        """The name of the task."""
        return self.problem.name

    @property
    @abstractmethod
    def table(self) -> Table:
        """A row for each learner."""

    @property
    @abstractmethod
    def _pairs(self) -> Table:
        """A row for every two learners."""

    @property
    @abstractmethod
    def _chart(self) -> Chart: ...

    @property
    @abstractmethod
    def _note(self) -> str: ...

    @property
    def figure(self) -> Drawing:
        """The regret over episodes, or the moving mean of the returns: means over runs, with their 95% intervals."""
        chart = self._chart
        return chart_figure(chart, chart.up.capitalize())

    def to_frame(self) -> pandas.DataFrame:
        """Return a data frame with a row for each run, as ``praemia.load_runs(folder).to_frame()`` does."""
        return runs_frame(run for series in self.series for run in series.runs)

    def save(self, folder: str | Path) -> None:
        """Keep the runs in a folder, which ``praemia.load_runs`` and ``praemia report`` read."""
        store, text = Store.create(folder), dump(self.problem)
        for run in (run for series in self.series for run in series.runs):
            store.write(replace(run, task_text=text))

    @property
    def _tables(self) -> list[Table]:
        return [self.table, self._pairs] if len(self.series) > 1 else [self.table]

    @property
    def _facts(self) -> list[str]:
        first = self.series[0]
        return [plural(first.num_runs, "run"), plural(first.num_episodes, "episode")]

    def _repr_html_(self) -> str:
        pictures = {self._chart.up: lambda: self.figure}
        return Card(f"Learners on {self.task}", self._facts, pictures, self._tables, [self._note]).html

    def __str__(self) -> str:
        return "\n".join(map(str, self._tables))

    def __repr__(self) -> str:
        titles = ", ".join(series.title for series in self.series)
        return f"{type(self).__name__}({titles} on {self.task}: {', '.join(self._facts)})"


@dataclass(frozen=True, eq=False, repr=False)
class RegretComparison(Comparison):
    """Learners compared by their exact regret on a task."""

    @property
    def table(self) -> Table:
        """The mean regret of each learner at the end, with its 95% interval; the lowest is bold if it is clear."""
        return _columns(summary_table({self.task: self.series}), REGRETS)

    @property
    def ratios(self) -> Table:
        """The regret of every learner over that of every later one, seed by seed, with its 95% interval."""
        return _columns(pairs_table({self.task: self.series}), RATIOS)

    _pairs = ratios

    @property
    def _chart(self) -> Chart:
        (chart,) = regret_charts({self.task: self.series})
        return chart

    @property
    def _note(self) -> str:
        return regret_note(self.series)


@dataclass(frozen=True, eq=False, repr=False)
class ReturnComparison(Comparison):
    """Learners compared by their returns in a black box: everything in it is sampled.

    Attributes
    ----------
    evaluations : for each learner the evaluations of the policies that its runs have learned. Those of one seed played
        the same episodes.
    """

    evaluations: tuple[tuple[SampledEvaluation, ...], ...]

    def _final(self, place: int) -> NDArray[np.float64]:
        return np.array([own.value for own in self.evaluations[place]])

    @property
    def table(self) -> Table:
        """For each learner the mean return of all episodes, and of its policies at the end, with 95% intervals."""
        rows = []
        for place, series in enumerate(self.series):
            means = np.array([run.returns.mean() for run in series.runs])
            both = (sum_interval(values[None], [1]) for values in (means, self._final(place)))
            cells = [number(x) for own in both for x in (own.estimate, own.low, own.high)]
            rows.append((series.title, *cells, number(series.seconds)))
        places = range(len(self.series))
        clear = [
            i for i in places if len(places) > 1 and all(self._difference(i, j).low > 0.0 for j in places if j != i)
        ]
        return Table(MEANS, rows, strong=clear)

    def _difference(self, first: int, second: int) -> Interval:
        return sum_interval(np.stack((self._final(first), self._final(second))), [1, -1])

    @property
    def differences(self) -> Table:
        """The value of each learner's policies less that of every later one's, seed by seed, with its 95% interval."""
        rows = []
        for first, second in combinations(range(len(self.series)), 2):
            own, titles = self._difference(first, second), (self.series[first].title, self.series[second].title)
            higher = titles[0] if own.low > 0.0 else titles[1] if own.high < 0.0 else "not clear"
            rows.append((*titles, *map(number, (own.estimate, own.low, own.high)), higher))
        return Table(DIFFERENCES, rows)

    _pairs = differences

    def to_frame(self) -> pandas.DataFrame:
        """Return a data frame with a row for each run; ``policy_value`` is the sampled value of what it has learned."""
        values = [own.value for evaluations in self.evaluations for own in evaluations]
        means = [run.returns.mean() for series in self.series for run in series.runs]
        return super().to_frame().assign(mean_return=means, policy_value=values)

    @property
    def _chart(self) -> Chart:
        return returns_chart(self.series)

    @property
    def _facts(self) -> list[str]:
        return [*super()._facts, f"policies at the end: {self.evaluations[0][0].num_episodes} episodes each"]

    @property
    def _note(self) -> str:
        return RETURNS_NOTE


def _columns(table: Table, names: Sequence[str]) -> Table:
    """Return some columns of a table."""
    places = [table.header.index(name) for name in names]
    return replace(table, header=names, rows=[[row[i] for i in places] for row in table.rows])
