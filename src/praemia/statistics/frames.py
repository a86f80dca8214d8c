"""Stored runs as rows: a row per run, or per point of its curves; as data frames, CSV or parquet.

The exact regret is piecewise linear: it bends where a plan ends. A curve is given by these points, between which
straight lines are exact, or at episodes of one's choice. (The regret of a learner that replans within episodes is that
of the paths taken, and bends everywhere.)
"""

from __future__ import annotations

import csv
import io
import json
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from praemia.displayed import Displayed
from praemia.errors import ParameterError, PraemiaWarning, require
from praemia.experiments.settings import Job
from praemia.experiments.store import Store
from praemia.files.atomic_io import write_whole
from praemia.simulation import Run

if TYPE_CHECKING:
    import pandas

Columns: TypeAlias = dict[str, Any]

# What tells a run from others, then what it came to.
KEYS = np.dtype(
    [(name, np.object_) for name in ("task", "title", "learner", "parameters")]
    + [(name, np.int64) for name in ("episodes", "seed", "run", "stream", "streams")]
    + [("discount", np.float64), ("until_done", np.bool_), ("step_budget", np.int64)]
    + [(name, np.object_) for name in ("task_digest", "digest")]
)
RESULTS = np.dtype(
    [(name, np.float64) for name in ("regret", "optimal_value", "mean_return")]
    + [("steps", np.int64), ("plans", np.int64), ("seconds", np.float64), ("praemia", np.object_)]
)


class StoredRuns(Displayed):
    """The runs in a folder, read on demand: iterate over them, or take them by number.

    They are in the order of task, learner, seed and number; a slice is a list. Iteration leaves damaged files out, with
    a warning; ``len`` counts all files, without reading them. ``load_runs`` makes one.

    Examples
    --------
    >>> import praemia
    >>> from praemia.cli import execute
    >>> command = "run riverswim-3 --learner optimal --episodes 50 --runs 3 --out results --json"
    >>> status = execute(command.split())  # doctest: +ELLIPSIS
    {...}
    >>> runs = praemia.load_runs("results")
    >>> len(runs), runs[0].learner, sum(run.num_episodes for run in runs)
    (3, 'optimal', 150)
    >>> runs.curves([50])["regret"].tolist()  # the optimal policy loses nothing
    [0.0, 0.0, 0.0]
    """

    def __init__(self, store: Store) -> None:
        self.store = store

    def __len__(self) -> int:
        return len(self.store.files())

    def __iter__(self) -> Iterator[Run]:
        yield from self.store.runs()
        for message in self.store.damaged.values():
            warnings.warn(message, PraemiaWarning, stacklevel=2)

    @overload
    def __getitem__(self, number: int) -> Run: ...

    @overload
    def __getitem__(self, number: slice) -> list[Run]: ...

    def __getitem__(self, number: int | slice) -> Run | list[Run]:
        files = self.store.files()
        if isinstance(number, slice):
            return [self.store.load(path) for path in files[number]]
        return self.store.load(files[number])

    def __repr__(self) -> str:
        return f"StoredRuns({len(self):,} in {str(self.store.folder)!r})"

    def to_frame(self) -> pandas.DataFrame:
        """Return a data frame with a row for each run.

        Its columns are task, title (the learner as it is shown), learner, parameters (as JSON), episodes, seed, run
        (its number), stream (0 but for runs of a tuning), streams (the revision of the random streams), discount,
        until_done, step_budget (0 where episodes were given), task_digest (tells tasks of one name apart), digest (ends
        the name of the run's folder), regret, optimal_value, mean_return, steps (in all episodes), plans, seconds and
        praemia (the version). The columns up to digest tell runs apart. What is not known is NaN: how long a run took,
        if nobody noted it; regret and optimal_value on a black box.
        """
        return _frame(run_columns(self))

    def curves(self, episodes: Sequence[int] | NDArray[np.int64] | None = None) -> pandas.DataFrame:
        """Return a data frame with a row for each point of each run's curves.

        Parameters
        ----------
        episodes : numbers of episodes, such as [100, 1000]; those that a run did not play are left out. None: where the
            regret bends, so that straight lines between the points are exact.

        Returns
        -------
        The columns that tell runs apart, as in ``to_frame``, then episode, regret (NaN on a black box),
        total_return (as it was sampled) and steps, all after so many episodes.
        """
        return _frame(curve_columns(self, episodes))


def load_runs(folder: str | Path) -> StoredRuns:
    """Open a folder of stored runs, such as ``praemia run … --out results`` writes.

    Examples
    --------
    >>> import praemia
    >>> from praemia.cli import execute
    >>> command = "run riverswim-3 --learner optimal --episodes 50 --runs 2 --out results --json"
    >>> status = execute(command.split())  # doctest: +ELLIPSIS
    {...}
    >>> runs = praemia.load_runs("results")
    >>> frame = runs.to_frame()
    >>> frame[["task", "learner", "seed", "run", "regret"]].to_dict("records")[1]
    {'task': 'riverswim-3', 'learner': 'optimal', 'seed': 0, 'run': 1, 'regret': 0.0}
    >>> runs.curves(episodes=[10, 50])["episode"].tolist()
    [10, 50, 10, 50]
    """
    return StoredRuns(Store.open(folder))


def run_columns(runs: Iterable[Run]) -> Columns:
    """Return a row per run, as columns."""
    rows = [(_key(run), _results(run)) for run in runs]
    return {**_columns(KEYS, [key for key, _ in rows]), **_columns(RESULTS, [results for _, results in rows])}


def curve_columns(runs: Iterable[Run], episodes: Sequence[int] | NDArray[np.int64] | None = None) -> Columns:
    """Return a row per point of each run's curves, as columns."""
    places = None if episodes is None else _checked(episodes)
    keys, curves = [], [np.empty((0, 4))]
    for run in runs:
        at = np.append(run.plan_episodes, run.num_episodes) if places is None else places[places <= run.num_episodes]
        keys += [_key(run)] * len(at)
        sums = _before(run.returns, at), _before(run.steps, at)
        curves.append(np.column_stack((at, _regret_at(run, at), *sums)))
    episode, regret, total_return, steps = np.concatenate(curves).T.copy()
    points = {"episode": episode.astype(np.int64), "regret": regret, "total_return": total_return}
    points["steps"] = steps.astype(np.int64)
    return {**_columns(KEYS, keys), **points}


def write_csv(columns: Columns, path: Path) -> None:
    """Write columns as CSV; what is not known is left empty."""
    values = [[None if value != value else value for value in column.tolist()] for column in columns.values()]
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows((tuple(columns), *zip(*values, strict=True)))
    write_whole(path, buffer.getvalue().encode())


def write_parquet(columns: Columns, path: Path) -> None:
    """Write columns as a parquet file; what is not known is null."""
    require("pyarrow.parquet")
    import pyarrow
    import pyarrow.parquet

    kinds = {"b": pyarrow.bool_(), "i": pyarrow.int64(), "f": pyarrow.float64(), "O": pyarrow.string()}
    # Whole numbers that are too large for int64 are text.
    texts = [np.array([*map(str, c)], np.object_) if c.dtype.kind == "O" else c for c in columns.values()]
    arrays = [pyarrow.array(column, kinds[column.dtype.kind], from_pandas=True) for column in texts]
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(arrays, names=list(columns)), buffer)
    write_whole(path, buffer.getvalue())


def _frame(columns: Columns) -> pandas.DataFrame:
    require("pandas")
    import pandas

    return pandas.DataFrame(columns)


def _key(run: Run) -> tuple[Any, ...]:
    seed, number, stream = (*run.seed, 0, 0)[:3]
    parameters, job = json.dumps(run.parameters, sort_keys=True), Job.of(run)
    played = run.num_episodes, seed, number, stream, run.rng_revision, run.discount, run.until_done
    # No budget is 0, not NaN: pandas leaves groups with NaN out.
    return run.task, run.title, run.learner, parameters, *played, run.step_budget or 0, job.task.digest, job.digest


def _results(run: Run) -> tuple[Any, ...]:
    optimal = np.nan if run.optimal_value is None else run.optimal_value
    regret = np.nan if run.optimal_value is None else float(run.regret[-1])
    played = float(run.returns.mean()), int(run.steps.sum())
    return regret, optimal, *played, run.num_plans, run.seconds, run.versions.get("praemia", "")


def _columns(types: np.dtype[np.void], rows: list[tuple[Any, ...]]) -> Columns:
    """Return rows as columns: bool, int64, float64 or objects."""
    names = types.names or ()
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    return {name: _column(column, types[name]) for name, column in zip(names, columns, strict=True)}


def _column(values: Sequence[Any], kind: np.dtype[Any]) -> NDArray[Any]:
    """Return a column; one with whole numbers too large for int64, which seeds may be, holds objects."""
    try:
        return np.array(values, kind)
    except OverflowError:
        return np.array(values, np.object_)


def _checked(episodes: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    array = np.asarray(episodes)
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer) or array.min(initial=0) < 0:
        raise ParameterError(f"episodes={episodes!r}; expected a list of whole numbers ≥ 0")
    return array.astype(np.int64)


def _regret_at(run: Run, at: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the regret after some numbers of episodes; NaN where it is not known."""
    if run.optimal_value is None:
        return np.full(len(at), np.nan)
    regret: NDArray[np.float64] = np.concatenate(([0.0], run.regret))[at]
    return regret


def _before(of_episodes: NDArray[Any], at: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the sums of a number of each episode over the first ones."""
    sums: NDArray[np.float64] = np.concatenate(([0.0], np.cumsum(of_episodes)))[at]
    return sums
