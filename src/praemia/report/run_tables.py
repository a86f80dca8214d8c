"""Tables of runs: the final regret of every learner, and of every two learners of a setting; and what it means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from praemia.statistics.intervals import mean_interval, quotient_interval, sum_interval
from praemia.statistics.measurements import TOO_FEW
from praemia.statistics.stored_runs import Series, paired
from praemia.statistics.verdicts import MIN_RUNS, Scale
from praemia.text_tables import Table, number

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
PAIRS_HEADER = ("setting", "first", "second", "runs", "difference", "ratio", "95% low", "95% high", "who is lower")


def summary_table(settings: Mapping[str, Sequence[Series]]) -> Table:
    """Tabulate the final regret of every learner, with the lowest mean of each setting in bold."""
    rows: list[tuple[str, ...]] = []
    lowest: list[int] = []
    for name, members in settings.items():
        lowest.append(len(rows) + int(np.argmin([series.final.mean() for series in members])))
        rows += [_summary(name, series) for series in members]
    return Table(SUMMARY_HEADER, rows, lowest)


def _summary(setting: str, series: Series) -> tuple[str, ...]:
    regret = mean_interval(series.final)
    numbers = (regret.estimate, series.spread, regret.low, regret.high, series.late_slope, float(series.final.max()))
    plans = np.mean([run.num_plans for run in series.runs])
    sizes = (f"{series.num_runs:,}", f"{series.num_episodes:,}")
    return (setting, series.title, *sizes, *map(number, numbers), f"{plans:.0f}", number(series.seconds))


def pairs_table(settings: Mapping[str, Sequence[Series]]) -> Table:
    """Tabulate every two learners of a setting that share seeds: first − second and first ÷ second."""
    rows = []
    for name, members in settings.items():
        for first, second in combinations(members, 2):
            samples = paired((first, second))
            if runs := samples.shape[1]:
                difference, ratio = (measure(samples, (1, -1)) for measure in (sum_interval, quotient_interval))
                numbers = (difference.estimate, ratio.estimate, ratio.low, ratio.high)
                titles = (second.title, "level", first.title)
                lower = TOO_FEW if runs < MIN_RUNS else Scale.ratio().read(ratio, titles)
                rows.append((name, first.title, second.title, str(runs), *map(number, numbers), lower))
    return Table(PAIRS_HEADER, rows)


def regret_note(series: Sequence[Series]) -> str:
    """Say in which sense the regret of each learner is exact."""
    titles = dict.fromkeys(own.title for own in series)
    pathwise = [title for title in titles if any(own.first.is_pathwise for own in series if own.title == title)]
    exact = "Regret is exact: the value of every policy that was played is computed, not sampled."
    if not pathwise:
        return exact
    names = " and ".join(filter(None, (", ".join(pathwise[:-1]), pathwise[-1])))
    replan, whose = ("replans", "its") if len(pathwise) == 1 else ("replan", "their")
    paths = f"{whose} regret sums what the actions taken lose against the optimum: unbiased, but not exact."
    if len(pathwise) == len(titles):
        return f"{names} {replan} within episodes; {paths}"
    return f"{exact} Only {names} {replan} within episodes; {paths}"
