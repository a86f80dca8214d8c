"""Tables of stored runs: a row per learner, per pair of learners, or per run (as CSV or parquet)."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from praemia.errors import missing_extra
from praemia.files.atomic_io import write_whole
from praemia.statistics.intervals import Interval, mean_interval, quotient_interval, sum_interval
from praemia.statistics.stored_runs import Series, paired
from praemia.statistics.verdicts import MIN_RUNS, TOO_FEW, Scale
from praemia.text_tables import csv_text, number

SUMMARY_HEADER = (
    "setting",
    "learner",
    "runs",
    "episodes",
    "regret",
    "std",
    "95% low",
    "95% high",
    "per 1,000 episodes at the end",
    "worst run",
    "plans",
    "seconds per run",
)
COMPARISON_HEADER = ("setting", "first", "second", "runs", "difference", "ratio", "95% low", "95% high", "who is lower")
RUN_COLUMNS = (
    "task",
    "title",
    "learner",
    "parameters",
    "episodes",
    "seed",
    "regret",
    "optimal_value",
    "mean_return",
    "plans",
    "seconds",
    "praemia",
)


@dataclass(frozen=True)
class Summary:
    """The final regret of a learner in a setting.

    Attributes
    ----------
    regret : the mean over runs, with its interval; spread : the standard deviation over runs, NaN for one.
    late_slope : the mean regret per 1,000 episodes over the last tenth of the episodes.
    worst : the regret of the worst run; plans, seconds : means over runs, seconds NaN where not known.
    """

    setting: str
    learner: str
    runs: int
    episodes: int
    regret: Interval
    spread: float
    late_slope: float
    worst: float
    plans: float
    seconds: float

    def cells(self) -> tuple[str, ...]:
        """Return the line of a table, in the order of ``SUMMARY_HEADER``."""
        numbers = (self.regret.estimate, self.spread, self.regret.low, self.regret.high, self.late_slope, self.worst)
        return (
            self.setting,
            self.learner,
            str(self.runs),
            str(self.episodes),
            *map(number, numbers),
            f"{self.plans:.0f}",
            number(self.seconds),
        )


@dataclass(frozen=True)
class Comparison:
    """Two learners in one setting, seed by seed: first − second and first ÷ second of their mean regrets."""

    setting: str
    first: str
    second: str
    runs: int
    difference: Interval
    ratio: Interval

    @property
    def reading(self) -> str:
        """Who has the lower regret, whether they are level, or that this is not clear."""
        if self.runs < MIN_RUNS:
            return TOO_FEW
        return Scale.ratio().read(self.ratio, (self.second, "level", self.first))

    def cells(self) -> tuple[str, ...]:
        """Return the line of a table, in the order of ``COMPARISON_HEADER``."""
        shown = (self.difference.estimate, self.ratio.estimate, self.ratio.low, self.ratio.high)
        return (self.setting, self.first, self.second, str(self.runs), *map(number, shown), self.reading)


def summarise(setting: str, series: Series) -> Summary:
    """Summarise the runs of a learner in a setting."""
    return Summary(
        setting=setting,
        learner=series.title,
        runs=series.num_runs,
        episodes=series.num_episodes,
        regret=mean_interval(series.final),
        spread=series.spread if series.num_runs > 1 else math.nan,
        late_slope=series.late_slope,
        worst=float(series.final.max()),
        plans=float(np.mean([run.num_plans for run in series.runs])),
        seconds=series.seconds,
    )


def compare(setting: str, members: Iterable[Series]) -> list[Comparison]:
    """Compare every two learners of a setting that share seeds."""
    compared = []
    for first, second in combinations(members, 2):
        samples = paired((first, second))
        runs = samples.shape[1]
        if runs:
            found = (measure(samples, (1, -1)) for measure in (sum_interval, quotient_interval))
            compared.append(Comparison(setting, first.title, second.title, runs, *found))
    return compared


def run_rows(members: Iterable[Series]) -> list[dict[str, Any]]:
    """Return a row per run, with the columns of ``RUN_COLUMNS``."""
    return [
        {
            "task": series.task,
            "title": series.title,
            "learner": run.learner,
            "parameters": json.dumps(run.parameters, sort_keys=True),
            "episodes": series.num_episodes,
            "seed": "-".join(map(str, run.seed)),
            "regret": None if run.optimal_value is None else float(run.regret[-1]),
            "optimal_value": run.optimal_value,
            "mean_return": float(run.returns.mean()),
            "plans": run.num_plans,
            "seconds": None if math.isnan(run.seconds) else run.seconds,
            "praemia": run.versions.get("praemia"),
        }
        for series in members
        for run in series.runs
    ]


def write_csv(members: Iterable[Series], path: Path) -> None:
    """Write a row per run as CSV."""
    rows = [[row[column] for column in RUN_COLUMNS] for row in run_rows(members)]
    write_whole(path, csv_text(RUN_COLUMNS, rows).encode())


def write_parquet(members: Iterable[Series], path: Path) -> None:
    """Write a row per run as a parquet file."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise missing_extra("parquet needs pyarrow", "parquet") from None
    types = {"episodes": pyarrow.int64(), "plans": pyarrow.int64()}
    types |= dict.fromkeys(("regret", "optimal_value", "mean_return", "seconds"), pyarrow.float64())
    schema = pyarrow.schema([(column, types.get(column, pyarrow.string())) for column in RUN_COLUMNS])
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(run_rows(members), schema=schema), buffer)
    write_whole(path, buffer.getvalue())
