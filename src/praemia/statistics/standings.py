"""Standings of the league: whose regret is lowest, and whose runs go wrong.

With the mean final regret of every learner on every task:

* its *ratio* on a task is its regret over the reference's. The tasks of one kind (all RiverSwims, all random tasks, …)
  are much alike, so each kind counts once: the geometric mean over kinds of the geometric mean over a kind's tasks,
  with the interval of a t test over kinds. Two learners are compared in the same way, task by task;
* its *rank* on a task is its place among all learners (equal regrets share the mean of their places). Ranks are shown
  and nothing is decided by them: they change when others join;
* its *worst run* is the largest quotient, over tasks, of its worst run's regret and its mean.

A regret below one hundredth of an optimal episode's value counts as that much in a ratio: otherwise a single task that
somebody plays without any regret would decide everything.

A run is *linear* when it is still losing: over the last half of its episodes it loses at least half as much per
episode as over all of them, and its policies there are on average worse than the optimum by more than 1 %. A learner
that still explores at the end of a short run is linear by this rule too; longer runs tell the two apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from praemia.experiments.league import kind_of
from praemia.experiments.paper import UCBVI_PRM
from praemia.simulation import Run
from praemia.statistics.intervals import CONFIDENCE, ROUNDING, Interval, ratio_over_groups
from praemia.statistics.stored_runs import Series

REFERENCE = UCBVI_PRM.title
LATE_SHARE = 0.5  # of the average slope
SMALL_GAP = 0.01  # of the optimal value


@dataclass(frozen=True, eq=False)
class Board:
    """The runs of a league: the series of every learner on every task.

    Attributes
    ----------
    tasks, learners : names, in the order of the axes below; every learner has runs on every task.
    left_out : learners that lack a task.
    series : by task and learner; on a task all have the same number of runs.
    """

    tasks: tuple[str, ...]
    learners: tuple[str, ...]
    left_out: tuple[str, ...]
    series: Mapping[tuple[str, str], Series]

    @classmethod
    def of(cls, settings: Mapping[str, Sequence[Series]]) -> Board:
        """Arrange the series of a study; of a learner that played on alone it takes the first runs."""
        series: dict[tuple[str, str], Series] = {}
        for task, members in settings.items():
            # A worst run among many is worse than one among few.
            least = min(member.num_runs for member in members)
            series |= {(task, member.title): replace(member, runs=member.runs[:least]) for member in members}
        titles = list(dict.fromkeys(title for _, title in series))
        whole = [title for title in titles if all((task, title) in series for task in settings)]
        return cls(tuple(settings), tuple(whole), tuple(t for t in titles if t not in whole), series)

    @property
    def regrets(self) -> NDArray[np.float64]:
        """float64[T, L], the mean final regret."""
        return np.array([[self.series[task, name].final.mean() for name in self.learners] for task in self.tasks])

    @property
    def ratios(self) -> NDArray[np.float64]:
        """float64[T, L], the ratio of the mean regret to the reference's."""
        logs = self.log_regrets
        ratios: NDArray[np.float64] = np.exp(logs - logs[:, [self.reference]])
        return ratios

    @property
    def log_regrets(self) -> NDArray[np.float64]:
        """float64[T, L], the logarithm of the mean regret; what is too small to matter counts as ``SMALL_GAP``·V*."""
        optima = [self.series[task, self.learners[0]].first.optimal_value or 0.0 for task in self.tasks]
        least = np.maximum(SMALL_GAP * np.array(optima), ROUNDING)
        logs: NDArray[np.float64] = np.log(np.maximum(self.regrets, least[:, None]))
        return logs

    @property
    def reference(self) -> int:
        """The column that ratios are taken to: UCBVI-PRM's, or the first one's where it does not play."""
        return self.learners.index(REFERENCE) if REFERENCE in self.learners else 0

    @property
    def kinds(self) -> dict[str, list[int]]:
        """The kinds of task, with the rows of each."""
        kinds: dict[str, list[int]] = {}
        for row, task in enumerate(self.tasks):
            kinds.setdefault(kind_of(task), []).append(row)
        return kinds


@dataclass(frozen=True)
class Standing:
    """A learner's place in the league.

    Attributes
    ----------
    ratio : the geometric mean of the ratios to the reference, with its interval over kinds of task.
    rank : the mean rank over tasks.
    firsts : tasks on which nobody has a lower regret; worst : the largest worst ÷ mean, with its task.
    linear : how many runs are linear, by task, where any is; runs : how many there are in all.
    seconds : the mean time of a run, NaN where not known.
    """

    learner: str
    ratio: Interval
    rank: float
    firsts: int
    worst: float
    worst_task: str
    linear: dict[str, int]
    runs: int
    seconds: float


def standings(board: Board) -> list[Standing]:
    """Return the league, the lowest ratio first."""
    regrets = board.regrets
    ranks = rankdata(regrets, axis=1).mean(axis=0)
    best = regrets.min(axis=1)
    reference = board.learners[board.reference]
    table = [
        _standing(board, name, compare(board, name, reference), float(ranks[i]), int((regrets[:, i] == best).sum()))
        for i, name in enumerate(board.learners)
    ]
    return sorted(table, key=lambda line: (line.ratio.estimate, line.rank))


def compare(board: Board, above: str, below: str, confidence: float = CONFIDENCE) -> Interval:
    """Return the ratio of two learners' regrets over all kinds of task, with its interval."""
    if above == below:
        return Interval(1.0, 1.0, 1.0)
    logs = board.log_regrets
    ratios = logs[:, board.learners.index(above)] - logs[:, board.learners.index(below)]
    return ratio_over_groups([ratios[rows].tolist() for rows in board.kinds.values()], confidence)


def _standing(board: Board, name: str, ratio: Interval, rank: float, firsts: int) -> Standing:
    members = {task: board.series[task, name] for task in board.tasks}
    worst = {task: float(s.final.max() / max(ROUNDING, s.final.mean())) for task, s in members.items()}
    worst_task = max(worst, key=lambda task: worst[task])
    linear = {task: sum(map(is_linear, s.runs)) for task, s in members.items()}
    return Standing(
        learner=name,
        ratio=ratio,
        rank=rank,
        firsts=firsts,
        worst=worst[worst_task],
        worst_task=worst_task,
        linear={task: count for task, count in linear.items() if count},
        runs=sum(s.num_runs for s in members.values()),
        seconds=float(np.mean([s.seconds for s in members.values()])),
    )


def is_linear(run: Run) -> bool:
    """Tell whether a run is still losing at its end (the rule is at the top)."""
    regret, half = run.regret, run.num_episodes // 2
    if half == 0 or run.optimal_value is None:
        return False
    late, overall = (regret[-1] - regret[-half - 1]) / half, regret[-1] / len(regret)
    return bool(late >= LATE_SHARE * overall and late > SMALL_GAP * run.optimal_value)
