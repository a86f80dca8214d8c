"""Compare learners on a task or in a black box: the same seeds for all, tables with intervals, and the curves."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from praemia import learners as registry
from praemia._support.activity import display
from praemia._support.limits import MAX_RUNS
from praemia._support.text_tables import Table, number, plural
from praemia.envs.black_box import BlackBox
from praemia.errors import ParameterError, require_whole, visible
from praemia.experiments.frames import runs_frame
from praemia.experiments.jobs import Job, LearnerChoice, TaskText, default_title
from praemia.experiments.runner import MAX_JOBS, run_in_memory
from praemia.experiments.store import StoredRuns
from praemia.files.writing import dump
from praemia.learners import Learner
from praemia.pictures.drawing import Drawing
from praemia.planning.exact import Evaluation, evaluate
from praemia.report.cards import card
from praemia.report.charts import regret_charts, returns_chart
from praemia.report.figures import chart_figure
from praemia.report.tables import RETURNS_NOTE, pairs_table, regret_note, summary_table
from praemia.simulation import Run, simulate
from praemia.simulation.run import Seed
from praemia.simulation.simulate import check_run
from praemia.statistics.intervals import Interval, sum_interval
from praemia.statistics.series import Series
from praemia.tasks.task import Task

if TYPE_CHECKING:
    import pandas

REGRETS = ("learner", "regret", "95% low", "95% high", "per 1,000 episodes at the end", "seconds per run")
RATIOS = ("first", "second", "ratio", "95% low", "95% high", "who is lower")
MEANS = ("learner", "mean return", "95% low", "95% high", "policy at the end", "95% low", "95% high", "seconds per run")
DIFFERENCES = ("first", "second", "difference at the end", "95% low", "95% high", "who is higher")
Scores: TypeAlias = tuple[tuple[Evaluation, ...], ...]
Work: TypeAlias = tuple[str, Learner, tuple[int, ...]]  # the learner's title, the learner, the seed


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
        store, text = StoredRuns.create(folder), dump(self.problem)
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
        return card(f"Learners on {self.task}", self._facts, {"curves": lambda: self.figure}, self._tables, [note])

    def __str__(self) -> str:
        return "\n".join(map(str, self._tables))

    def __repr__(self) -> str:
        titles = ", ".join(series.title for series in self.series)
        return visible(f"Comparison({titles} on {self.task}: {', '.join(self._facts)})")


def _columns(table: Table, names: Sequence[str]) -> Table:
    """Return some columns of a table."""
    places = [table.header.index(name) for name in names]
    return replace(table, header=names, rows=[[row[i] for i in places] for row in table.rows])


def compare(
    task: Task | BlackBox | Callable[[], BlackBox],
    learners: Sequence[str | Learner],
    num_episodes: int = 1_000,
    *,
    num_runs: int = 8,
    seed: Seed = 0,
    jobs: int = 1,
) -> Comparison:
    """Play several learners on a task with the same seeds, and compare their regret; in a black box their returns.

    Progress goes to standard error if it takes longer than two seconds. ``praemia run`` plays the same runs.

    Parameters
    ----------
    task : a task; a black box; or a function that makes a black box, which every process calls.
    learners : names, such as ``"headroom"``, or learners, such as ``praemia.Headroom()`` or one of your own.
    num_runs : the number of runs of each learner; run r has the seed (seed, r).
    jobs : the number of processes; a learner of your own has to be in a file for more than one, and a black box has to
        be made by a function in a file, or from an environment that ``gymnasium.make`` can make again.

    Returns
    -------
    The comparison: ``table``, ``ratios`` (in a black box ``differences``) and ``figure``; a notebook shows all three.
    ``to_frame`` returns the runs as a data frame, ``save`` stores them.

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
    problem = task if isinstance(task, Task | BlackBox) else task()
    if not isinstance(problem, Task | BlackBox):
        raise ParameterError(f"the function made {problem!r}; expected a BlackBox")
    work = [(title, learner, (*key, number)) for number in range(num_runs) for title, learner in players.items()]
    if require_whole("jobs", jobs, 1, MAX_JOBS) == 1:
        runs = _played_here(problem, num_episodes, work)
    else:
        text = _portable(problem, task)
        parts = [(LearnerChoice.of_learner(own, title), seed) for title, own, seed in work]
        runs, failures = run_in_memory([Job(text, own, num_episodes, seed) for own, seed in parts], num_workers=jobs)
        if failures:
            raise failures[0]
    members = tuple(
        Series.of(replace(run, title=title) for run in runs[place :: len(players)])
        for place, title in enumerate(players)
    )
    scores: Scores = ()
    if isinstance(problem, BlackBox):  # in episodes that are the same for all learners
        scores = tuple(tuple(evaluate(problem, run, seed=run.seed[-1]) for run in own.runs) for own in members)
    return Comparison(problem, members, scores)


def _played_here(task: Task | BlackBox, num_episodes: int, work: Sequence[Work]) -> list[Run]:
    """Play all runs in this process, one after the other."""
    runs: list[Run] = []
    with display() as progress:
        report = progress.count("episodes")
        for _, learner, seed in work:
            before = len(runs) * num_episodes

            def report_all(done: int, before: int = before) -> None:
                report(before + done, len(work) * num_episodes)

            runs.append(simulate(task, learner, num_episodes, seed, on_progress=report_all))
    return runs


@dataclass(frozen=True)
class _Made(TaskText):
    """A black box that a function makes: it has no text."""

    function: Callable[[], Task | BlackBox] = field(kw_only=True)

    def make(self) -> Task | BlackBox:
        return self.function()


def _portable(problem: Task | BlackBox, given: object) -> TaskText:
    """Return what makes a task, or a black box as it was given, again in another process."""
    if isinstance(problem, Task) or problem.written is not None:
        return TaskText(problem.name, dump(problem), allow_code=True)
    make = given if callable(given) else _maker(problem)
    try:
        is_portable = make is not None and b"__main__" not in pickle.dumps(make)  # workers do not execute the script
    except Exception:  # anything that a user's function holds may refuse
        is_portable = False
    if make is None or not is_portable:
        raise ParameterError(
            f"jobs: {problem.name!r} cannot be made again in another process; give compare a function in a file of "
            "its own that returns the BlackBox, or jobs=1"
        )
    return _Made(problem.name, "", function=make)


def _maker(box: BlackBox) -> Callable[[], BlackBox] | None:
    """Return a function that makes a black box again, if its environment has a spec."""
    names = ("labels", "machine", "horizon", "encode", "discount", "until_done", "name")
    parts = {name: getattr(box, name) for name in names}
    if box.encode is not None:
        parts["num_observations"] = box.num_observations
    return None if box.env.spec is None else partial(_made_again, box.env.spec, parts)


def _made_again(spec: Any, parts: dict[str, Any]) -> BlackBox:
    import gymnasium

    return BlackBox(gymnasium.make(spec), **parts)


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
