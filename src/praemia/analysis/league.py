"""Standings of the league: who has the lowest regret, by rank and by ratio, and whose runs go wrong.

With the mean final regret of every learner on every task:

* its *rank* on a task is its place among all learners (equal regrets share the mean of their places);
* its *ratio* is its regret over the reference's, and over tasks the geometric mean of that;
* its *worst run* is the largest quotient, over tasks, of its worst run's regret and its mean.

Intervals are 95 % bootstrap intervals: tasks are drawn with replacement, and on each of them runs, for every learner on
its own. They speak of tasks like these, and are wide where the tasks disagree.

A run is *linear* when it has not stopped to lose: over the last half of its episodes it loses at least half as much per
episode as over all of them, and its policies there are on average worse than the optimum by more than 1 %. A learner
that still explores at the end of a short run is linear by this rule too; longer runs tell the two apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from praemia.analysis.bootstrap import CONFIDENCE, Interval
from praemia.analysis.results import Series
from praemia.experiments.builtin import UCBVI_PRM
from praemia.simulation import Run

REFERENCE = UCBVI_PRM.title
RESAMPLES = 2000
LATE_SHARE = 0.5  # of the average slope
SMALL_GAP = 0.01  # of the optimal value
TINY = 1e-12  # stands for a regret of 0 in a ratio


@dataclass(frozen=True, eq=False)
class Board:
    """The runs of a league: the series of every learner on every task.

    Attributes
    ----------
    tasks, learners : names, in the order of the axes below; every learner has runs on every task.
    left_out : learners that lack a task.
    series : by task and learner.
    """

    tasks: tuple[str, ...]
    learners: tuple[str, ...]
    left_out: tuple[str, ...]
    series: Mapping[tuple[str, str], Series]

    @classmethod
    def of(cls, settings: Mapping[str, Sequence[Series]]) -> Board:
        """Arrange what ``collect`` found."""
        series = {(task, member.title): member for task, members in settings.items() for member in members}
        titles = list(dict.fromkeys(title for _, title in series))
        whole = [title for title in titles if all((task, title) in series for task in settings)]
        return cls(tuple(settings), tuple(whole), tuple(t for t in titles if t not in whole), series)

    @property
    def regrets(self) -> NDArray[np.float64]:
        """float64[T, L], the mean final regret."""
        return np.array([[self.series[task, name].final.mean() for name in self.learners] for task in self.tasks])

    @property
    def reference(self) -> int:
        """The column that ratios are taken to: UCBVI-PRM's, or the first one's where it does not play."""
        return self.learners.index(REFERENCE) if REFERENCE in self.learners else 0


@dataclass(frozen=True)
class Standing:
    """A learner's place in the league.

    Attributes
    ----------
    rank : the mean rank over tasks; ratio : the geometric mean of the ratios to the reference; both with intervals.
    firsts : tasks on which nobody has a lower regret; worst : the largest worst ÷ mean, with its task.
    linear : how many runs are linear, by task, where any is; runs : how many there are in all.
    seconds : the mean time of a run, NaN where not known.
    """

    learner: str
    rank: Interval
    ratio: Interval
    firsts: int
    worst: float
    worst_task: str
    linear: dict[str, int]
    runs: int
    seconds: float


def standings(board: Board) -> list[Standing]:
    """Return the league, the best mean rank first."""
    regrets, resampled = board.regrets, _resampled(board)
    ranks, rank_draws = _mean_ranks(regrets[None])[0], _mean_ranks(resampled)
    ratios, ratio_draws = _ratios(regrets[None], board.reference)[0], _ratios(resampled, board.reference)
    best = regrets.min(axis=1, keepdims=True)
    table = [
        _standing(
            board,
            name,
            _interval(ranks[i], rank_draws[:, i]),
            _interval(ratios[i], ratio_draws[:, i]),
            int((regrets[:, i] == best[:, 0]).sum()),
        )
        for i, name in enumerate(board.learners)
    ]
    return sorted(table, key=lambda line: line.rank.estimate)


def rank_differences(board: Board, name: str) -> dict[str, Interval]:
    """Return by how much the mean rank of every other learner exceeds that of one, with intervals."""
    own = board.learners.index(name)
    ranks, draws = _mean_ranks(board.regrets[None])[0], _mean_ranks(_resampled(board))
    return {
        other: _interval(ranks[i] - ranks[own], draws[:, i] - draws[:, own])
        for i, other in enumerate(board.learners)
        if i != own
    }


def _standing(board: Board, name: str, rank: Interval, ratio: Interval, firsts: int) -> Standing:
    members = {task: board.series[task, name] for task in board.tasks}
    worst = {task: float(s.final.max() / max(TINY, s.final.mean())) for task, s in members.items()}
    worst_task = max(worst, key=lambda task: worst[task])
    linear = {task: sum(map(is_linear, s.runs)) for task, s in members.items()}
    return Standing(
        learner=name,
        rank=rank,
        ratio=ratio,
        firsts=firsts,
        worst=worst[worst_task],
        worst_task=worst_task,
        linear={task: count for task, count in linear.items() if count},
        runs=sum(s.num_runs for s in members.values()),
        seconds=float(np.mean([s.seconds for s in members.values()])),
    )


def is_linear(run: Run) -> bool:
    """Tell whether a run has not stopped to lose (the rule is at the top)."""
    regret, half = run.regret, run.num_episodes // 2
    if half == 0 or run.optimal_value is None:
        return False
    late, overall = (regret[-1] - regret[-half - 1]) / half, regret[-1] / len(regret)
    return bool(late >= LATE_SHARE * overall and late > SMALL_GAP * run.optimal_value)


def _interval(estimate: float, draws: NDArray[np.float64]) -> Interval:
    low, high = np.quantile(draws, [(1.0 - CONFIDENCE) / 2.0, (1.0 + CONFIDENCE) / 2.0])
    return Interval(float(estimate), float(low), float(high))


def _resampled(board: Board) -> NDArray[np.float64]:
    """Return mean regrets float64[B, T, L] of resampled tasks and runs."""
    rng = np.random.default_rng(0)
    num_tasks = len(board.tasks)
    means = np.empty((RESAMPLES, num_tasks, len(board.learners)))
    for t, task in enumerate(board.tasks):
        for i, name in enumerate(board.learners):
            final = board.series[task, name].final
            means[:, t, i] = final[rng.integers(0, len(final), size=(RESAMPLES, len(final)))].mean(axis=1)
    picks = rng.integers(0, num_tasks, size=(RESAMPLES, num_tasks))
    return means[np.arange(RESAMPLES)[:, None], picks]


def _mean_ranks(regrets: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return float64[B, L], the mean over tasks of the rank among learners, from regrets[B, T, L]."""
    ranks: NDArray[np.float64] = rankdata(regrets, axis=2).mean(axis=1)
    return ranks


def _ratios(regrets: NDArray[np.float64], reference: int) -> NDArray[np.float64]:
    """Return float64[B, L], the geometric mean over tasks of the ratio to the reference."""
    logs = np.log(np.maximum(TINY, regrets))
    ratios: NDArray[np.float64] = np.exp((logs - logs[:, :, reference, None]).mean(axis=1))
    return ratios
