"""Runs as rows for other programs: CSV always, parquet with the extra ``parquet``."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from praemia.errors import missing_extra
from praemia.files.atomic_io import write_whole
from praemia.statistics.stored_runs import Series
from praemia.statistics.tables import csv_text

COLUMNS = (
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


def run_rows(members: Iterable[Series]) -> list[dict[str, Any]]:
    """Return a row per run, with the columns of ``COLUMNS``."""
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
    rows = [[row[column] for column in COLUMNS] for row in run_rows(members)]
    write_whole(path, csv_text(COLUMNS, rows).encode())


def write_parquet(members: Iterable[Series], path: Path) -> None:
    """Write a row per run as a parquet file."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise missing_extra("parquet needs pyarrow", "parquet") from None
    types = {"episodes": pyarrow.int64(), "plans": pyarrow.int64()}
    types |= dict.fromkeys(("regret", "optimal_value", "mean_return", "seconds"), pyarrow.float64())
    schema = pyarrow.schema([(column, types.get(column, pyarrow.string())) for column in COLUMNS])
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(run_rows(members), schema=schema), buffer)
    write_whole(path, buffer.getvalue())
