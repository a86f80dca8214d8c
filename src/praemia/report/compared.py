"""What ``compare`` returns: the runs of several learners, with tables and curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from praemia.envs.black_box import BlackBox
from praemia.errors import ParameterError
from praemia.experiments.store import Store
from praemia.files.writing import dump
from praemia.pictures.drawing import Drawing
from praemia.planning.exact import Evaluation
from praemia.report.cards import Card
from praemia.report.charts import regret_charts, returns_chart
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
class Comparison:
    """Learners on a task, compared by their exact regret; in a black box by their returns, which are sampled.

    A notebook shows tables and curves, ``print`` the tables.

    Attributes
    ----------
    problem : the task or the black box; series : for each learner its runs, in the order of their seeds.
    evaluations : in a black box, for each learner those of the policies that its runs have learned. Those of one seed
        played the same episodes.
    """

    problem: Task | BlackBox
    series: tuple[Series, ...]
    evaluations: tuple[tuple[Evaluation, ...], ...] = ()

    @property
    def task(self) -> str:
        """The name of the task."""
        return self.problem.name

    @property
    def table(self) -> Table:
        """A row for each learner, with 95% intervals; the best one is bold if it is clear.

        It has the mean regret at the end; in a black box the mean return of all episodes, and of the policies at the
        end.
        """
        if not self.evaluations:
            return _columns(summary_table({self.task: self.series}), REGRETS)
        rows = []
        for series, final in zip(self.series, self._finals, strict=True):
            means = np.array([run.returns.mean() for run in series.runs])
            both = (sum_interval(values[None], [1]) for values in (means, final))
            cells = [number(x) for own in both for x in (own.estimate, own.low, own.high)]
            rows.append((series.title, *cells, number(series.seconds)))
        places = range(len(rows))
        clear = [i for i in places if rows[1:] and all(self._difference(i, j).low > 0.0 for j in places if j != i)]
        return Table(MEANS, rows, strong=clear)

    @property
    def ratios(self) -> Table:
        """The regret of every learner over that of every later one, seed by seed, with its 95% interval."""
        if self.evaluations:
            raise ParameterError(f"regrets in the black box {self.task!r} are not known; use differences")
        return _columns(pairs_table({self.task: self.series}), RATIOS)

    @property
    def differences(self) -> Table:
        """In a black box, the value of every learner's policies less that of every later one's, with its interval."""
        if not self.evaluations:
            raise ParameterError(f"policies on the task {self.task!r} have exact regrets; use ratios")
        rows = []
        for first, second in combinations(range(len(self.series)), 2):
            own, titles = self._difference(first, second), (self.series[first].title, self.series[second].title)
            higher = titles[0] if own.low > 0.0 else titles[1] if own.high < 0.0 else "not clear"
            rows.append((*titles, *map(number, (own.estimate, own.low, own.high)), higher))
        return Table(DIFFERENCES, rows)

    @property
    def _finals(self) -> list[NDArray[np.float64]]:
        return [np.array([own.value for own in evaluations]) for evaluations in self.evaluations]

    def _difference(self, first: int, second: int) -> Interval:
        return sum_interval(np.stack((self._finals[first], self._finals[second])), [1, -1])

    @property
    def figure(self) -> Drawing:
        """The regret over episodes, or the moving mean of the returns: means over runs, with their 95% intervals."""
        chart = returns_chart(self.series) if self.evaluations else regret_charts({self.task: self.series})[0]
        return chart_figure(chart, chart.up.capitalize())

    def to_frame(self) -> pandas.DataFrame:
        """Return a data frame with a row for each run, as ``praemia.load_runs(folder).to_frame()`` does.

        In a black box ``policy_value`` is the sampled value of what a run has learned.
        """
        frame = runs_frame(run for series in self.series for run in series.runs)
        return frame.assign(policy_value=np.concatenate(self._finals)) if self.evaluations else frame

    def save(self, folder: str | Path) -> None:
        """Keep the runs in a folder, which ``praemia.load_runs`` and ``praemia report`` read."""
        store, text = Store.create(folder), dump(self.problem)
        for run in (run for series in self.series for run in series.runs):
            store.write(replace(run, task_text=text))

    @property
    def _tables(self) -> list[Table]:
        pairs = [self.differences if self.evaluations else self.ratios] if len(self.series) > 1 else []
        return [self.table, *pairs]

    @property
    def _facts(self) -> list[str]:
        first, played = self.series[0], [own.num_episodes for own in self.evaluations[0]] if self.evaluations else []
        facts = [plural(first.num_runs, "run"), plural(first.num_episodes, "episode")]
        return facts + [f"policies at the end: {count} episodes each" for count in played[:1]]

    def _repr_html_(self) -> str:
        note = RETURNS_NOTE if self.evaluations else regret_note(self.series)
        return Card(f"Learners on {self.task}", self._facts, {"curves": lambda: self.figure}, self._tables, [note]).html

    def __str__(self) -> str:
        return "\n".join(map(str, self._tables))

    def __repr__(self) -> str:
        titles = ", ".join(series.title for series in self.series)
        return f"Comparison({titles} on {self.task}: {', '.join(self._facts)})"


def _columns(table: Table, names: Sequence[str]) -> Table:
    """Return some columns of a table."""
    places = [table.header.index(name) for name in names]
    return replace(table, header=names, rows=[[row[i] for i in places] for row in table.rows])
