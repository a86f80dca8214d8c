"""Tables of final regrets: one line per learner, one per pair of learners; as CSV and as aligned text."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from praemia.statistics.intervals import Interval, mean_interval, quotient_interval, sum_interval
from praemia.statistics.stored_runs import Series, paired
from praemia.statistics.verdicts import MIN_RUNS, TOO_FEW, Scale

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
    """Sum up the runs of a learner in a setting."""
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


def number(value: float) -> str:
    """Write a number for people: three or four digits that count, a dash for what is not known."""
    if math.isnan(value):
        return "–"
    if math.isinf(value) or value == 0.0:
        return "0" if value == 0.0 else "∞"
    if abs(value) >= 1000.0:
        return f"{value:.0f}"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:.{min(digits, 4)}f}".replace("-", "−")


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Write a table as CSV."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return buffer.getvalue()


def plain_text(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table as aligned text: words to the left, numbers to the right."""
    body = [tuple(row) for row in rows]
    right = [bool(body) and all(is_numeric(cell) for cell in column) for column in zip(*body, strict=True)]
    right = right or [False] * len(header)
    table = [tuple(header), *body]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [
        "  ".join(
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in table
    ]
    return "\n".join(lines) + "\n"


def is_numeric(cell: str) -> bool:
    """Tell whether a cell is a number as ``number`` writes them."""
    return cell in {"–", "∞"} or cell.replace("−", "").replace(".", "").replace(",", "").isdecimal()
