"""Compare learners on a task: the same seeds for all, a table with intervals, and the curves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from praemia import learners as registry
from praemia.activity import Display, display, say
from praemia.envs.black_box import BlackBox
from praemia.errors import LearnerFailure, MissingExtraError, ParameterError, require, require_whole
from praemia.experiments.jobs import MAX_RUNS, Job, LearnerChoice, TaskText, default_title
from praemia.experiments.runner import run_in_memory
from praemia.experiments.store import Store
from praemia.files.writing import dump
from praemia.learners import Learner
from praemia.report.cards import Card
from praemia.report.charts import regret_charts
from praemia.report.figures import chart_figure
from praemia.report.tables import pairs_table, regret_note, summary_table
from praemia.return_comparison import ReturnComparison, compared_by_returns
from praemia.simulation import Run, simulate
from praemia.simulation.run import Seed
from praemia.simulation.simulate import check_run
from praemia.statistics.frames import runs_frame
from praemia.statistics.series import Series
from praemia.tasks.task import Task
from praemia.text_tables import Table, plural

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

REGRETS = ("learner", "regret", "95% low", "95% high", "per 1,000 episodes at the end", "seconds per run")
RATIOS = ("first", "second", "ratio", "95% low", "95% high", "who is lower")


@dataclass(frozen=True, eq=False)
class LearnerComparison:
    """The runs of several learners on one task: a notebook shows tables and curves, ``print`` the tables.

    Attributes
    ----------
    problem : the task; series : for each learner its runs, in the order of their seeds.
    """

    problem: Task
    series: tuple[Series, ...]

    @property
    def task(self) -> str:
        """The name of the task."""
        return self.problem.name

    @property
    def table(self) -> Table:
        """The mean regret of each learner at the end, with its 95% interval; the lowest is bold if it is clear."""
        return _columns(summary_table({self.task: self.series}), REGRETS)

    @property
    def ratios(self) -> Table:
        """The regret of every learner over that of every later one, seed by seed, with its 95% interval."""
        return _columns(pairs_table({self.task: self.series}), RATIOS)

    @property
    def figure(self) -> Figure:
        """The regret over episodes: means, with bands that are their 95% intervals."""
        (chart,) = regret_charts({self.task: self.series})
        return chart_figure(chart, "Regret")

    def to_frame(self) -> pandas.DataFrame:
        """Return a data frame with a row for each run, as ``praemia.load_runs(folder).to_frame()`` does."""
        return runs_frame(run for series in self.series for run in series.runs)

    def save(self, folder: str | Path) -> None:
        """Keep the runs in a folder, which ``praemia.load_runs`` and ``praemia report`` read."""
        store, text = Store.create(folder), dump(self.problem)
        for run in (run for series in self.series for run in series.runs):
            store.write(replace(run, task_text=text))

    @property
    def _facts(self) -> list[str]:
        first = self.series[0]
        return [plural(first.num_runs, "run"), plural(first.num_episodes, "episode")]

    def _repr_html_(self) -> str:
        tables = [self.table, self.ratios] if len(self.series) > 1 else [self.table]
        notes = [regret_note(self.series)]
        return Card(f"Learners on {self.task}", self._facts, {"regret": lambda: self.figure}, tables, notes).html

    def __str__(self) -> str:
        return f"{self.table}\n{self.ratios}" if len(self.series) > 1 else str(self.table)

    def __repr__(self) -> str:
        titles = ", ".join(series.title for series in self.series)
        return f"LearnerComparison({titles} on {self.task}: {', '.join(self._facts)})"


@overload
def compare(
    task: Task, learners: Sequence[str | Learner], num_episodes: int = ..., **options: Any
) -> LearnerComparison: ...
@overload
def compare(
    task: BlackBox | Callable[[], BlackBox], learners: Sequence[str | Learner], num_episodes: int = ..., **options: Any
) -> ReturnComparison: ...
def compare(  # type: ignore[misc]  # the options are those listed here
    task: Task | BlackBox | Callable[[], BlackBox],
    learners: Sequence[str | Learner],
    num_episodes: int = 1_000,
    *,
    num_runs: int = 8,
    seed: Seed = 0,
    jobs: int = 1,
) -> LearnerComparison | ReturnComparison:
    """Play several learners on a task with the same seeds, and compare their regret; in a black box their returns.

    Progress goes to standard error if it takes longer than two seconds. ``praemia run`` plays the same runs. The tables
    need no matplotlib, only the figure does.

    Parameters
    ----------
    task : a task; a black box; or a function that makes a black box, which every process calls.
    learners : names, such as ``"headroom"``, or learners, such as ``praemia.Headroom()`` or one of your own.
    num_runs : the number of runs of each learner; run r has the seed (seed, r).
    jobs : the number of processes; a learner of your own has to be in a file for more than one, and a black box has to
        be made by a function in a file, or from an environment that ``gymnasium.make`` can make again.

    Returns
    -------
    The comparison: ``table``, ``ratios`` and ``figure``; a notebook shows all three. ``to_frame`` gives the runs to
    pandas, ``save`` keeps them.

    Examples
    --------
    >>> import praemia
    >>> result = praemia.compare(praemia.envs.riverswim(3), ["headroom", "random"], 100, num_runs=2)
    >>> [row[0] for row in result.table.rows]
    ['headroom', 'random']
    """
    if not isinstance(task, Task | BlackBox) and not callable(task):
        raise ParameterError(f"task={task!r}; expected a Task, such as envs.make('warehouse-4'), or a BlackBox")
    key = check_run(num_episodes, seed)
    num_runs = require_whole("num_runs", num_runs, 1, MAX_RUNS)
    players = _titled(learners)
    try:
        require("matplotlib.figure")
    except MissingExtraError as error:  # said before the runs: whoever wants the figure need not wait for them
        say(f"no figure, only the tables: {error}")
    seeds = [(*key, number) for number in range(num_runs)]
    if not isinstance(task, Task):
        return compared_by_returns(task, players, num_episodes, seeds, require_whole("jobs", jobs, 1))
    play = _played_here if jobs == 1 else partial(_played_by_workers, num_workers=jobs)
    with display() as progress:
        runs = play(task, players, num_episodes, seeds, progress)
    return LearnerComparison(task, tuple(Series.of(own) for own in runs))


def _played_here(
    task: Task, players: Mapping[str, Learner], num_episodes: int, seeds: Sequence[Seed], progress: Display
) -> list[list[Run]]:
    """Play all runs in this process, learner by learner within each seed."""
    report, total, before = progress.count("episodes"), len(seeds) * len(players) * num_episodes, 0
    runs_of: dict[str, list[Run]] = {title: [] for title in players}
    for seed in seeds:
        for title, learner in players.items():

            def report_all(done: int, before: int = before) -> None:
                report(before + done, total)

            run = simulate(task, learner, num_episodes, seed, on_progress=report_all)
            runs_of[title].append(replace(run, title=title))
            before += num_episodes
            report(before, total)
    return list(runs_of.values())


def _played_by_workers(
    task: Task,
    players: Mapping[str, Learner],
    num_episodes: int,
    seeds: Sequence[tuple[int, ...]],
    progress: Display,
    *,
    num_workers: int,
) -> list[list[Run]]:
    text = TaskText(task.name, dump(task))
    choices = [LearnerChoice.of_learner(learner, title) for title, learner in players.items()]
    work = [Job(text, choice, num_episodes, seed) for seed in seeds for choice in choices]
    runs, failures = run_in_memory(work, num_workers=num_workers, progress=progress)
    if failures:
        raise LearnerFailure(failures[0].message)
    return [runs[place :: len(choices)] for place in range(len(choices))]


def _titled(learners: Sequence[str | Learner]) -> dict[str, Learner]:
    """Return learners by the titles that tell them apart: their names, with the parameters that are not the default."""
    if isinstance(learners, str) or not learners:
        raise ParameterError(f"learners={learners!r}; expected a list of names or learners, such as ['headroom']")
    players: dict[str, Learner] = {}
    for item in learners:
        learner = registry.make(item) if isinstance(item, str) else item
        if not isinstance(learner, Learner):
            raise ParameterError(f"learner={learner!r}; expected a name or a learner, such as Headroom()")
        is_built_in = learner.name in registry.names()  # two of them may share a class
        usual = (registry.make(learner.name) if is_built_in else type(learner)()).parameters
        changes = {key: value for key, value in learner.parameters.items() if value != usual.get(key)}
        title = default_title(learner.name, changes)
        if title in players:
            raise ParameterError(f"two learners {title!r}; give each of them once")
        players[title] = learner
    return players


def _columns(table: Table, names: Sequence[str]) -> Table:
    """Return some columns of a table."""
    places = [table.header.index(name) for name in names]
    return replace(table, header=names, rows=[[row[i] for i in places] for row in table.rows])
