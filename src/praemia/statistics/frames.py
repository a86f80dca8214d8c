"""Stored runs as data frames of pandas: a row per run, or per point of its curves.

The exact regret is piecewise linear: it bends where a plan ends. A curve is given by these points, between which
straight lines are exact, or at episodes of one's choice. (The regret of a learner that replans within episodes is that
of the paths taken, and bends everywhere.)
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from praemia.errors import ParameterError, PraemiaWarning, require
from praemia.experiments.jobs import Job
from praemia.experiments.store import Store
from praemia.simulation import Run

if TYPE_CHECKING:
    import pandas

# What tells a run from others, then what it came to.
KEYS = (
    *("task", "title", "learner", "parameters", "episodes", "seed", "run", "stream", "streams"),
    *("discount", "until_done", "step_budget", "task_digest", "digest"),
)
RESULTS = ("regret", "optimal_value", "mean_return", "steps", "plans", "seconds", "praemia")
POINTS = ("episode", "regret", "total_return", "steps")


class StoredRuns:
    """The runs in a folder, read on demand: iterate over them, or take them by number.

    They are in the order of learner and what it played, then of seed and number; a slice is a list. Iteration leaves
    damaged files out, with a warning; ``len`` counts all files, without reading them. ``load_runs`` makes one.

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
        return runs_frame(self)

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
        return curves_frame(self, episodes)


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


def runs_frame(runs: Iterable[Run]) -> pandas.DataFrame:
    """Return a data frame with a row for each run."""
    require("pandas")
    import pandas

    return pandas.DataFrame([(*_key(run), *_results(run)) for run in runs], columns=[*KEYS, *RESULTS])


def curves_frame(runs: Iterable[Run], episodes: Sequence[int] | NDArray[np.int64] | None = None) -> pandas.DataFrame:
    """Return a data frame with a row for each point of each run's curves."""
    require("pandas")
    import pandas

    places, rows = None if episodes is None else _checked(episodes), list[tuple[Any, ...]]()
    for run in runs:
        at = np.append(run.plan_episodes, run.num_episodes) if places is None else places[places <= run.num_episodes]
        known = run.optimal_value is not None
        regret = np.concatenate(([0.0], run.regret))[at] if known else np.full(len(at), np.nan)
        sums = [np.concatenate(([0], np.cumsum(own)))[at].tolist() for own in (run.returns, run.steps)]
        key = _key(run)
        rows += [(*key, *point) for point in zip(at.tolist(), regret.tolist(), *sums, strict=True)]
    return pandas.DataFrame(rows, columns=[*KEYS, *POINTS])


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


def _checked(episodes: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    array = np.asarray(episodes)
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer) or array.min(initial=0) < 0:
        raise ParameterError(f"episodes={episodes!r}; expected a list of whole numbers ≥ 0")
    return array.astype(np.int64)
