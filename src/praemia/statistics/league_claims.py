"""What the league says about Headroom, this package's own learner: claims and rules as for the paper's.

Tasks that its constants were chosen on do not count where it is asked how it does on others.
"""

from __future__ import annotations

from praemia.experiments.league import HEADROOM, NAME, UCRL2_B_BEST
from praemia.experiments.league_tasks import is_untouched
from praemia.experiments.paper import UCBVI, UCBVI_PRM, UCRL2_B, UCRL2_L
from praemia.statistics.claims import BEYOND, RATIO_ABOVE, SETTINGS
from praemia.statistics.comparisons import Runs, ratio
from praemia.statistics.intervals import median_interval, share_interval
from praemia.statistics.run_measures import is_linear
from praemia.statistics.standings import Board, compare, tails
from praemia.statistics.stored_runs import Study
from praemia.statistics.verdicts import MIN_RUNS, Claim, Line, Question, Scale, decide, together

BASELINES = (UCBVI_PRM.title, UCBVI.title, UCRL2_L.title, UCRL2_B.title)
RARE = 0.01  # a share of runs
TAIL = 2.0  # worst run ÷ mean
FEW_RUNS = 2  # of each task, where the tasks are the sample


def check_league(study: Study) -> list[Claim]:
    """Check the claims against the runs of a league; there are none where Headroom does not play with others."""
    board = Board.of(study.settings)
    if HEADROOM not in board.learners or len(board.learners) < 2:
        return []
    untouched = {task: members for task, members in study.settings.items() if is_untouched(task)}
    others = Board.of(untouched) if untouched else None
    on_others = [_first(others, study.name), _short_tails(others, study.name)] if others else []
    return [*_settings(Runs([study])), *on_others, _few_linear_runs(study)]


def _settings(runs: Runs) -> list[Claim]:
    return [
        runs.claim(
            "headroom-baselines",
            f"{HEADROOM} has a lower regret than {', '.join(BASELINES[:-1])} and {BASELINES[-1]} in all six settings.",
            RATIO_ABOVE,
            BEYOND,
            Question.ABOVE,
            [ratio(setting, other, HEADROOM, NAME) for setting in SETTINGS for other in BASELINES],
        ),
        runs.claim(
            "headroom-best-ucrl2",
            f"{HEADROOM} is no worse than {UCRL2_B_BEST.title}, the best setting of the best baseline, in all six.",
            "every interval of the ratio lies above 0.909: nowhere is the regret higher by 10 %",
            BEYOND,
            Question.NO_LESS,
            [ratio(setting, UCRL2_B_BEST.title, HEADROOM, NAME) for setting in SETTINGS],
        ),
    ]


def _first(board: Board, study: str) -> Claim:
    """Compare with every other learner, task by task; more runs do not make the tasks agree."""
    others = [name for name in board.learners if name != HEADROOM]
    confidence, scale = together(Question.ABOVE, len(others)), Scale.ratio()
    sample, by_task = _sample_size(board)
    lines = [
        Line.judged(
            f"regret of {other} ÷ that of {HEADROOM}",
            compare(board, other, HEADROOM, confidence),
            scale,
            (f"{HEADROOM} is ahead", "level", f"{other} is ahead"),
            Question.ABOVE,
            sample,
            tuple((study, task, title) for task in board.tasks for title in (other, HEADROOM)),
        )
        for other in others
    ]
    held, why = decide(lines)
    more_runs_help = sample < MIN_RUNS and not by_task
    if held is None and not more_runs_help:
        why = f"{_extent(board)} are too few, or do not agree"
    return Claim(
        "headroom-first",
        f"{HEADROOM} is first in the league on tasks that nobody tuned on.",
        f"against every other learner the ratio of regrets lies above 1, over {_extent(board)} "
        f"({', '.join(board.kinds)}), compared task by task; ranks play no part",
        BEYOND,
        held,
        confidence,
        tuple(lines),
        why,
        more_runs_help=more_runs_help,
    )


def _sample_size(board: Board) -> tuple[int, bool]:
    """Return how many draws an interval over tasks rests on, and whether these are tasks.

    They are the tasks beyond one of each kind; where a kind has one task alone, or a task few runs, they are the runs.
    """
    runs = min(board.series[task, HEADROOM].num_runs for task in board.tasks)
    if runs >= FEW_RUNS and all(len(rows) > 1 for rows in board.kinds.values()):
        return len(board.tasks) - len(board.kinds), True
    return runs, False


def _extent(board: Board) -> str:
    """Say how much is compared."""
    kinds = len(board.kinds)
    return f"{kinds} {'kind' if kinds == 1 else 'kinds'} of task" + (
        "" if kinds == len(board.tasks) else f" ({len(board.tasks)} tasks)"
    )


def _short_tails(board: Board, study: str) -> Claim:
    """Ask whether the worst run of a task is at most twice as bad as the mean, in the median over tasks."""
    runs = min(board.series[task, HEADROOM].num_runs for task in board.tasks)
    confidence = together(Question.NO_MORE, 1)
    line = Line.judged(
        f"worst run of {HEADROOM} ÷ its mean, median over {len(board.tasks)} tasks",
        median_interval(list(tails(board, HEADROOM).values()), confidence),
        Scale(TAIL, TAIL, TAIL),
        ("more than twice the mean", "twice the mean", "less than twice the mean"),
        Question.NO_MORE,
        runs,
        tuple((study, task, HEADROOM) for task in board.tasks),
    )
    held, why = decide([line])
    return Claim(
        "headroom-tails",
        f"The worst run of {HEADROOM} on a task has at most twice the mean regret, in the median over tasks.",
        f"the interval of the median lies below {TAIL:g}; the more runs, the worse the worst of them",
        BEYOND,
        held,
        confidence,
        (line,),
        why,
        more_runs_help=runs < MIN_RUNS,
    )


def _few_linear_runs(study: Study) -> Claim:
    members = {task: s for task, found in study.settings.items() for s in found if s.title == HEADROOM}
    linear = sum(is_linear(run) for series in members.values() for run in series.runs)
    total, runs = (pick(s.num_runs for s in members.values()) for pick in (sum, min))
    confidence = together(Question.NO_MORE, 1)
    interval = share_interval(linear, total, confidence)
    outcome = None if runs < MIN_RUNS else Question.NO_MORE.judge(interval, Scale(0.0, 0.0, RARE))
    line = Line(
        f"share of linear runs of {HEADROOM}, of {total} on {len(members)} tasks",
        interval,
        f"{linear} of {total} runs are linear",
        runs,
        outcome,
        tuple((study.name, task, HEADROOM) for task in members),
    )
    held, why = decide([line])
    return Claim(
        "headroom-linear",
        f"Of 100 runs of {HEADROOM} fewer than one ends with linear regret, on average over the league's tasks.",
        "the interval of the share of linear runs lies below 1 %; the league's rule says when a run is linear",
        BEYOND,
        held,
        confidence,
        (line,),
        why,
    )
