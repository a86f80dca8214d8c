"""Standings of the league: whose regret is lowest, where, how soon, and whose runs go wrong.

With the mean final regret of every learner on every task:

* its *ratio* on a task is its regret over the reference's. Every kind of task (lakes, queues, …) counts once: the
  geometric mean over kinds of the geometric mean over a kind's tasks. Two learners are compared in the same way, task
  by task. Kinds are fixed, their tasks are drawn, so the interval is for tasks drawn anew from the same kinds; where a
  kind has one task alone, it is that of a t test over kinds;
* its *rank* on a task is its place among all learners (equal regrets share the mean of their places). Ranks are shown
  and nothing is decided by them: they change when others join;
* its *worst run*, and its 95% run, are told in units of the task's mean: the median over tasks;
* a run is *linear* when it is still losing: over the last half of its episodes it loses at least half as much per
  episode as over all of them, and its policies there are on average worse than the optimum by more than 1%. A learner
  that still explores at the end of a short run is linear by this rule too; longer runs tell the two apart;
* a run is *settled* from the first episode on from which every policy that it plays is within 1% of the optimum;
  values are exact, so chance has no part in it. A learner has settled on a task when half of its runs have.

A regret below one hundredth of an optimal episode's value counts as that much in a ratio: otherwise a single task that
somebody plays without any regret would decide everything. Oracle baselines (*yardsticks*), which know part of p, have
no rank.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from praemia.experiments.league import YARDSTICKS, is_untouched, task_kind
from praemia.experiments.paper import UCBVI_PRM
from praemia.simulation import Run
from praemia.statistics.intervals import (
    CONFIDENCE,
    ROUNDING,
    Interval,
    median_interval,
    ratio_over_groups,
    ratio_within_groups,
)
from praemia.statistics.stored_runs import Series

REFERENCE = UCBVI_PRM.title
LATE = 0.95  # the run that is told beside the worst
LATE_SHARE = 0.5  # of the average slope
SMALL_GAP = 0.01  # of the optimal value


def is_linear(run: Run) -> bool:
    """Tell whether a run is still losing at its end."""
    regret, half = run.regret, run.num_episodes // 2
    if half == 0 or run.optimal_value is None:
        return False
    late, overall = (regret[-1] - regret[-half - 1]) / half, regret[-1] / len(regret)
    return bool(late >= LATE_SHARE * overall and late > SMALL_GAP * abs(run.optimal_value))


def settled_after(run: Run) -> float:
    """Return how many episodes were played before all policies were within 1% of the optimum; infinite if never."""
    assert run.optimal_value is not None
    return first_for_good(run.plan_gaps > SMALL_GAP * abs(run.optimal_value), run.plan_episodes)


def first_for_good(is_far: NDArray[np.bool_], places: NDArray[Any]) -> float:
    """Return the first of some places, in order, from which on nothing is far; infinite if the last one still is."""
    far = np.flatnonzero(is_far)
    after = int(far[-1]) + 1 if len(far) else 0
    return float(places[after]) if after < len(places) else math.inf


@dataclass(frozen=True, eq=False)
class LeagueTable:
    """The runs of a league: the series of every learner on every task.

    Attributes
    ----------
    tasks, learners : names, in the order of the axes below; every learner has runs on every task.
    yardsticks : oracle baselines, which know part of p, with runs on every task.
    left_out : players that lack a task.
    series : by task and player; on a task all have the same number of runs.
    """

    tasks: tuple[str, ...]
    learners: tuple[str, ...]
    yardsticks: tuple[str, ...]
    left_out: tuple[str, ...]
    series: Mapping[tuple[str, str], Series]

    @classmethod
    def of(cls, settings: Mapping[str, Sequence[Series]]) -> LeagueTable:
        """Arrange the series of a study; of a learner that played on alone it takes the first runs."""
        series: dict[tuple[str, str], Series] = {}
        for task, members in settings.items():
            # A worst run among many is worse than one among few.
            least = min(member.num_runs for member in members)
            series |= {(task, member.title): replace(member, runs=member.runs[:least]) for member in members}
        titles = dict.fromkeys(title for _, title in series)
        oracles = {title for (_, title), member in series.items() if member.first.learner in YARDSTICKS}
        whole = [title for title in titles if all((task, title) in series for task in settings)]
        learners, yardsticks = ([t for t in whole if (t in oracles) is is_oracle] for is_oracle in (False, True))
        left_out = tuple(title for title in titles if title not in whole)
        return cls(tuple(settings), tuple(learners), tuple(yardsticks), left_out, series)

    def regrets_of(self, titles: Sequence[str]) -> NDArray[np.float64]:
        """float64[T, len(titles)], the mean final regret."""
        return np.array([[self.series[task, name].final.mean() for name in titles] for task in self.tasks])

    @property
    def regrets(self) -> NDArray[np.float64]:
        """float64[T, L], the mean final regret."""
        return self.regrets_of(self.learners)

    def log_regrets_of(self, titles: Sequence[str]) -> NDArray[np.float64]:
        """float64[T, len(titles)], the logarithm of the mean regret; what is too small counts as ``SMALL_GAP``·|V*|."""
        optima = [self.series[task, titles[0]].first.optimal_value or 0.0 for task in self.tasks]
        least = np.maximum(SMALL_GAP * np.abs(optima), ROUNDING)
        logs: NDArray[np.float64] = np.log(np.maximum(self.regrets_of(titles), least[:, None]))
        return logs

    def fewest_runs(self, title: str) -> int:
        """Return how many runs a player has at least on each task."""
        return min(self.series[task, title].num_runs for task in self.tasks)

    @property
    def reference(self) -> str:
        """The learner that ratios are taken to: UCBVI-PRM, or the first one where it does not play."""
        return REFERENCE if REFERENCE in self.learners else self.learners[0]

    @property
    def kinds(self) -> dict[str, list[int]]:
        """The kinds of task, with the rows of each."""
        kinds: dict[str, list[int]] = {}
        for row, task in enumerate(self.tasks):
            kinds.setdefault(task_kind(task), []).append(row)
        return kinds

    @cached_property
    def standings(self) -> list[Standing]:
        """Where each learner stands, the lowest ratio first."""
        regrets = self.regrets
        ranks = rankdata(regrets, axis=1).mean(axis=0).tolist()
        firsts = (regrets == regrets.min(axis=1, keepdims=True)).sum(axis=0).tolist()
        lines = [_standing(self, *line) for line in zip(self.learners, ranks, firsts, strict=True)]
        return sorted(lines, key=lambda line: (line.ratio.estimate, line.rank))


def boards(settings: Mapping[str, Sequence[Series]]) -> tuple[LeagueTable, LeagueTable | None]:
    """Return the league's board, and apart from it that of the paper's settings, where both have been played."""
    untouched = {task: members for task, members in settings.items() if is_untouched(task)}
    tuned_on = {task: members for task, members in settings.items() if not is_untouched(task)}
    return LeagueTable.of(untouched or tuned_on), LeagueTable.of(tuned_on) if untouched and tuned_on else None


@dataclass(frozen=True)
class Standing:
    """A learner's place in the league.

    Attributes
    ----------
    ratio : the geometric mean of the ratios to the reference, with its interval.
    rank : the mean rank over tasks; firsts : tasks on which nobody has a lower regret.
    settled : on how many tasks half of its runs have; settled_after : the median over tasks of how many episodes that
        took, infinite where half of the tasks are not settled.
    late : the median over tasks of 95% run ÷ mean; tail : the same of worst ÷ mean, with its interval.
    worst : the largest worst ÷ mean, with its task.
    linear : how many runs are linear, by task, where any is; runs : how many there are in all.
    seconds : the time of a run, the median over runs and then the mean over tasks; NaN where not known.
    """

    learner: str
    ratio: Interval
    rank: float
    firsts: int
    settled: int
    settled_after: float
    late: float
    tail: Interval
    worst: float
    worst_task: str
    linear: dict[str, int]
    runs: int
    seconds: float


def regret_ratio(board: LeagueTable, above: str, below: str, confidence: float = CONFIDENCE) -> Interval:
    """Return the ratio of two players' regrets over all kinds of task, with its interval."""
    if above == below:
        return Interval(1.0, 1.0, 1.0)
    logs = board.log_regrets_of((above, below))
    ratios = logs[:, 0] - logs[:, 1]
    groups = [ratios[rows].tolist() for rows in board.kinds.values()]
    measure = ratio_within_groups if all(len(group) > 1 for group in groups) else ratio_over_groups
    return measure(groups, confidence)


def tails(board: LeagueTable, name: str) -> dict[str, float]:
    """Return worst run ÷ mean on every task."""
    finals = {task: board.series[task, name].final for task in board.tasks}
    return {task: float(final.max() / max(ROUNDING, final.mean())) for task, final in finals.items()}


def rank_profile(board: LeagueTable, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean rank of every learner after some shares of a run's episodes, float64[L, len(shares)]."""

    def means(series: Series) -> NDArray[np.float64]:
        episodes = np.maximum(1, np.round(shares * series.num_episodes)).astype(np.int64)
        mean: NDArray[np.float64] = series.curves(episodes).mean(axis=0)
        return mean

    curves = [[means(board.series[task, name]) for name in board.learners] for task in board.tasks]
    ranks: NDArray[np.float64] = rankdata(np.array(curves), axis=1).mean(axis=0)
    return ranks


def _standing(board: LeagueTable, name: str, rank: float, firsts: int) -> Standing:
    members = {task: board.series[task, name] for task in board.tasks}
    worst = tails(board, name)
    worst_task = max(worst, key=lambda task: worst[task])
    linear = {task: sum(map(is_linear, s.runs)) for task, s in members.items()}
    settled = [float(np.median([settled_after(run) for run in s.runs])) for s in members.values()]
    late = [float(np.quantile(s.final, LATE) / max(ROUNDING, s.final.mean())) for s in members.values()]
    return Standing(
        learner=name,
        ratio=regret_ratio(board, name, board.reference),
        rank=rank,
        firsts=firsts,
        settled=int(np.isfinite(settled).sum()),
        settled_after=float(np.median(settled)),
        late=float(np.median(late)),
        tail=median_interval(list(worst.values())),
        worst=worst[worst_task],
        worst_task=worst_task,
        linear={task: count for task, count in linear.items() if count},
        runs=sum(s.num_runs for s in members.values()),
        seconds=float(np.mean([s.seconds for s in members.values()])),
    )
