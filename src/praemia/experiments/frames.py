"""Runs as data frames of pandas: a row per run, or per point of its curves.

The exact regret is piecewise linear: it bends where a plan ends. A curve is given by these points, between which
straight lines are exact, or at episodes of one's choice. (The regret of a learner that replans within episodes is that
of the paths taken, and bends everywhere.)
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from praemia.errors import ParameterError, require
from praemia.experiments.jobs import Job
from praemia.simulation import Run

if TYPE_CHECKING:
    import pandas

# What identifies a run, then what it came to.
KEYS = (
    *("task", "title", "learner", "parameters", "episodes", "seed", "run", "stream", "streams"),
    *("discount", "until_done", "step_budget", "task_digest", "digest"),
)
RESULTS = ("regret", "optimal_value", "mean_return", "steps", "plans", "seconds", "praemia")
POINTS = ("episode", "regret", "total_return", "steps")


def runs_frame(runs: Iterable[Run]) -> pandas.DataFrame:
    """Return a data frame with a row for each run."""
    require("pandas")
    import pandas

    return pandas.DataFrame([(*_key(run), *_results(run)) for run in runs], columns=[*KEYS, *RESULTS])


def curves_frame(runs: Iterable[Run], episodes: Sequence[int] | NDArray[np.int64] | None = None) -> pandas.DataFrame:
    """Return a data frame with a row for each point of each run's curves; see ``StoredRuns.curves``."""
    require("pandas")
    import pandas

    places, rows = None if episodes is None else _checked(episodes), list[tuple[Any, ...]]()
    for run in runs:
        ends = np.append(run.plan_episodes, run.num_episodes)
        at = ends if places is None else places[places <= run.num_episodes]
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
        raise ParameterError(f"episodes={episodes!r}; expected a list of integers ≥ 0")
    return array.astype(np.int64)
